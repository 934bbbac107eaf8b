"""Theorem 1 beside the gap it bounds, as the clients' divergence and the amount of data change (digits).

A controlled federation: the population has all ten classes equally often, every client favours five of them so much
that D_kl(p_g || p_k) has the value wanted, and everybody trains in every round. In one version all clients favour the
same five classes; in the other, half of them favour the other five, so that together they match the population. The
theorem cannot tell the two apart.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wisefl.data import load
from wisefl.divergence import kl
from wisefl.errors import InvalidInput
from wisefl.files import write_csv, write_json
from wisefl.learning import LocalTraining, Samples, evaluate
from wisefl.learning.model import initial_model, to_vector
from wisefl.learning.selection import select_engine
from wisefl.paper.scale import Scale
from wisefl.paper.theorem_picture import draw
from wisefl.randomness import rng
from wisefl.theory.assessment import Assessment, Effort, assess
from wisefl.theory.replay import Course

NAME = "theorem"
BY_DIVERGENCE, BY_DATA = "bound by divergence", "bound by data"
CLASSES, CLIENTS = 10, 10
TRAINING = LocalTraining(epochs=10, learning_rate=0.05, batch_size=16)
METHODS = {
    "bound": "bound as printed (total)",
    "drift": "drift",
    "stability": "stability",
    "size": "size",
    "divergence": "divergence",
    "sample": "c²/8d",
    "repaired": "bound repaired (total)",
    "gap": "measured gap",
    "gap-complementary": "measured gap, clients complementary",
}
CAPTION = (
    "Every term of Theorem 1 and the gap between test and training loss that it bounds, on the digits, with ten "
    "clients that all train in every round. Left: more and more lopsided clients with 400 samples together. "
    "Right: more data, spread evenly. The constants are the largest values met, so the bound is a lower estimate of "
    "itself. Complementary: half of the clients favour the classes that the others lack; each is as far from the "
    "population, but their mixture is not."
)


@dataclass(frozen=True)
class Plan:
    """What a scale runs."""

    divergences: tuple[float, ...]
    sizes: tuple[int, ...]
    rounds: int
    effort: Effort


PLANS = {
    "quick": Plan((0.0, 0.1, 0.4, 1.0), (100, 200, 400, 800), 15, Effort(3, 128, 8, 2)),
    "paper": Plan((0.0, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0), (50, 100, 200, 400, 800, 1000), 30, Effort()),
}
"""Scale -> plan."""
FIXED_SIZE, FIXED_DIVERGENCE = 400, 0.0
_PARALLEL_FROM = 6
"""Of fewer places the processes would take longer to start than to compute."""


def theorem_experiment(scale: Scale, out: Path) -> Path:
    """Run what is missing of the experiment and write figures/theorem.csv, .json and .png; returns the CSV's path.

    Each point is kept in runs/theorem as soon as it is known, so that an interrupted experiment goes on.
    """
    if scale.name not in PLANS:
        raise InvalidInput(f"scale is {scale.name!r}, but only {', '.join(PLANS)} exist")
    plan, count = PLANS[scale.name], scale.seeds["training"]
    figures, points = out / "figures", out / "runs" / NAME / scale.name
    for folder in (figures, points):
        folder.mkdir(parents=True, exist_ok=True)
    _compute(plan, count, points)
    rows = [row for seed in range(count) for row in _rows(plan, seed, points)]
    rows.sort(key=lambda row: (row[0], list(METHODS).index(row[1]), row[2], row[3]))
    place = figures / f"{NAME}.csv"
    write_csv(place, ["panel", "method", "x", "seed", "value"], (list(row) for row in rows))
    description = describe(scale.name, count, plan.rounds)
    write_json(figures / f"{NAME}.json", description)
    draw(rows, description, figures / f"{NAME}.png")
    return place


Row = tuple[str, str, float, int, float]


def _compute(plan: Plan, seeds: int, points: Path) -> None:
    """What is missing, several places at a time where there are many."""
    wanted = {(size, divergence) for _, _, size, divergence in _places(plan)}
    todo = [
        (size, divergence, seed)
        for seed in range(seeds)
        for size, divergence in sorted(wanted)
        if not _file(points, size, divergence, seed).exists()
    ]
    if len(todo) < _PARALLEL_FROM:
        for place in todo:
            _point(plan, *place, points)
        return
    from joblib import Parallel, delayed

    Parallel(n_jobs=-1)(delayed(_point)(plan, *place, points) for place in todo)


def _places(plan: Plan) -> Iterator[tuple[str, float, int, float]]:
    """(panel, x, samples, divergence)."""
    yield from ((BY_DIVERGENCE, float(x), FIXED_SIZE, float(x)) for x in plan.divergences)
    yield from ((BY_DATA, float(x), int(x), FIXED_DIVERGENCE) for x in plan.sizes)


def _rows(plan: Plan, seed: int, points: Path) -> Iterator[Row]:
    for panel, x, size, divergence in _places(plan):
        values = _point(plan, size, divergence, seed, points)
        for method in METHODS:
            if method != "gap-complementary" or panel == BY_DIVERGENCE:
                yield panel, method, x, seed, values[method]


def _point(plan: Plan, size: int, divergence: float, seed: int, points: Path) -> dict[str, float]:
    """All methods at one place; the two panels share the point that both have."""
    place = _file(points, size, divergence, seed)
    if place.exists():
        stored: dict[str, float] = json.loads(place.read_text(encoding="utf-8"))
        return stored
    alike = course(size, divergence, seed=seed, rounds=plan.rounds)
    other = course(size, divergence, seed=seed, rounds=plan.rounds, complementary=True)
    values = {**methods(assess(alike, effort=plan.effort)), "gap-complementary": gap(other)}
    write_json(place, values)
    return values


def _file(points: Path, size: int, divergence: float, seed: int) -> Path:
    return points / f"size{size}-divergence{divergence:g}-seed{seed}.json"


def methods(found: Assessment) -> dict[str, float]:
    """The rows of an assessment."""
    totals = {"bound": found.bound.total, "repaired": found.repaired.total, "gap": found.gap}
    return {**found.bound.terms(), **totals}


def gap(course: Course) -> float:
    """Definition 4 at the end of the course."""
    end = course.end()
    return evaluate(course.engine, end, course.test).loss - evaluate(course.engine, end, course.train).loss


def course(size: int, divergence: float, *, seed: int, rounds: int, complementary: bool = False) -> Course:
    """Ten clients with `size` samples together, each as far from the population as `divergence` says."""
    data, test = _digits()
    distribution = distributions(divergence, seed=seed, complementary=complementary)
    counts = _counts(distribution, size // CLIENTS, seed)
    held, owner = _take(data.labels, counts, seed)
    model = initial_model("paper-cnn", data.shape, seed=seed, classes=CLASSES)
    everybody = np.arange(CLIENTS)
    population = np.full(CLASSES, 1.0 / CLASSES)
    return Course(
        model=model,
        engine=select_engine(model),
        train=Samples(data.images[held], data.labels[held]),
        test=test,
        parts={int(client): np.flatnonzero(owner == client) for client in everybody},
        schedule=(everybody,) * rounds,
        training=TRAINING,
        seed=seed,
        initial=to_vector(model),
        divergences=dict(enumerate(kl(population, distribution).tolist())),
        mixture_divergence=float(kl(population, distribution.mean(axis=0))),
    )


def distributions(divergence: float, *, seed: int, complementary: bool = False) -> NDArray[np.float64]:
    """p_k of every client (rows): five classes of probability (1 + h) / 10, five of (1 - h) / 10.

    D_kl(p_g || p_k) = -log(1 - h^2) / 2 for the uniform p_g, which gives h.
    """
    lean = np.sqrt(-np.expm1(-2.0 * divergence))
    favoured = np.full(CLASSES, -1.0)
    favoured[rng(seed, 0, "favoured classes").permutation(CLASSES)[: CLASSES // 2]] = 1.0
    side = np.ones(CLIENTS)
    if complementary:
        side[1::2] = -1.0
    return np.asarray((1.0 + lean * side[:, None] * favoured) / CLASSES)


def _counts(distribution: NDArray[np.float64], each: int, seed: int) -> NDArray[np.int64]:
    """Samples of each class that each client gets: the whole part of what is expected, the rest by chance."""
    draw = rng(seed, 0, "class counts")
    expected = each * distribution
    counts = np.floor(expected + 1e-9).astype(np.int64)
    for client, left in enumerate(each - counts.sum(axis=1)):
        if left:
            rest = np.maximum(expected[client] - counts[client], 0.0)
            counts[client] += draw.multinomial(left, rest / rest.sum())
    return counts


def _take(
    labels: NDArray[np.int64], counts: NDArray[np.int64], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Random samples of each class for each client: (which samples, in ascending order; who holds each)."""
    draw = rng(seed, 0, "samples of the experiment")
    held, owner = [], []
    for label in range(CLASSES):
        members = draw.permutation(np.flatnonzero(labels == label))
        wanted = int(counts[:, label].sum())
        if wanted > members.size:
            raise InvalidInput(f"class {label} has {members.size} samples, fewer than the {wanted} wanted")
        held.append(members[:wanted])
        owner.append(np.repeat(np.arange(CLIENTS), counts[:, label]))
    samples, holders = np.concatenate(held), np.concatenate(owner)
    order = np.argsort(samples)
    return samples[order], holders[order]


@cache
def _digits() -> tuple[Samples, Samples]:
    data = load("digits")
    return (
        Samples(data.normalised(data.train_images), data.train_labels),
        Samples(data.normalised(data.test_images), data.test_labels),
    )


def describe(scale: str, seeds: int, rounds: int) -> dict[str, Any]:
    """What a reader of the CSV has to know."""
    y_label = "loss (nats)"
    return {
        "name": NAME,
        "title": "Theorem 1 beside the gap it bounds",
        "caption": CAPTION,
        "panels": [
            {
                "name": BY_DIVERGENCE,
                "title": "More lopsided clients",
                "x_label": "divergence KL(p_g‖p_k) of each client (nats)",
                "y_label": y_label,
            },
            {"name": BY_DATA, "title": "More data", "x_label": "samples of all clients together", "y_label": y_label},
        ],
        "methods": [{"name": name, "label": label} for name, label in METHODS.items()],
        "scale": scale,
        "seeds": seeds,
        "rounds": rounds,
    }
