"""Both engines, the same facts. Images are noise, which is harder to agree on than data."""

import os
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from torch import nn

from wisefl.errors import InvalidInput
from wisefl.learning import Engine, Job, LocalTraining, Samples, evaluate
from wisefl.learning.fast.lanes import vector_lanes
from wisefl.learning.general import GeneralEngine
from wisefl.learning.model import PaperCNN, initial_model, load_vector, to_vector
from wisefl.learning.selection import select_engine

# The fast engine compiles in the first test that uses it, and once more for narrower vectors.
pytestmark = pytest.mark.timeout(1200)

GREY, COLOUR = (1, 28, 28), (3, 32, 32)
needs_vectors = pytest.mark.skipif(vector_lanes() is None, reason="the fast engine needs AVX-512, or AVX2 and FMA")


def noise(shape: tuple[int, ...], count: int = 600, seed: int = 0) -> Samples:
    draw = np.random.default_rng(seed)
    return Samples(draw.integers(0, 256, (count, *shape), dtype=np.uint8), draw.integers(0, 10, count))


def clients(samples: Samples, sizes: tuple[int, ...] = (150, 64, 7, 90)) -> list[Job]:
    draw = np.random.default_rng(1)
    return [Job(10 + k, draw.choice(len(samples), size, replace=False)) for k, size in enumerate(sizes)]


def paper_cnn(shape: tuple[int, ...]) -> PaperCNN:
    model = initial_model("paper-cnn", shape, seed=5)
    assert isinstance(model, PaperCNN)
    return model


def exact_gradient(model: nn.Module, samples: Samples, positions: np.ndarray) -> np.ndarray:
    double = PaperCNN(samples.shape).double()
    double.load_state_dict(model.state_dict())
    images = torch.from_numpy(samples.images[positions]).double() / 255
    nn.functional.cross_entropy(double(images), torch.from_numpy(samples.labels[positions])).backward()
    return torch.cat([parameter.grad.reshape(-1) for parameter in double.parameters()]).numpy()


@needs_vectors
@pytest.mark.parametrize("shape", [GREY, COLOUR, (2, 16, 20)])
@pytest.mark.parametrize("batch", [1, 5, 16, 33, 64, 130])
def test_one_step_of_the_fast_engine_follows_the_exact_gradient(shape: tuple[int, ...], batch: int) -> None:
    samples, model = noise(shape), paper_cnn(shape)
    weights, positions = to_vector(model), np.arange(batch)
    settings = LocalTraining(epochs=1, learning_rate=1.0, batch_size=batch)
    step = select_engine(model, "fast").train(weights, samples, [Job(0, positions)], settings, seed=0, round=0)
    gradient = exact_gradient(model, samples, positions)
    assert np.abs(step.updates[0] + gradient).max() < 1e-5 * np.abs(gradient).max() + 1e-7


@needs_vectors
@pytest.mark.parametrize(("shape", "work", "proximal"), list(product([GREY, COLOUR], ["batch", "pass"], [0.0, 0.5])))
def test_after_a_full_round_both_engines_have_the_same_weights(
    shape: tuple[int, ...], work: str, proximal: float
) -> None:
    samples, model = noise(shape), paper_cnn(shape)
    settings = LocalTraining(epochs=10 if work == "batch" else 2, local_work=work, proximal=proximal)
    fast, general = (
        select_engine(model, name).train(to_vector(model), samples, clients(samples), settings, seed=3, round=4)
        for name in ("fast", "general")
    )
    assert np.abs(fast.updates).max() > 1e-3
    assert np.abs(fast.updates - general.updates).max() < 1e-5
    assert fast.losses == pytest.approx(general.losses, abs=1e-5)
    assert np.array_equal(fast.clients, general.clients)
    assert fast.sizes.tolist() == general.sizes.tolist() == [150, 64, 7, 90]


