"""Rounds that are decided and charged but not trained: a run folder without a model.

Cost figures need no learning. The clients are those of `Fleet.random`, spread as in the paper, and every method meets
the same fleet and the same channels under a seed.
"""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wisefl.decision import Decision, Limits, RoundProblem, solve
from wisefl.files import locked, written_whole
from wisefl.fleet import Fleet
from wisefl.policies.base import RoundView
from wisefl.policies.training import training_policy
from wisefl.run.config import RunConfig
from wisefl.run.folder import CONFIG, ROUNDS, RunFolder


def decide_folder(path: Path, config: RunConfig, *, workers: int | None = None) -> dict[str, Any]:
    """Decide the rounds of a folder; what was left unfinished takes seconds and starts again."""
    folder = RunFolder.open(path) if (path / CONFIG).exists() else RunFolder.create(path, config)
    with locked(folder.path):
        if folder.finished:
            return folder.summary()
        start = time.perf_counter()
        records = decide_rounds(config)
        with written_whole(path / ROUNDS) as file:
            file.writelines(json.dumps(record, allow_nan=False) + "\n" for record in records)
        summary = {
            "rounds": len(records),
            "policy": config.policy.name,
            "cumulative_latency_s": records[-1]["cumulative_latency_s"],
            "cumulative_energy_j": records[-1]["cumulative_energy_j"],
            "wall_s": time.perf_counter() - start,
        }
        folder.finish(summary)
    return summary


def decide_rounds(config: RunConfig) -> list[dict[str, Any]]:
    """One record per round, a function of the configuration but for `decision_wall_s`."""
    fleet = Fleet.random(config.data.clients, config.seed, frequency_unit_hz=config.fleet.frequency_unit_hz)
    limits = config.round_limits(Limits().bits_per_sample, Limits().model_bits)
    policy = training_policy(config.policy.name, allocation=config.policy.allocation, options=config.policy.options)
    latency_s = energy_j = 0.0
    records = []
    for number in range(1, config.rounds + 1):
        gain = config.fleet.gain(len(fleet), config.seed, number)
        problem = RoundProblem.build(fleet, gain, limits)
        start = time.perf_counter()
        decision = policy.choose(problem, RoundView(config.seed, number, _no_model)).decision
        wall_s = time.perf_counter() - start
        latency_s, energy_j = latency_s + decision.latency_s, energy_j + decision.energy_j
        records.append(
            {
                "round": number,
                "policy": config.policy.name,
                "clients": int(np.count_nonzero(decision.selected)),
                "samples": decision.samples,
                "latency_s": decision.latency_s,
                "energy_j": decision.energy_j,
                "cumulative_latency_s": latency_s,
                "cumulative_energy_j": energy_j,
                "decision_wall_s": wall_s,
                **_quality(decision),
            }
        )
    return records


def _quality(decision: Decision) -> dict[str, Any]:
    """How good a decision is, whoever made it: beside what no decision can undercut, and by the limits it breaks."""
    bound = solve(decision.problem, "certified").lower_bound
    assert bound is not None
    wanted = decision.problem.limits.min_samples
    return {
        "objective": decision.objective,
        "certified_bound": bound,
        "excess_percent": 100.0 * (decision.objective / bound - 1.0),
        "band": float(decision.share.sum()),
        "missing_percent": 100.0 * max(0.0, 1.0 - decision.samples / wanted),
        "broken_percent": 100.0 if decision.violations() else 0.0,
        "violations": decision.violations(),
    }


def _no_model(clients: NDArray[np.intp]) -> NDArray[np.float64]:
    raise NotImplementedError("a policy that asks for losses needs a model to ask: figures of training have one")
