"""Facts about splits: every sample has exactly one owner, and each method keeps its promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wisefl import Fleet, InvalidInput
from wisefl.data.partition import (
    SPLITS,
    Partition,
    dirichlet,
    hybrid,
    hybrid_counts,
    iid,
    shards,
    split,
    split_clients,
)
from wisefl.divergence import client_divergence

FASHION_LABELS = np.arange(60_000) % 10


@st.composite
def worlds(draw: st.DrawFn) -> tuple[np.ndarray, int, int]:
    """Labels of any skew (some classes may be missing), a number of clients they can feed, a seed."""
    classes = draw(st.integers(1, 12))
    labels = np.array(draw(st.lists(st.integers(0, classes - 1), min_size=1, max_size=300)))
    return labels, draw(st.integers(1, labels.size)), draw(st.integers(0, 2**32))


@given(
    worlds(),
    st.sampled_from(["hybrid", "iid", "dirichlet"]),
    st.floats(0.0, 1.0),
    st.floats(1e-9, 1e9),
)
@settings(max_examples=300, deadline=None)
def test_no_sample_is_lost_or_used_twice_and_nobody_is_empty(world, method, balanced_fraction, concentration):
    labels, clients, seed = world

    partition = split(labels, clients, seed, method, balanced_fraction=balanced_fraction, concentration=concentration)

    assert len(partition) == clients
    assert np.array_equal(np.sort(partition.indices), np.arange(labels.size))
    assert partition.sizes.min() >= 1
    assert np.array_equal(partition.counts(labels).sum(axis=0), np.bincount(labels))


@given(worlds(), st.integers(1, 5))
@settings(deadline=None)
def test_shards_lose_nothing_either(world, per_client):
    labels, clients, seed = world
    clients = max(1, min(clients, labels.size // per_client))
    if clients * per_client > labels.size:
        with pytest.raises(InvalidInput, match="shards_per_client"):
            shards(labels, clients, seed, per_client)
        return

    partition = shards(labels, clients, seed, per_client)

    assert np.array_equal(np.sort(partition.indices), np.arange(labels.size))
    assert partition.sizes.min() >= 1
    assert np.ptp(partition.sizes) <= per_client


@given(worlds(), st.sampled_from(SPLITS))
@settings(deadline=None)
def test_the_views_of_a_partition_agree(world, method):
    labels, clients, seed = world
    partition = split(labels, clients, seed, method, shards_per_client=1)

    by_hand = [np.bincount(labels[partition[k]], minlength=labels.max() + 1) for k in range(clients)]

    assert np.array_equal(partition.counts(labels), by_hand)
    assert np.array_equal(Partition.from_owner(partition.owner(), clients).indices, partition.indices)
    some = list(range(0, clients, 2))
    assert np.array_equal(partition.samples_of(some), np.concatenate([partition[k] for k in some]))


@pytest.mark.parametrize("method", SPLITS)
def test_a_seed_names_a_partition(method):
    first, again, other = (split(FASHION_LABELS, 80, seed, method) for seed in (5, 5, 6))

    assert np.array_equal(first.indices, again.indices)
    assert np.array_equal(first.offsets, again.offsets)
    assert not np.array_equal(first.indices, other.indices)


def test_hybrid_is_the_papers_split():
    """10% of the clients hold an equal number of every class, the others do not."""
    counts = hybrid(FASHION_LABELS, 80, seed=0).counts(FASHION_LABELS)

    assert (counts[:8] == 75).all()
    assert (client_divergence(counts)[:8] == 0).all()
    assert (client_divergence(counts)[8:] > 0.1).all()


def test_hybrid_holds_the_same_counts_as_a_random_fleet():
    assert np.array_equal(hybrid(FASHION_LABELS, 80, 3).counts(FASHION_LABELS), Fleet.random(80, 3).label_counts)


def test_balanced_clients_hold_one_of_each_class_when_clients_are_many():
    """6,000 samples of a class over 10,000 clients: an equal split would leave the balanced ones with nothing."""
    counts = hybrid(FASHION_LABELS, 10_000).counts(FASHION_LABELS)

    assert (counts[:1000] == 1).all()
    assert counts.sum(axis=1).min() >= 1


def test_feeding_an_empty_client_does_not_empty_another():
    """Three samples for three clients: the donor must be one that holds two, wherever the largest count stands."""
    for seed in range(200):
        counts = hybrid_counts(np.array([2, 1]), 3, np.random.default_rng(seed), 0.0, 0.05)
        assert (counts.sum(axis=1) == 1).all()


def test_a_class_that_nobody_has_does_not_spoil_the_balance():
    labels = FASHION_LABELS[FASHION_LABELS != 4]

    counts = hybrid(labels, 80).counts(labels)

    assert (np.delete(counts[:8], 4, axis=1) == 75).all()


def test_iid_clients_are_alike_and_of_equal_size():
    partition = iid(FASHION_LABELS, 80)

    assert np.ptp(partition.sizes) <= 1
    assert client_divergence(partition.counts(FASHION_LABELS)).max() < 0.02


def test_dirichlet_goes_from_skewed_to_alike():
    def typical_divergence(concentration: float) -> float:
        counts = dirichlet(FASHION_LABELS, 80, 0, concentration).counts(FASHION_LABELS)
        return float(np.median(client_divergence(counts, smoothing=1.0)))

    divergence = [typical_divergence(concentration) for concentration in (0.1, 1.0, 100.0)]

    assert divergence[0] > divergence[1] > divergence[2]
    assert divergence[2] < 0.01


def test_shards_give_each_client_few_classes():
    classes_held = (shards(FASHION_LABELS, 100, 0, 2).counts(FASHION_LABELS) > 0).sum(axis=1)

    assert classes_held.max() == 2


@pytest.mark.parametrize("fraction", [0.25, 0.5, 1.0])
def test_held_out_clients_and_candidates_are_everybody_once(fraction):
    training, held_out = split_clients(80, fraction, seed=1)

    assert training.size == 80 * fraction
    assert np.array_equal(np.sort(np.concatenate([training, held_out])), np.arange(80))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: split(FASHION_LABELS, 80, 0, "magic"), "choose one of hybrid, iid, dirichlet, shards"),
        (lambda: split([0, 1], 3), "2 samples cannot be shared among 3 clients"),
        (lambda: iid([0, 1], 0), "at least 1, not 0"),
        (lambda: hybrid(FASHION_LABELS, 80, 0, 1.5), "balanced_fraction must be from 0 to 1, not 1.5"),
        (lambda: dirichlet(FASHION_LABELS, 80, 0, 0.0), "concentration must be above 0"),
        (lambda: dirichlet(FASHION_LABELS, 80, 0, float("nan")), "concentration must be above 0"),
        (lambda: shards(FASHION_LABELS, 80, 0, 1000), "lower shards_per_client"),
        (lambda: split_clients(80, 0.0), "training_fraction must be above 0"),
        (lambda: split([0.5, 1.0], 1), "whole numbers"),
        (lambda: split([-1, 1], 1), "at least 0, not -1"),
        (lambda: iid([0, 1], 2).counts([0, 1, 1]), "the partition is of 2 samples, there are 3 labels"),
    ],
)
def test_impossible_wishes_are_refused_in_one_sentence(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