@needs_vectors
def test_float_images_are_taken_as_they_are() -> None:
    samples, model = noise(GREY), paper_cnn(GREY)
    scaled = Samples(samples.images * np.float32(1 / 255), samples.labels)
    engine, weights, settings = select_engine(model, "fast"), to_vector(model), LocalTraining(epochs=2)
    first = engine.train(weights, samples, clients(samples), settings, seed=0, round=0)
    second = engine.train(weights, scaled, clients(samples), settings, seed=0, round=0)
    assert np.array_equal(first.updates, second.updates)


@pytest.mark.parametrize("name", [pytest.param("fast", marks=needs_vectors), "general"])
def test_the_number_of_workers_changes_no_bit(name: str) -> None:
    samples, model = noise(GREY), paper_cnn(GREY)
    settings = LocalTraining(epochs=2, local_work="pass", batch_size=50)
    results = []
    for workers in (1, 2, 3):
        engine = select_engine(model, name, workers)
        trained = engine.train(to_vector(model), samples, clients(samples), settings, seed=0, round=1)
        scores = engine.score(to_vector(model), samples)
        results.append((trained.updates, trained.losses, scores.losses, scores.predicted))
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))


@pytest.mark.parametrize("name", [pytest.param("fast", marks=needs_vectors), "general"])
def test_a_clients_update_does_not_depend_on_who_else_trains_or_trained_before(name: str) -> None:
    samples, model = noise(GREY), paper_cnn(GREY)
    engine, weights, settings = select_engine(model, name), to_vector(model), LocalTraining(epochs=3)
    jobs = clients(samples)
    together = engine.train(weights, samples, jobs, settings, seed=0, round=0)
    alone = engine.train(weights, samples, jobs[2:3], settings, seed=0, round=0)
    assert np.array_equal(together.updates[2], alone.updates[0])


@pytest.mark.parametrize("name", [pytest.param("fast", marks=needs_vectors), "general"])
def test_a_client_without_data_sends_nothing_new(name: str) -> None:
    samples, model = noise(GREY), paper_cnn(GREY)
    jobs = [Job(0, np.zeros(0, dtype=np.int64)), *clients(samples)]
    trained = select_engine(model, name).train(to_vector(model), samples, jobs, LocalTraining(), seed=0, round=0)
    assert not trained.updates[0].any()
    assert trained.losses[0] == 0
    assert trained.sizes[0] == 0


@pytest.mark.parametrize("name", [pytest.param("fast", marks=needs_vectors), "general"])
def test_a_client_that_diverges_shows_it_in_its_update(name: str) -> None:
    samples, model = noise(GREY), paper_cnn(GREY)
    wild = LocalTraining(learning_rate=1e30)
    trained = select_engine(model, name).train(to_vector(model), samples, clients(samples), wild, seed=0, round=0)
    assert not np.isfinite(trained.updates).all(axis=1).any()


@pytest.mark.parametrize("name", [pytest.param("fast", marks=needs_vectors), "general"])
def test_positions_outside_the_data_are_refused(name: str) -> None:
    samples, model = noise(GREY, count=20), paper_cnn(GREY)
    with pytest.raises(InvalidInput, match="there are 20 samples"):
        select_engine(model, name).train(
            to_vector(model), samples, [Job(0, np.array([20]))], LocalTraining(), seed=0, round=0
        )


@needs_vectors
def test_the_fast_engine_refuses_what_it_would_read_wrongly() -> None:
    samples, model = noise(GREY, count=20), paper_cnn(GREY)
    engine, weights = select_engine(model, "fast"), to_vector(model)
    with pytest.raises(InvalidInput, match="made for"):
        engine.score(weights, noise(COLOUR, count=20))
    with pytest.raises(InvalidInput, match="10 classes"):
        engine.score(weights, Samples(samples.images, samples.labels + 1000))
    with pytest.raises(InvalidInput, match="44426"):
        engine.score(weights[:-1], samples)


