"""What a reproduction left in its folder, read and checked for the report."""

import csv
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from wisefl.errors import InvalidInput
from wisefl.paper.claims.measures import Results
from wisefl.paper.figures import ORDER
from wisefl.paper.optimality import training_savings
from wisefl.paper.readings.reading import FILE as READINGS
from wisefl.paper.readings.reading import Told, read_readings
from wisefl.paper.savings import Saving
from wisefl.results.curves import mean_interval

Verdict = Literal["holds", "does not hold", "not decided"]
Scale = Literal["linear", "log"]
COLUMNS = ("panel", "method", "x", "seed", "value")


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Panel(_Read):
    """One chart of a figure; `x_scale` and `y_scale` say how its axes are first shown."""

    name: str
    title: str = ""
    x_label: str
    y_label: str
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"


class Method(_Read):
    name: str
    label: str = ""

    @property
    def text(self) -> str:
        return self.label or self.name


class FigureText(_Read):
    """The words of a figure and what it was made with."""

    name: str
    title: str
    caption: str = ""
    panels: tuple[Panel, ...]
    methods: tuple[Method, ...]
    scale: str = ""
    seeds: int | list[int] | None = None
    rounds: int | None = None


class Part(_Read):
    """One of the things that must all be true for a claim."""

    name: str
    effect: float | None = None
    interval: tuple[float | None, float | None] | None = None
    wanted: str = ""
    verdict: Verdict


class Claim(_Read):
    """A sentence of the paper and what the runs say about it."""

    number: int | str
    claim: str
    statistic: float | str | None = None
    effect: float | str | None = None
    interval: tuple[float | None, float | None] | None = None
    p_value: float | None = None
    verdict: Verdict
    detail: str = ""
    figures: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Point:
    """The values of all seeds at one place of the x-axis; `half_width` is half the 95% interval of their mean."""

    x: float
    mean: float
    half_width: float | None
    by_seed: dict[str, float]


@dataclass(frozen=True)
class Figure:
    """A figure with its curves: (panel, method) -> points in order of x."""

    file: str
    text: FigureText
    curves: dict[tuple[str, str], list[Point]]
    has_picture: bool

    @property
    def methods(self) -> list[Method]:
        """Those with at least one value."""
        drawn = {method for _, method in self.curves}
        return [method for method in self.text.methods if method.name in drawn]

    @property
    def title(self) -> str:
        return self.text.title or self.text.name


@dataclass(frozen=True)
class Reproduction:
    """All that the report tells."""

    figures: list[Figure]
    claims: list[Claim]
    settings: dict[str, Any]
    environment: dict[str, Any]
    readings: dict[str, list[Told]]
    """Of each point of the paper that can be read otherwise, what that changes; nothing where it was not run."""
    savings: list[tuple[str, str, Saving]]
    """(dataset, other method, what the certified optimum saves against it)."""


def read_reproduction(folder: Path) -> Reproduction:
    """Read a folder written by `wisefl reproduce`; claims, settings and environment may be missing."""
    texts = sorted((folder / "figures").glob("*.json"))
    if not texts and not (folder / "reproduce.json").exists():
        raise InvalidInput(f"{folder / 'figures'} holds no figure: there must be a .json and a .csv for each")
    claims = TypeAdapter(list[Claim])
    table = TypeAdapter(dict[str, Any])
    read_claims: list[Claim] = _checked(folder / "claims.json", claims, [])
    return Reproduction(
        figures=_in_order([_figure(path) for path in texts], read_claims),
        claims=read_claims,
        settings=_checked(folder / "reproduce.json", table, {}),
        environment=_checked(folder / "environment.json", table, {}),
        readings=read_readings(folder) if (folder / READINGS).exists() else {},
        savings=training_savings(Results.read(folder)),
    )


def _in_order(figures: list[Figure], claims: Iterable[Claim]) -> list[Figure]:
    """As the claims, which follow the paper, first mention them; then ours, then what else there is, by name."""
    mentioned = list(dict.fromkeys(name for claim in claims for name in claim.figures))
    return sorted(figures, key=lambda one: (_position(one.file, mentioned), _position(one.file, ORDER), one.file))


def _position(name: str, names: Sequence[str]) -> int:
    return names.index(name) if name in names else len(names)


def _figure(path: Path) -> Figure:
    text: FigureText = _checked(path, TypeAdapter(FigureText))
    curves = _curves(path.with_suffix(".csv"), text)
    return Figure(path.stem, text, curves, path.with_suffix(".png").exists())


def _checked(path: Path, shape: TypeAdapter[Any], missing: Any = None) -> Any:
    """A JSON file of a known shape, or `missing`, if something stands for a file that is not there."""
    try:
        return shape.validate_python(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        if missing is not None:
            return missing
        raise InvalidInput(f"{path} is missing") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: not valid JSON ({error})") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InvalidInput(f"{path}: {place}: {first['msg']}, not {first['input']!r}") from None


def _curves(path: Path, text: FigureText) -> dict[tuple[str, str], list[Point]]:
    """Values of the tidy CSV gathered by panel, method and x. A value that is empty or not finite does not count."""
    gathered: dict[tuple[str, str], dict[float, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            if missing := [name for name in COLUMNS if name not in (rows.fieldnames or ())]:
                raise InvalidInput(f"{path}: column {missing[0]} is missing; needed are {', '.join(COLUMNS)}")
            for row in rows:
                place = f"{path}, line {rows.line_num}"
                x, value = _number(row["x"], f"{place}: x"), _number(row["value"] or "nan", f"{place}: value")
                if not math.isfinite(x):
                    raise InvalidInput(f"{place}: x must be finite, not {row['x']}")
                if math.isfinite(value):
                    gathered[row["panel"], row["method"]][x][row["seed"]] = value
    except FileNotFoundError:
        raise InvalidInput(f"{path} is missing") from None
    _all_named(path, text, gathered)
    return {key: [_point(x, seeds) for x, seeds in sorted(by_x.items())] for key, by_x in gathered.items()}


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        raise InvalidInput(f"{what} must be a number, not {text!r}") from None


def _all_named(path: Path, text: FigureText, keys: Iterable[tuple[str, str]]) -> None:
    """Data that the figure's text does not name would silently be left out."""
    panels, methods = {panel.name for panel in text.panels}, {method.name for method in text.methods}
    for panel, method in keys:
        for kind, name, known in (("panel", panel, panels), ("method", method, methods)):
            if name not in known:
                raise InvalidInput(f"{path}: {kind} {name!r} is not in {path.with_suffix('.json').name}")


def _point(x: float, by_seed: dict[str, float]) -> Point:
    mean, half_width = mean_interval(list(by_seed.values()))
    return Point(x, float(mean), float(half_width) if len(by_seed) > 1 else None, by_seed)
