import numpy as np
import pytest

from wisefl import cost


def test_a_client_by_hand() -> None:
    cycles = cost.work_cycles(10, np.array([2.0]), np.array([100]), 8.0)
    assert cycles == pytest.approx([16_000.0])
    upload_s = cost.upload_time_s(np.array([0.5]), np.array([0.25]))
    assert upload_s == pytest.approx([2.0])
    assert cost.upload_energy_j(np.array([0.1]), upload_s) == pytest.approx([0.2])
    assert cost.compute_time_s(cycles, np.array([8e3])) == pytest.approx([2.0])
    assert cost.compute_energy_j(1e-27, cycles, np.array([1e9])) == pytest.approx([16e-6])


def test_latency_is_the_slowest_and_energy_the_sum() -> None:
    assert cost.round_latency_s(np.array([1.0, 3.0]), np.array([1.5, 0.2])) == pytest.approx(3.2)
    assert cost.round_energy_j(np.array([1.0, 3.0]), np.array([1.5, 0.5])) == pytest.approx(6.0)
    assert cost.objective(3.0, 6.0, 2.0, 0.5) == pytest.approx(9.0)


def test_who_takes_no_part_costs_nothing() -> None:
    nobody = np.zeros(2)
    assert (cost.upload_time_s(np.ones(2), nobody) == 0.0).all()
    assert (cost.compute_time_s(np.ones(2), nobody) == 0.0).all()
    assert cost.round_latency_s(nobody, nobody) == 0.0
