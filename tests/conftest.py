"""Random problems of every kind, and how a missing real part is treated."""

import os
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from support import runs
from wisefl import Fleet, Limits, RoundProblem

ProblemMaker = Callable[..., RoundProblem]


@pytest.fixture(scope="session")
def need_module() -> Callable[[str], None]:
    """Skip where an optional real part is missing, but fail on a CI machine: there nothing may be missing."""

    def need(name: str) -> None:
        if find_spec(name) is None:
            message = f"{name} is not installed"
            if os.environ.get("CI") == "true":
                pytest.fail(message)
            pytest.skip(message)

    return need


def random_problem(seed: int, max_clients: int, min_clients: int = 1) -> RoundProblem:
    """Tight and loose coverage, one client, equal clients, GHz and MHz, 0.1 to 100 MHz, weights 0.01 to 100."""
    draw = np.random.default_rng(seed)
    alone = seed % 13 == 0 and min_clients == 1
    clients = 1 if alone else int(draw.integers(max(2, min_clients), max_clients + 1))
    fleet = Fleet.random(
        clients,
        seed,
        samples=clients * int(draw.integers(40, 900)) + 10,
        frequency_unit_hz=(1e9, 1e6)[seed % 2],
        mean_gain=float(draw.choice([0.1, 1.0])),
    )
    if seed % 7 == 0:
        fleet = _equal_clients(fleet)
    elif seed % 5 == 0:
        fleet = replace(fleet, label_counts=np.repeat(fleet.label_counts[:1], clients, axis=0))
    coverage = draw.choice([0.02, 0.15, 0.4, 0.6, 0.9, 1.0])
    limits = Limits(
        max_divergence=np.inf,
        min_samples=max(1, int(coverage * fleet.samples.sum())),
        bandwidth_hz=10.0 ** draw.uniform(5.0, 8.0),
        latency_weight=10.0 ** draw.uniform(-2.0, 2.0),
        energy_weight=10.0 ** draw.uniform(-2.0, 2.0),
    )
    return RoundProblem.build(fleet, None, limits)


def _equal_clients(fleet: Fleet) -> Fleet:
    same = ("distance_m", "transmit_power_dbm", "max_frequency_hz", "cycles_per_bit", "channel_gain")
    return replace(
        fleet,
        label_counts=np.repeat(fleet.label_counts[:1], len(fleet), axis=0),
        **{name: np.full(len(fleet), getattr(fleet, name)[0]) for name in same},
    )


@pytest.fixture(scope="session")
def make_problem() -> ProblemMaker:
    return random_problem


@pytest.fixture(scope="session")
def paper_problem() -> RoundProblem:
    """The paper's 80 clients with everybody eligible and 12,000 samples to cover."""
    return RoundProblem.build(Fleet.random(80, 0), None, Limits(max_divergence=np.inf, min_samples=12_000))


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Path]:
    return runs.make_run
