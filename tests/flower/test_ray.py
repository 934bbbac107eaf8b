"""The same federation in Flower's own simulation engine: other processes, the same weights."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import wisefl
from support import nodes
from support.parts import need

HERE = Path(__file__).parent
OFFLINE = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_twenty_nodes_under_ray_give_the_same_run(federation: Any, tmp_path: Path) -> None:
    need("ray")
    rounds = 2
    paths = [str(HERE), str(HERE.parent), str(Path(wisefl.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ,
        **OFFLINE,
        "FLWR_HOME": str(tmp_path / "flwr"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    done = subprocess.run(
        [sys.executable, str(HERE / "ray_federation.py"), str(tmp_path / "ray"), str(rounds)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]

    grid = nodes.grid_of(federation)
    nodes.started(federation, grid, rounds, run_folder=tmp_path / "local")
    summaries = [json.loads((tmp_path / name / "summary.json").read_text()) for name in ("ray", "local")]
    assert summaries[0] == summaries[1]
