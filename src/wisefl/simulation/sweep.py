"""Many runs at once: every combination of some fields' values, each in a folder of its own.

A run is a function of its configuration, so where and beside what it runs makes no difference. A sweep that was
stopped is continued by asking for it again: finished runs are kept, unfinished ones go on.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Literal

from wisefl.errors import InvalidInput, MissingExtra, WiseFLError
from wisefl.plugins import shown
from wisefl.run.config import RunConfig, check, load_config, same_run, to_toml
from wisefl.run.folder import CONFIG, ROUNDS, SUMMARY, RunFolder
from wisefl.simulation.brought import NOTHING
from wisefl.simulation.parts import policy_of

Backend = Literal["processes", "ray"]
RunOne = Callable[..., Any]

MOST_RUNS = 10_000
_LONGEST_NAME = 120


@dataclass(frozen=True)
class Cell:
    """One combination: its folder and its configuration."""

    path: Path
    config: RunConfig

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def finished(self) -> bool:
        return (self.path / SUMMARY).exists()

    def rounds_done(self) -> int:
        """Rounds on disk, as far as can be seen from here."""
        try:
            return (self.path / ROUNDS).read_bytes().count(b"\n")
        except OSError:
            return 0


@dataclass(frozen=True)
class Outcome:
    """How a run ended; `error` is None when it went well."""

    name: str
    error: str | None = None
    reused: bool = False


def plan_sweep(
    out: Path,
    over: Sequence[str],
    *,
    preset: str | None = None,
    file: Path | None = None,
    changes: tuple[str, ...] = (),
) -> list[Cell]:
    """Check every combination of `over` (such as `seed=0..4`) before the first one starts."""
    fields = [_field(text) for text in over]
    keys = [key for key, _ in fields]
    for key in keys:
        if keys.count(key) > 1:
            raise InvalidInput(f"{key} is varied twice: give all its values at once, as in {key}=A,B,C")
    if prod(len(values) for _, values in fields) > MOST_RUNS:
        raise InvalidInput(f"these are {prod(len(values) for _, values in fields)} runs, at most {MOST_RUNS} will do")
    if (out / CONFIG).exists():
        raise InvalidInput(f"{out} holds a run itself: choose another folder for the sweep")
    cells: dict[str, Cell] = {}
    for values in product(*(values for _, values in fields)):
        chosen = tuple(f"{key}={value}" for key, value in zip(keys, values, strict=True))
        config = load_config(preset, file, (*changes, *chosen))
        policy_of(config, NOTHING)  # one that does not exist is told now, not after hours
        name = _folder_name(keys, values)
        if name in cells:
            name = f"{name}_{_digest(to_toml(config))}"
        cells[name] = Cell(out / name, config)
    for cell in cells.values():
        _check_same(cell)
    return list(cells.values())


def run_sweep(
    cells: Sequence[Cell], *, jobs: int | None = None, backend: Backend = "processes", run: RunOne | None = None
) -> list[Outcome]:
    """Run what is not finished yet, `jobs` at a time (all cores unless told), and tell how each ended.

    With several at a time each gets one worker thread. `run(path, config, workers=...)` does one run.
    """
    todo = [cell for cell in cells if not cell.finished]
    check_means(jobs, backend)
    outcomes = {cell.name: Outcome(cell.name, reused=True) for cell in cells if cell.finished}
    _make_folder(cells)
    if backend == "ray":
        ended = _with_ray(todo, jobs, run)
    else:
        ended = _with_processes(todo, min(jobs or os.cpu_count() or 1, max(len(todo), 1)), run)
    outcomes |= {outcome.name: outcome for outcome in ended}
    return [outcomes[cell.name] for cell in cells]


def check_means(jobs: int | None, backend: Backend) -> None:
    """Refuse what a sweep could not be carried out with."""
    if jobs is not None and jobs < 1:
        raise InvalidInput(f"jobs must be at least 1, not {jobs}")
    if backend == "ray":
        try:
            import_module("ray.util.joblib")
        except ImportError:
            raise MissingExtra("ray", "ray") from None


def _with_processes(todo: Sequence[Cell], jobs: int, run: RunOne | None) -> Iterable[Outcome]:
    if jobs == 1:
        return [_run_cell(str(cell.path), cell.config.model_dump(), None, run) for cell in todo]
    from joblib import Parallel
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    try:
        outcomes: list[Outcome] = Parallel(n_jobs=jobs, backend="loky", batch_size=1)(_tasks(todo, run))
    except TerminatedWorkerError:
        raise InvalidInput(
            "a worker process was killed, perhaps for want of memory: the same command goes on from here, "
            "with fewer jobs it needs less"
        ) from None
    return outcomes


def _with_ray(todo: Sequence[Cell], jobs: int | None, run: RunOne | None) -> Iterable[Outcome]:
    """On the cluster that RAY_ADDRESS names, or on one of this machine's cores."""
    from joblib import Parallel, parallel_backend

    ray: Any = import_module("ray")  # typed in part only, and not where it is not installed
    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False)
    import_module("ray.util.joblib").register_ray()
    with parallel_backend("ray"):
        outcomes: list[Outcome] = Parallel(n_jobs=jobs or -1, batch_size=1)(_tasks(todo, run))
    return outcomes


