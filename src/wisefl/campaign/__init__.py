"""All rounds of a training together: long-term limits, the prices that bring them into a round, a bound over all."""

from wisefl.campaign.bound import Bound, raise_bound
from wisefl.campaign.limits import LongTerm
from wisefl.campaign.play import Campaign, play, rehearse
from wisefl.campaign.prices import Prices, lasting
from wisefl.campaign.queues import Queues
from wisefl.campaign.rounds import Rounds
from wisefl.campaign.worth import Worth

__all__ = [
    "Bound",
    "Campaign",
    "LongTerm",
    "Prices",
    "Queues",
    "Rounds",
    "Worth",
    "lasting",
    "play",
    "raise_bound",
    "rehearse",
]
