"""Random rounds for Hypothesis, composed of how many clients there are, in what they are alike, the band, the weights
and how much must be covered.

These choices are Hypothesis's own and shrink: a counterexample has few clients that are as much alike as can be. The
figures of the single devices come from one drawn seed, since a search that varies them one by one spends its
examples on near copies.
"""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from support.fleets import fleet_of
from wisefl import Fleet, Limits, RoundProblem

RANGES = {
    "distance_m": (100.0, 400.0),
    "transmit_power_dbm": (20.0, 33.0),
    "max_frequency_hz": (2.0, 5.0),
    "cycles_per_bit": (1.0, 10.0),
    "channel_gain": (0.01, 3.0),
}
"""A little wider than the paper's table; the frequency in GHz or MHz."""
MOST_SAMPLES = 900
ALIKE = ("everything", "devices", "data", "nothing", "nothing", "nothing")
"""What the clients of a fleet have in common; half of the fleets nothing."""


def powers_of_ten(low: float, high: float) -> SearchStrategy[float]:
    return st.floats(low, high).map(lambda exponent: float(10.0**exponent))


@st.composite
def fleets(
    draw: DrawFn, min_clients: int = 1, max_clients: int = 12, alike: str | None = None, classes: int = 1
) -> Fleet:
    """GHz or MHz clocks, and clients alike in `alike`, drawn unless given; their labels are lopsided all the same."""
    clients = draw(st.integers(min_clients, max_clients))
    unit_hz = draw(st.sampled_from([1e9, 1e6]))
    alike = alike or draw(st.sampled_from(ALIKE))
    number = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    devices = 1 if alike in ("everything", "devices") else clients
    sizes = 1 if alike in ("everything", "data") else clients
    columns = {name: number.uniform(*ends, devices) for name, ends in RANGES.items()}
    columns["max_frequency_hz"] *= unit_hz
    samples = np.broadcast_to(number.integers(1, MOST_SAMPLES + 1, sizes), clients)
    counts = [number.multinomial(held, number.dirichlet(np.ones(classes))) for held in samples]
    return fleet_of(counts, **columns)


@st.composite
def coverages(draw: DrawFn, fleet: Fleet) -> int:
    """How many samples to ask of a fleet: any number it holds, exactly what some of its clients hold, or all."""
    held = fleet.samples
    kind = draw(st.sampled_from(["some clients", "any", "any", "all"]))
    if kind == "all":
        return int(held.sum())
    if kind == "any":
        return max(1, round(draw(st.floats(0.0, 1.0)) * int(held.sum())))
    return int(held[draw(some_clients(len(fleet)))].sum())


@st.composite
def some_clients(draw: DrawFn, clients: int) -> np.ndarray:
    """A set of at least one client, as a mask."""
    bits = draw(st.integers(1, 2**clients - 1))
    return np.array([bits >> client & 1 == 1 for client in range(clients)])


def energy_weights() -> SearchStrategy[float]:
    """From 0.01 to 100; energy is free in one round of ten."""
    return st.integers(0, 9).flatmap(lambda number: st.just(0.0) if number == 9 else powers_of_ten(-2.0, 2.0))


@st.composite
def problems(draw: DrawFn, mixture: bool = False, **kind: Any) -> RoundProblem:
    """Rounds in which everybody is eligible: 0.1 to 100 MHz of band, weights from 0.01 to 100.

    `kind` is that of the fleet; with `mixture` the data of the selected clients as a whole is limited.
    """
    fleet = draw(fleets(classes=draw(st.integers(2, 5)), **kind) if mixture else fleets(**kind))
    limits = Limits(
        divergence="mixture" if mixture else "client",
        max_divergence=draw(st.sampled_from([0.0, 0.001, 0.01, 0.05, 0.2, 0.5, 2.0])) if mixture else np.inf,
        smoothing=draw(st.sampled_from([0.0, 0.5])) if mixture else 0.0,
        min_samples=draw(coverages(fleet)),
        bandwidth_hz=draw(powers_of_ten(5.0, 8.0)),
        latency_weight=draw(powers_of_ten(-2.0, 2.0)),
        energy_weight=draw(energy_weights()),
    )
    return RoundProblem.build(fleet, None, limits)


@st.composite
def problems_with_a_set(draw: DrawFn, **kind: Any) -> tuple[RoundProblem, np.ndarray]:
    """A round and some of its clients, whether they cover or not."""
    problem = draw(problems(**kind))
    return problem, draw(some_clients(len(problem)))
