from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wisefl.learning import LocalTraining
from wisefl.learning.batches import Batches, draw_batches


def parts(batches: Batches) -> list[list[int]]:
    return [batches.order[a:b].tolist() for a, b in zip(batches.starts[:-1], batches.starts[1:], strict=True)]


@given(count=st.integers(1, 200), size=st.integers(1, 80), epochs=st.integers(1, 4), seed=st.integers(0, 5))
def test_batch_work_takes_one_batch_per_epoch_without_replacement(
    count: int, size: int, epochs: int, seed: int
) -> None:
    positions = np.arange(count) * 3 + 1
    settings = LocalTraining(epochs=epochs, batch_size=size, local_work="batch")
    batches = parts(draw_batches(positions, settings, seed=seed, round=2, client=7))
    assert len(batches) == epochs
    for batch in batches:
        assert len(batch) == len(set(batch)) == min(size, count)
        assert set(batch) <= set(positions.tolist())


@given(count=st.integers(1, 200), size=st.integers(1, 80), epochs=st.integers(1, 4), seed=st.integers(0, 5))
def test_pass_work_meets_every_sample_once_per_epoch_and_keeps_the_last_smaller_batch(
    count: int, size: int, epochs: int, seed: int
) -> None:
    positions = np.arange(count) + 5
    settings = LocalTraining(epochs=epochs, batch_size=size, local_work="pass")
    batches = parts(draw_batches(positions, settings, seed=seed, round=0, client=0))
    per_epoch = -(-count // size)
    assert len(batches) == epochs * per_epoch
    for epoch in range(epochs):
        own = batches[epoch * per_epoch : (epoch + 1) * per_epoch]
        assert sorted(chain.from_iterable(own)) == positions.tolist()
        assert [len(batch) for batch in own[:-1]] == [size] * (per_epoch - 1)


def test_batches_change_with_seed_round_and_client_and_with_nothing_else() -> None:
    positions, settings = np.arange(500), LocalTraining()
    draw = draw_batches(positions, settings, seed=1, round=2, client=3)
    assert np.array_equal(draw.order, draw_batches(positions, settings, seed=1, round=2, client=3).order)
    for other in ({"seed": 0}, {"round": 1}, {"client": 4}):
        names = {"seed": 1, "round": 2, "client": 3} | other
        assert not np.array_equal(draw.order, draw_batches(positions, settings, **names).order)


def test_a_client_without_data_takes_no_step() -> None:
    assert parts(draw_batches(np.zeros(0, dtype=np.int64), LocalTraining(), seed=0, round=0, client=0)) == []
