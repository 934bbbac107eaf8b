"""What the search over deadlines asks about sets: which ones are allowed, and what they cost at least."""

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, Self

import numpy as np

from wisefl.arrays import Floats, Ints, Mask
from wisefl.decision.client_cost import ClientTerms


@dataclass(frozen=True, eq=False)
class Incumbent:
    """The best set so far, allocated exactly."""

    objective: float = np.inf
    """Less what its members are worth."""
    members: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    """Positions among all candidates, ascending."""
    deadline: float = np.nan
    band_price: float = np.nan
    energy_price: float = 0.0
    """What a joule of the budget is worth to it."""
    worth: float = 0.0


class Found(NamedTuple):
    """Sets that a search came upon, and what it proved of all others."""

    sets: list[Ints]
    """Positions among the rule's clients, ascending."""
    bound: float
    """No allowed set costs less than this, except those in `sets`."""
    complete: bool
    """Whether the search came to its end."""
    nodes: int
    """What it took."""


class SetRule(Protocol):
    """Which sets are allowed; `cost` is what every client costs at the moment, infinite for who cannot take part."""

    price_steps: int
    """Band prices tried with whole sets before an interval is split."""
    nodes: int
    """What one search may take at first; four times more with every further effort."""
    max_effort: int
    width: float
    """An interval is wide, and better split than searched, where its width costs more than this part of the bound's
    lack."""

    clients: Ints
    """Positions among all candidates of those whom this rule goes over."""
    terms: ClientTerms
    """What the clients cost; the search puts a price on their joules where these are limited."""
    samples: Floats
    """What each client adds to the coverage, at most the need."""
    need: float

    @property
    def listing(self) -> int:
        """Nodes that listing all sets below the target may take in a wide interval; 0 where it is not done at once,
        but only for what no price of the band closes."""
        ...

    def narrowed(self, keep: Mask) -> Self:
        """The same rule over some of its clients only."""
        ...

    def parts(self) -> list[Self]:
        """Rules that each allow some of the sets, together all, and bound them better; none if there is no such."""
        ...

    def divided(self, client: int) -> list[Self]:
        """The sets with this client, and those without it; nothing where a rule is never asked."""
        ...

    def may_matter(self, cost: Floats, cutoff: float, keep: Mask) -> None:
        """Mark in `keep` everybody who can be in an allowed set that costs less than the cutoff."""
        ...

    def relaxed_value(self, cost: Floats) -> float:
        """The least cost of an allowed set with fractions of clients allowed, or a lower bound on it."""
        ...

    def relaxed_band_price(
        self, deadline: float, guess: float, enough: float, tau: Floats, cost: Floats
    ) -> tuple[float, float]:
        """(price of the band, relaxed value less it) where that is about largest, or at least `enough`.

        Upload times in `tau` are the starting guess; they and the costs are left as they were last.
        """
        ...

    def cheapest(self, cost: Floats, cutoff: float, slack: float, max_nodes: int, thorough: bool) -> Found:
        """The cheapest allowed set below the cutoff, or one that costs at most `slack` more, or none.

        `thorough` if the answer is worth more than so many nodes.
        """
        ...

    def all_below(self, cost: Floats, cutoff: float, max_nodes: int, max_sets: int) -> Found:
        """Every allowed set below the cutoff that needs each of its members. Where nobody is worth anything, one that
        holds another allowed set may be left out: it is dearer."""
        ...

    def openings(self, deadline: float, band_price: float) -> list[Ints]:
        """Sets to begin with near this deadline and band price, if the rule is one for which any are hard to find."""
        ...

    def first(self, cost: Floats, best: Incumbent, max_nodes: int) -> Found:
        """A cheap set while no cutoff is known."""
        ...

    def least(self, cost: Floats, max_nodes: int) -> Found:
        """The cheapest allowed set of all, none if there is none; a proof if the search came to its end."""
        ...

    def neighbours(self, cost: Floats, members: Ints, most: int) -> list[Ints]:
        """Allowed sets that differ from this one by an exchange of few members, the most promising first."""
        ...

    def sharpen(self, deadline: float, band_price: float, best: Incumbent) -> None:
        """A search found no end near this deadline: do what may make the next one there shorter."""
        ...
