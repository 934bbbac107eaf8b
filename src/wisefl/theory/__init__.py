"""Theorem 1 of the paper: its terms (`bound`), the constants it takes for granted (`constants`), and what it bounds.

`replay` follows a run again to see the models on its way; `assessment` sets the bound of such a course beside the gap
that was measured; `lemmas` has the steps of the proof where everything is known; `experiment` makes clients as far
from the population as one wants. Only the bound itself works without PyTorch, so nothing else is imported here.
"""

from wisefl.theory.bound import Bound, Constants, RepairedBound, printed_bound, repaired_bound
from wisefl.theory.effort import Effort

__all__ = ["Bound", "Constants", "Effort", "RepairedBound", "printed_bound", "repaired_bound"]
