"""WiseFL: who trains, with what share of the band and how fast, decided to a certified optimum."""

from wisefl.decision import Decision, Limits, RoundProblem, solve
from wisefl.errors import InfeasibleProblem, InvalidInput, MissingExtra, WiseFLError
from wisefl.fleet import Fleet

__all__ = [
    "Decision",
    "Fleet",
    "InfeasibleProblem",
    "InvalidInput",
    "Limits",
    "MissingExtra",
    "RoundProblem",
    "WiseFLError",
    "solve",
]
__version__ = "0.1.0"
