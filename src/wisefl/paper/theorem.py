"""The study of Theorem 1: every term of the bound beside the gap, as divergence and data change."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from wisefl.errors import InvalidInput
from wisefl.files import write_json
from wisefl.paper.made import MadeFigure
from wisefl.paper.plan import RUNS
from wisefl.paper.scale import Scale
from wisefl.paper.table import Row, Table
from wisefl.paper.texts import FigureText, MethodText, PanelText
from wisefl.simulation.sweep import Cell
from wisefl.theory.effort import Effort

NAME = "theorem"
BY_DIVERGENCE, BY_DATA = "bound by divergence", "bound by data"
BOUND, COMPLEMENTARY = "bound", "gap-complementary"
METHODS = {
    BOUND: "bound as printed (total)",
    "drift": "drift",
    "stability": "stability",
    "size": "size",
    "divergence": "divergence",
    "sample": "c²/8d",
    "repaired": "bound repaired (total)",
    "gap": "measured gap",
    COMPLEMENTARY: "measured gap, clients complementary",
}
_PANELS = tuple(
    PanelText(name, title, x_label, "loss (nats)", y_scale="symlog")
    for name, title, x_label in (
        (BY_DIVERGENCE, "More lopsided clients", "divergence KL(p_g‖p_k) of each client (nats)"),
        (BY_DATA, "More data", "samples of all clients together"),
    )
)
_CAPTION = (
    "Every term of Theorem 1 and the gap between test and training loss that it bounds, on the digits, with ten "
    "clients that all train in every round. Left: more and more lopsided clients with 400 samples together. "
    "Right: more data, spread evenly. The constants are the largest values met, so the bound is a lower estimate of "
    "itself. Complementary: half of the clients favour the classes that the others lack; each is as far from the "
    "population, but their mixture is not."
)
_FIXED_SIZE, _FIXED_DIVERGENCE = 400, 0.0
_PARALLEL_FROM = 6
"""Of fewer places the processes would take longer to start than to compute."""


@dataclass(frozen=True)
class Plan:
    """What a scale runs."""

    divergences: tuple[float, ...]
    sizes: tuple[int, ...]
    rounds: int
    effort: Effort = field(default_factory=Effort)

    def places(self) -> Iterator["Place"]:
        yield from (Place(BY_DIVERGENCE, x, _FIXED_SIZE, x) for x in self.divergences)
        yield from (Place(BY_DATA, float(x), x, _FIXED_DIVERGENCE) for x in self.sizes)


@dataclass(frozen=True)
class Place:
    """A point of a panel, and the clients that it is about."""

    panel: str
    x: float
    size: int
    divergence: float


PLANS = {
    "quick": Plan((0.0, 0.1, 0.4, 1.0), (100, 200, 400, 800), 15, Effort(3, 128, 8, 2)),
    "paper": Plan((0.0, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0), (50, 100, 200, 400, 800, 1000), 30),
}
"""Scale -> plan."""


class TheoremStudy:
    """Makes the figure `theorem`. Each point is kept as soon as it is known, so an interrupted study goes on."""

    name = NAME
    learning_rate = 0.005
    cells: Sequence[Cell] = ()

    def __init__(self, scale: Scale, out: Path) -> None:
        if scale.name not in PLANS:
            raise InvalidInput(f"scale is {scale.name!r}, but only {', '.join(PLANS)} exist")
        self.plan, self.seeds, self.scale, self.out = PLANS[scale.name], scale.seeds_of("training"), scale.name, out
        self.folder = out / RUNS / NAME / f"{scale.name}-rate{self.learning_rate:g}"

    def write(self) -> None:
        """Run what is missing and write the figure."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._compute()
        order = list(METHODS)
        rows = sorted(self._rows(), key=lambda row: (row.panel, order.index(row.method), row.x, row.seed))
        MadeFigure(self._text(), Table(tuple(rows))).write(self.out)

    def _compute(self) -> None:
        """What is missing, several places at a time where there are many; a place of both panels once."""
        places = sorted({(place.size, place.divergence) for place in self.plan.places()})
        todo = [(*place, seed) for seed in self.seeds for place in places if not self._file(*place, seed).exists()]
        if len(todo) < _PARALLEL_FROM:
            for size, divergence, seed in todo:
                _keep_point(self._file(size, divergence, seed), size, divergence, seed, self.plan, self.learning_rate)
            return
        from joblib import Parallel, delayed

        Parallel(n_jobs=-1)(
            delayed(_keep_point)(self._file(*place), *place, self.plan, self.learning_rate) for place in todo
        )

    def _rows(self) -> Iterator[Row]:
        for place in self.plan.places():
            for seed in self.seeds:
                kept = self._file(place.size, place.divergence, seed).read_text(encoding="utf-8")
                values: dict[str, float] = json.loads(kept)
                for method in METHODS:
                    if method != COMPLEMENTARY or place.panel == BY_DIVERGENCE:
                        yield Row(place.panel, method, place.x, seed, values[method])

    def _file(self, size: int, divergence: float, seed: int) -> Path:
        return self.folder / f"size{size}-divergence{divergence:g}-seed{seed}.json"

    def _text(self) -> FigureText:
        return FigureText(
            name=self.name,
            title=f"Theorem 1 beside the gap it bounds, learning rate {self.learning_rate:g}",
            caption=_CAPTION,
            panels=_PANELS,
            methods=tuple(MethodText(name, label) for name, label in METHODS.items()),
            scale=self.scale,
            seeds=len(self.seeds),
            rounds=self.plan.rounds,
        )


class FastTheoremStudy(TheoremStudy):
    """The same with ten times the paper's learning rate: the verdict on the theorem depends on it."""

    name = f"{NAME}_fast"
    learning_rate = 0.05


def _keep_point(path: Path, size: int, divergence: float, seed: int, plan: Plan, learning_rate: float) -> None:
    from wisefl.theory.experiment import TRAINING, point  # brings PyTorch along

    training = replace(TRAINING, learning_rate=learning_rate)
    found = point(size, divergence, seed=seed, rounds=plan.rounds, effort=plan.effort, training=training)
    write_json(path, found)
