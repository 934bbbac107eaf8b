"""A run from its first round, or from its last checkpoint, to its end."""

import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from wisefl.errors import InvalidInput
from wisefl.files import locked
from wisefl.run.config import RunConfig
from wisefl.run.folder import CONFIG, RunFolder
from wisefl.simulation.callbacks import Callback
from wisefl.simulation.federation import Federation, build
from wisefl.simulation.rounds import State, play


def run_folder(
    path: Path,
    config: RunConfig | None = None,
    *,
    workers: int | None = None,
    callbacks: Sequence[Callback] = (),
) -> dict[str, Any]:
    """Do the run of a folder: a new one from `config`, or what is left of the one it holds. Returns its summary."""
    if config is None or (path / CONFIG).exists():
        folder = RunFolder.open(path)
        if config is not None and config != folder.config:
            raise InvalidInput(f"{path} holds a run with another configuration: choose another folder")
        if folder.finished:
            return folder.summary()
        federation = build(folder.config, workers=workers)
    else:
        # A run that cannot start leaves no folder behind.
        federation = build(config, workers=workers)
        federation.problem(1)
        folder = RunFolder.create(path, config)
    with locked(folder.path):
        return _run(folder, federation, callbacks)


def _run(folder: RunFolder, federation: Federation, callbacks: Sequence[Callback]) -> dict[str, Any]:
    start = time.perf_counter()
    stored = folder.load()
    state = State.initial(federation) if stored is None else State.from_arrays(stored)
    for callback in callbacks:
        callback.on_start(folder.config, state.round)
    while state.round < folder.config.rounds:
        state, record = play(federation, state)
        folder.append(record)
        folder.save(state.arrays())
        for callback in callbacks:
            callback.on_round(record)
    summary = _summary(folder, state, time.perf_counter() - start)
    folder.finish(summary)
    for callback in callbacks:
        callback.on_end(summary)
    return summary


def _summary(folder: RunFolder, state: State, wall_s: float) -> dict[str, Any]:
    best, last = 0.0, {}
    for record in folder.records():
        best, last = max(best, record["test_accuracy"] or 0.0), record
    return {
        "rounds": state.round,
        "policy": folder.config.policy.name,
        "final_accuracy": last["test_accuracy"],
        "final_loss": last["test_loss"],
        "held_out_accuracy": last["held_out_accuracy"],
        "best_accuracy": best,
        "cumulative_latency_s": state.latency_s,
        "cumulative_energy_j": state.energy_j,
        "weights_sha256": sha256(state.models.tobytes()).hexdigest(),
        "wall_s": wall_s,
    }
