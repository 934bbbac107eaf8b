"""The controlled experiment: clients as far from the population as wanted."""

import numpy as np
import pytest

from wisefl.divergence import kl
from wisefl.theory.experiment import course, distributions


@pytest.mark.parametrize("divergence", [0.0, 0.1, 1.0])
def test_clients_are_as_far_from_the_population_as_wanted(divergence: float) -> None:
    uniform = np.full(10, 0.1)
    alike = distributions(divergence, seed=3)
    other = distributions(divergence, seed=3, complementary=True)
    for clients in (alike, other):
        assert clients.sum(axis=1) == pytest.approx(np.ones(10))
        assert kl(uniform, clients) == pytest.approx(np.full(10, divergence), abs=1e-12)
    assert kl(uniform, alike.mean(axis=0)) == pytest.approx(divergence, abs=1e-12)
    assert kl(uniform, other.mean(axis=0)) == pytest.approx(0.0, abs=1e-12)


def test_the_data_of_the_experiment_follow_its_distributions() -> None:
    made = course(400, 1.0, seed=0, rounds=1)
    assert made.sizes.tolist() == [40] * 10
    shares = np.bincount(made.train.labels, minlength=10) / 400
    assert np.abs(shares - distributions(1.0, seed=0)[0]).max() < 0.03
