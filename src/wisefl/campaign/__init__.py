"""All rounds of a training together: long-term limits, the prices that bring them into a round, a bound over all."""

from wisefl.campaign.bound import Bound, raise_bound
from wisefl.campaign.floors import Floors
from wisefl.campaign.limits import LongTerm, batteries
from wisefl.campaign.play import Campaign, play, rehearse, rehearse_eagerness, usual_cost
from wisefl.campaign.prices import EMPTY_J, Prices, lasting
from wisefl.campaign.queues import Queues
from wisefl.campaign.rounds import Rounds
from wisefl.campaign.worth import Worth

__all__ = [
    "EMPTY_J",
    "Bound",
    "Campaign",
    "Floors",
    "LongTerm",
    "Prices",
    "Queues",
    "Rounds",
    "Worth",
    "batteries",
    "lasting",
    "play",
    "raise_bound",
    "rehearse",
    "rehearse_eagerness",
    "usual_cost",
]
