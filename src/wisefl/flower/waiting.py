"""Waiting for nodes that are not there yet, or not any more: bounded, and never counted as a round."""

import time
from logging import WARNING

from flwr.serverapp import Grid
from flwr.supercore import log

from wisefl.errors import Outage
from wisefl.flower.settings import Patience


class Deadline:
    """How long something may go on failing."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._end = time.monotonic() + patience.wait_s

    def wait(self, why: str) -> None:
        """Until the next try; Outage when there is to be none."""
        left = self._end - time.monotonic()
        if left <= 0.0:
            raise Outage(f"{why}; waited {self._patience.wait_s:g} s (wait_s). Rounds done so far are kept")
        log(WARNING, "%s; waiting, %.0f s at the longest", why, left)
        time.sleep(min(self._patience.retry_s, left))


def wait_for_nodes(grid: Grid, patience: Patience) -> None:
    """Until enough nodes are connected for a run to begin."""
    deadline = Deadline(patience)
    while (there := len(list(grid.get_node_ids()))) < patience.min_available_nodes:
        deadline.wait(
            f"{there} nodes are connected, fewer than min_available_nodes = {patience.min_available_nodes}: start "
            "more nodes or lower it"
        )