@needs_vectors
@pytest.mark.parametrize("shape", [GREY, COLOUR])
def test_both_engines_score_alike(shape: tuple[int, ...]) -> None:
    samples, model = noise(shape, count=1100), paper_cnn(shape)
    fast, general = (select_engine(model, name).score(to_vector(model), samples) for name in ("fast", "general"))
    assert fast.losses == pytest.approx(general.losses, abs=1e-5)
    assert np.mean(fast.predicted == general.predicted) > 0.999


@pytest.mark.parametrize("name", [pytest.param("fast", marks=needs_vectors), "general"])
def test_training_learns_real_digits(name: str) -> None:
    digits = load_digits()
    images = np.kron(digits.images, np.ones((4, 4)))[:, 2:30, 2:30]
    samples, model = Samples((images * 15).astype(np.uint8), digits.target), paper_cnn(GREY)
    engine: Engine = select_engine(model, name)
    weights, settings = to_vector(model), LocalTraining(epochs=6, learning_rate=0.1, local_work="pass", batch_size=32)
    job = Job(0, np.arange(1200))
    update = engine.train(weights, samples, [job], settings, seed=0, round=0).updates[0]
    assert evaluate(engine, weights, samples, np.arange(1200, 1797)).accuracy < 0.3
    assert evaluate(engine, weights + update, samples, np.arange(1200, 1797)).accuracy > 0.8


def test_a_random_model_of_ones_own_is_deterministic_whatever_the_workers() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Flatten(), nn.Linear(784, 20), nn.BatchNorm1d(20), nn.ReLU(), nn.Dropout(), nn.Linear(20, 10)
    )
    samples, weights = noise(GREY), to_vector(model)
    jobs, settings = clients(samples), LocalTraining(epochs=3, batch_size=32)
    results = []
    for workers in (1, 2):
        torch.rand(3)
        state = torch.get_rng_state()
        results.append(GeneralEngine(model, workers).train(weights, samples, jobs, settings, seed=0, round=0).updates)
        assert torch.equal(state, torch.get_rng_state())
    assert np.array_equal(results[0], results[1])
    statistics = results[0][:, -40:]
    assert np.abs(statistics).min(axis=1).max() > 0, "running statistics travel with the weights"
    assert np.array_equal(weights, to_vector(model)), "the caller's model is left alone"


def test_the_general_engine_leaves_pytorchs_threads_as_they_were() -> None:
    before = torch.get_num_threads()
    samples, model = noise(GREY, count=64), paper_cnn(GREY)
    GeneralEngine(model).train(to_vector(model), samples, clients(samples, (64,)), LocalTraining(), seed=0, round=0)
    assert torch.get_num_threads() == before


def test_fedprox_by_hand() -> None:
    """One weight, one sample, two steps: w1 = w0 - r g0, w2 = w1 - r (g1 + mu (w1 - w0))."""
    model = nn.Sequential(nn.Flatten(), nn.Linear(1, 2, bias=False))
    load_vector(model, np.array([0.3, -0.2], dtype=np.float32))
    samples = Samples(np.ones((1, 1, 1), dtype=np.float32), np.array([0]))
    settings = LocalTraining(epochs=2, learning_rate=0.1, proximal=2.0)
    trained = GeneralEngine(model).train(
        to_vector(model), samples, [Job(0, np.array([0]))], settings, seed=0, round=0
    )

    start = weights = np.array([0.3, -0.2])
    for _ in range(2):
        gradient = np.exp(weights) / np.exp(weights).sum() - [1, 0]
        weights = weights - 0.1 * (gradient + 2.0 * (weights - start))
    assert trained.updates[0] == pytest.approx(weights - start, abs=1e-6)


@pytest.mark.skipif(vector_lanes() != 16, reason="checks the eight-lane kernels on a machine with wider ones")
def test_the_eight_lane_kernels_follow_the_exact_gradient() -> None:
    test = f"{__file__}::{test_one_step_of_the_fast_engine_follows_the_exact_gradient.__name__}"
    narrow = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma"}
    run = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts=", "-k", "33"]
    done = subprocess.run(
        [*run, "--import-mode=importlib", test],
        env=os.environ | narrow,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
