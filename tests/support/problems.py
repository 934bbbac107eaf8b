"""Tiny problems whose optimum can be worked out by hand, each with its optimum and the way to it.

Radio and CPU are chosen backwards: `round_of` takes what a client costs (seconds to upload over the whole band,
cycles to train) and finds the fleet that costs it, so that a docstring can calculate with 1 s, 1 W and 1e9 cycles.
In all of them the cost of a set S is `a1 T + a2 sum_S (P c / b + eps w f^2)` with `c / b + w / f <= T`, and P is 1 W,
w is 1e9 cycles and both weights are 1 unless something else is said.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from support.fleets import fleet_of
from wisefl import Decision, Fleet, Limits, RoundProblem
from wisefl.radio.uplink import path_gain, watts

BAND_HZ = 1e6
MODEL_BITS = 1e6
"""At one bit per second and hertz the whole band carries a model in 1 s."""


@dataclass(frozen=True, eq=False)
class Known:
    """A problem and its optimum, entries of clients in the order of the fleet."""

    problem: RoundProblem
    share: tuple[float, ...]
    frequency_hz: tuple[float, ...]
    latency_s: float
    energy_j: float
    objective: float
    unique: bool = True
    """False where clients could change places."""

    @property
    def selected(self) -> np.ndarray:
        return np.array(self.share) > 0.0


def assert_optimal(decision: Decision, known: Known) -> None:
    """The decision is the optimum worked out by hand, client by client where that is the only one."""
    assert decision.violations() == {}
    assert decision.objective == pytest.approx(known.objective, rel=1e-9)
    assert decision.latency_s == pytest.approx(known.latency_s, rel=1e-6)
    assert decision.energy_j == pytest.approx(known.energy_j, rel=1e-6)
    assert decision.selected.sum() == known.selected.sum()
    if known.unique:
        assert decision.share == pytest.approx(known.share, abs=1e-6)
        assert decision.frequency_hz == pytest.approx(known.frequency_hz, rel=1e-5)


NAMED: dict[str, Callable[[], Known]] = {}


def named(make: Callable[[], Known]) -> Callable[[], Known]:
    NAMED[make.__name__] = make
    return make


def round_of(
    upload_s: ArrayLike,
    samples: ArrayLike,
    *,
    power_w: ArrayLike = 1.0,
    work_cycles: float = 1e9,
    max_frequency_hz: ArrayLike = 4e9,
    **limits: Any,
) -> RoundProblem:
    """The round in which uploading over the whole band takes `upload_s` and training takes `work_cycles`."""
    upload, held = np.asarray(upload_s, dtype=float), np.asarray(samples)
    power_dbm = 10.0 * np.log10(np.broadcast_to(power_w, upload.shape)) + 30.0
    chosen = Limits(
        bandwidth_hz=BAND_HZ,
        model_bits=MODEL_BITS,
        **{"epochs": 1, "bits_per_sample": 1.0, "min_samples": int(held.sum()), **limits},
    )
    signal_to_noise = 2.0 ** (MODEL_BITS / BAND_HZ / upload) - 1.0
    noise_w = BAND_HZ * watts(chosen.noise_dbm_hz)
    loss = path_gain(np.ones_like(upload), chosen.carrier_hz, chosen.path_loss_exponent)
    fleet = fleet_of(
        held,
        distance_m=1.0,
        transmit_power_dbm=power_dbm,
        max_frequency_hz=max_frequency_hz,
        cycles_per_bit=work_cycles / held,
        channel_gain=signal_to_noise * noise_w / (loss * watts(power_dbm)),
    )
    return RoundProblem.build(fleet, None, chosen)


@named
def one_client() -> Known:
    """The whole band is its own: 1 s and 1 J of upload. w / f + eps w f^2 is least at f^3 = 1 / (2 eps).

    With eps = 0.5e-27 that is 1 GHz: 1 s and 0.5 J of training. T = 2 s, E = 1.5 J.
    """
    return Known(round_of([1.0], [100], capacitance=0.5e-27), (1.0,), (1e9,), 2.0, 1.5, 3.5)


@named
def one_client_in_a_hurry() -> Known:
    """A second costs eight times a joule: f^3 = 8 / (2 eps), twice the frequency, half the time, 2 J of training."""
    problem = round_of([1.0], [100], capacitance=0.5e-27, latency_weight=8.0)
    return Known(problem, (1.0,), (2e9,), 1.5, 3.0, 15.0)


@named
def one_client_at_full_speed() -> Known:
    """It would run at 1 GHz but has 0.5 GHz: 2 s and 0.125 J of training."""
    problem = round_of([1.0], [100], capacitance=0.5e-27, max_frequency_hz=0.5e9)
    return Known(problem, (1.0,), (0.5e9,), 3.0, 1.125, 4.125)


@named
def two_equal_clients() -> Known:
    """Convex and symmetric: half the band each, 2 s and 2 J of upload. T + 2 eps w f^2 is least at f^3 = 1 / (4 eps).

    With eps = 0.25e-27 that is 1 GHz: 1 s and 0.25 J of training each. T = 3 s, E = 4.5 J.
    """
    problem = round_of([1.0, 1.0], [100, 100], capacitance=0.25e-27)
    return Known(problem, (0.5, 0.5), (1e9, 1e9), 3.0, 4.5, 7.5)


@named
def three_of_five_equal_clients() -> Known:
    """Three of them cover; a fourth would add an upload and lengthen the others'. One of ten equal optima.

    A third of the band each: 3 s and 3 J of upload. f^3 = 1 / (6 eps), 1 GHz with eps = 1e-27 / 6: 1 s and 1/6 J.
    """
    problem = round_of([1.0] * 5, [100] * 5, min_samples=300, capacitance=1e-27 / 6.0)
    third = 1.0 / 3.0
    return Known(problem, (third, third, third, 0.0, 0.0), (1e9, 1e9, 1e9, 0.0, 0.0), 4.0, 9.5, 13.5, unique=False)


@named
def a_client_to_be_left_out() -> Known:
    """Two of three cover. The far one uploads for 10 s even with the whole band: more than the 7.5 of the others."""
    problem = round_of([1.0, 10.0, 1.0], [100, 100, 100], min_samples=200, capacitance=0.25e-27)
    return Known(problem, (0.5, 0.0, 0.5), (1e9, 0.0, 1e9), 3.0, 4.5, 7.5)


@named
def coverage_exactly_met() -> Known:
    """The first client holds the 100 samples asked for, to the last one, and costs 3.5 as `one_client` does.

    The two others hold 100 together, at no less than 2 s and 4 J of upload.
    """
    problem = round_of([1.0, 1.0, 1.0], [100, 60, 40], min_samples=100, capacitance=0.5e-27)
    return Known(problem, (1.0, 0.0, 0.0), (1e9, 0.0, 0.0), 2.0, 1.5, 3.5)


@named
def coverage_missed_by_one_sample() -> Known:
    """The near client costs 3.5 but holds 99 of 100 samples; the far one, 2 s and 2 J of upload, costs 5.5.

    Both together cost more than the far one alone.
    """
    problem = round_of([1.0, 2.0], [99, 100], min_samples=100, capacitance=0.5e-27)
    return Known(problem, (0.0, 1.0), (0.0, 1e9), 3.0, 2.5, 5.5)


@named
def everybody_at_full_speed() -> Known:
    """Energy costs nothing, so both CPUs run at their limit, 1 s and 3 s, and the band alone decides the deadline.

    1 / (T - 1) + 1.5 / (T - 3) = 1 at T = 5: shares 1/4 and 3/4. The energy: 4 J and 2 J of upload.
    """
    problem = round_of(
        [1.0, 1.5], [100, 100], max_frequency_hz=[1e9, 1e9 / 3.0], energy_weight=0.0, capacitance=0.9e-27
    )
    return Known(problem, (0.25, 0.75), (1e9, 1e9 / 3.0), 5.0, 6.0 + 0.9 + 0.1, 5.0)


@named
def band_limited() -> Known:
    """Training costs next to no energy: only the band is scarce, and who finishes last pays for the deadline too.

    The first finishes last, so that its second of upload costs a1 + P = 2 and the other's P = 4: shares as the roots
    of 2 * 2 and 4 * 0.25, 2/3 and 1/3, uploads of 3 s and 0.75 s. It trains at full speed for 1 s: T = 4 s; the
    other has 3.25 s for its 1e9 cycles. E = 3 + 3 J.
    """
    problem = round_of([2.0, 0.25], [100, 100], power_w=[1.0, 4.0], max_frequency_hz=1e9, capacitance=1e-45)
    return Known(problem, (2.0 / 3.0, 1.0 / 3.0), (1e9, 1e9 / 3.25), 4.0, 6.0, 10.0)


def paper_fleet() -> Fleet:
    """The paper's 80 clients."""
    return Fleet.random(80, 0)


def paper_problem() -> RoundProblem:
    """The paper's 80 clients with everybody eligible and 12,000 samples to cover."""
    return RoundProblem.build(paper_fleet(), None, Limits(max_divergence=np.inf, min_samples=12_000))