def _tasks(todo: Sequence[Cell], run: RunOne | None) -> Iterable[Any]:
    from joblib import delayed

    return [delayed(_run_cell)(str(cell.path.resolve()), cell.config.model_dump(), 1, run) for cell in todo]


def _run_cell(path: str, values: dict[str, Any], workers: int | None, run: RunOne | None) -> Outcome:
    """In a worker: one run, whose failure is its own. Plain values travel better than models made at run time."""
    place = Path(path)
    try:
        (run or _run_folder())(place, check(values), workers=workers)
    except WiseFLError as error:
        return Outcome(place.name, str(error))
    except Exception as error:
        return Outcome(place.name, f"{type(error).__name__}: {error}")
    return Outcome(place.name)


def _run_folder() -> RunOne:
    """The round loop brings PyTorch along: loaded where a run is carried out, not where it is planned."""
    from wisefl.simulation.loop import run_folder

    return run_folder


def _field(text: str) -> tuple[str, list[str]]:
    """`seed=0..2,7` -> ("seed", ["0", "1", "2", "7"])."""
    key, equals, values = text.partition("=")
    if not equals or not key.strip() or not values.strip():
        raise InvalidInput(f"{text!r} is not of the form key=A,B,C, such as policy.name=csra,pow or seed=0..4")
    found = [value for item in _split(values) for value in _range(item.strip(), text)]
    if "" in found:
        raise InvalidInput(f"{text!r} has an empty value")
    if len(set(found)) < len(found):
        twice = next(value for value in found if found.count(value) > 1)
        raise InvalidInput(f"{text!r} has the value {twice} twice")
    return key.strip(), found


def _split(values: str) -> list[str]:
    """At the commas outside quotes and brackets."""
    items, depth, quote = [""], 0, ""
    for letter in values:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        else:
            depth += (letter in "[{") - (letter in "]}")
        if letter == "," and not depth and not quote:
            items.append("")
        else:
            items[-1] += letter
    return items


def _range(item: str, text: str) -> list[str]:
    """`0..4` -> 0, 1, 2, 3, 4; anything else is one value."""
    ends = re.fullmatch(r"(\d{1,18})\.\.(\d{1,18})", item)
    if ends is None:
        return [item]
    first, last = int(ends[1]), int(ends[2])
    if last < first or last - first >= MOST_RUNS:
        raise InvalidInput(f"{text!r}: {item} must go up, by fewer than {MOST_RUNS}")
    return [str(value) for value in range(first, last + 1)]


def _folder_name(keys: Sequence[str], values: Sequence[str]) -> str:
    """`policy.name=csra seed=0` -> `csra_seed=0`; a field goes by its last word where that is clear."""
    parts = []
    for key, value in zip(keys, values, strict=True):
        named = key in ("policy.name", "data.name")
        word = re.sub(r"[^A-Za-z0-9.+-]+", "-", shown(value) if named else value).strip("-.") or "none"
        last = key.rpartition(".")[2]
        if named:
            parts.append(word)
        else:
            clear = sum(other.rpartition(".")[2] == last for other in keys) == 1
            parts.append(f"{last if clear else key}={word}")
    name = "_".join(parts) or "run"
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}_{_digest(name)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _check_same(cell: Cell) -> None:
    """A folder of an earlier sweep counts only when it holds the very run that is asked for."""
    if not (cell.path / CONFIG).exists():
        return
    there = RunFolder.open(cell.path).config
    if not same_run(cell.config, there):
        old, new = to_toml(there).splitlines(), to_toml(cell.config).splitlines()
        asked = next((line for line in new if line not in old), "another setting")
        raise InvalidInput(
            f"{cell.path} holds a run with other settings ({asked} is asked for): choose another folder for the sweep"
        )


def _make_folder(cells: Sequence[Cell]) -> None:
    for out in {cell.path.parent for cell in cells}:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"{out}: cannot be written ({error.strerror})") from None
