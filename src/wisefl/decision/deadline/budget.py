"""How long a search may go on: in seconds, which a person has, or in effort, which is the same on every machine."""

import time

import numpy as np

FIRST_PACE = 2e6
"""Nodes per second that the compiled walk is trusted to do before it has been timed."""

SECONDS_PER_CLIENT = 4e-7
"""What bounding one client's cost over an interval takes at the most."""


class OutOfBudget(Exception):
    """The search must stop here; what it proved so far stands."""


class Budget:
    """Seconds and effort left. One unit of effort is a node of a search or a client's cost for one deadline."""

    def __init__(self, seconds: float = np.inf, effort: float = np.inf) -> None:
        self.stop_at = time.perf_counter() + seconds
        self.effort = effort
        self.spent = 0.0
        self.pace = FIRST_PACE

    def check(self) -> None:
        if self.spent >= self.effort or (self.stop_at < np.inf and time.perf_counter() >= self.stop_at):
            raise OutOfBudget

    def spend(self, effort: float, since: float | None = None) -> None:
        """Count what was done; a search that began at `since` and was long enough to tell also sets the pace."""
        self.spent += effort
        if since is not None and self.stop_at < np.inf:
            seconds = time.perf_counter() - since
            if seconds > 1e-3:
                self.pace = 0.7 * effort / seconds
        self.check()

    def pass_over(self, clients: int) -> None:
        """Count a pass over so many clients, which cannot be interrupted; refuse it where there is no time for it."""
        if self.stop_at < np.inf and time.perf_counter() + SECONDS_PER_CLIENT * clients >= self.stop_at:
            raise OutOfBudget
        self.spend(2.0 * clients)

    def nodes(self, wanted: int) -> int:
        """So many nodes, or what there is time and effort left for: a single search can outlast a limit by far."""
        most = min(float(wanted), self.effort - self.spent)
        if self.stop_at < np.inf:
            most = min(most, self.pace * (self.stop_at - time.perf_counter()))
        return max(int(most), 1000)
