"""What nodes measure moves the expectations towards the truth, by no more than a step at a time."""

from typing import Any

import numpy as np
import pytest

from support import nodes
from wisefl.flower import Hint
from wisefl.flower.corrections import MOST, corrected


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        (1.0, 1.0),
        (1.21, 1.1),  # half the way in logarithms
        (100.0, 1.25),  # but no further than a step
        (1e-9, 0.8),
        (np.nan, 1.0),
        (1.0 + 1e-7, 1.0),
    ],
)
def test_one_round_moves_a_factor_by_a_bounded_step(measured: float, expected: float) -> None:
    factor = corrected(np.ones(1), np.array([measured]), np.ones(1))
    assert factor[0] == pytest.approx(expected, abs=1e-12)


def test_a_factor_stays_within_its_limits() -> None:
    factor = np.array([MOST, 1.0 / MOST])
    assert np.array_equal(corrected(factor, np.array([1e6, 1e-6]), np.ones(2)), factor)


@pytest.mark.parametrize("truth", [0.2, 0.9, 3.0])
def test_a_lasting_error_of_the_profile_is_found(truth: float) -> None:
    factor = np.ones(1)
    for _ in range(40):
        factor = corrected(factor, np.array([2.0 * truth]), 2.0 * factor)
    assert factor[0] == pytest.approx(truth, rel=1e-3)


def test_a_client_that_is_slower_than_it_says_is_planned_slower(federation: Any) -> None:
    hints: dict[int, list[Any]] = {}

    def three_times_slower(reply: Any, client: int) -> Any:
        # From the profile, not from the plan: the device stays as slow as it is when the plan has learned it.
        plan = hints[client][-1]
        cycles = 10 * federation.fleet.cycles_per_bit[client] * federation.fleet.samples[client]
        cycles *= federation.limits.bits_per_sample
        reply.content["metrics"]["compute-s"] = float(3.0 * cycles / plan.frequency_hz)
        return reply

    grid = nodes.grid_of(federation)
    grid.watch = lambda message, client: hints.setdefault(client, []).append(Hint.of(message))
    grid.faults["train"] = three_times_slower
    strategy, _ = nodes.started(federation, grid, rounds=12)
    factors = strategy.conductor.corrections.compute
    often = [client for client, seen in hints.items() if len(seen) >= 8]
    assert factors.min() == 1.0
    assert factors[often] == pytest.approx(3.0, rel=0.25)

    grid.log.clear()
    uncorrected, _ = nodes.started(federation, grid, rounds=2, correct=False)
    assert uncorrected.conductor.corrections.compute.max() == 1.0
