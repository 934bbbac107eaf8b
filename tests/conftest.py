"""How Hypothesis draws, and what tests ask for by name."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from support import problems, runs
from support.parts import need
from wisefl import Fleet, Limits, RoundProblem

ProblemMaker = Callable[..., RoundProblem]

# The same examples on every machine and in every run, and no judgement by the clock: the first example of a process
# compiles. To look for new counterexamples: pytest --hypothesis-profile exploring.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("exploring", settings.get_profile("repeatable"), derandomize=False)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def need_module() -> Callable[[str], None]:
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
    return problems.paper_problem()


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Path]:
    return runs.make_run
