"""Twenty nodes in Flower's simulation engine; run as a program: python ray_federation.py RUN_FOLDER ROUNDS."""

import sys
from functools import cache
from typing import Any

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp
from flwr.simulation import run_simulation

from support import nodes

PATIENCE_S = 600.0
"""Every node builds its federation when it is first asked: seconds on an idle machine, minutes on a busy one."""


@cache
def built() -> Any:
    return nodes.small_federation("csra")


class Federation:
    """Built where it is used: compiled engines do not travel between processes."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(sys.modules["ray_federation"].built(), name)


def main() -> None:
    folder, rounds = sys.argv[1], int(sys.argv[2])
    server = ServerApp()

    @server.main()
    def serve(grid: Grid, context: Context) -> None:
        patience = {"min_available_nodes": 20, "query_timeout_s": PATIENCE_S, "grace_s": PATIENCE_S}
        nodes.started(built(), grid, rounds, run_folder=folder, **patience)

    run_simulation(
        server,
        nodes.simulated_app(Federation()),
        num_supernodes=20,
        backend_config={"init_args": {"num_cpus": 2}, "client_resources": {"num_cpus": 1.0}},
    )


if __name__ == "__main__":
    import ray_federation

    ray_federation.main()
