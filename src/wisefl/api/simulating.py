"""A whole training, by one call."""

import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wisefl.api.planning import fleet_of
from wisefl.api.results import Result
from wisefl.data import dataset_of
from wisefl.errors import InvalidInput, MissingExtra
from wisefl.fleet import Fleet
from wisefl.policies.base import TrainingPolicy
from wisefl.policies.plugin import adapted
from wisefl.run.brought import OWN, anchor
from wisefl.run.config import RunConfig as Config
from wisefl.run.config import Section, load_preset, merge, resolve
from wisefl.simulation.brought import Brought

if TYPE_CHECKING:
    from torch import nn


def simulate(
    *,
    model: "nn.Module | str | None" = None,
    data: Any = None,
    fleet: Fleet | str | Path | Any = None,
    policy: Any = "csra",
    rounds: int | None = None,
    out: str | Path | None = None,
    preset: str | None = None,
    **settings: Any,
) -> Result:
    """Train a federation over the simulated radio network and return what came of it.

    `model` is a PyTorch module or a name. `data` is (x, y), (x_train, y_train, x_test, y_test), a mapping with these
    names (and `client`, for natural clients), or a name. `fleet` is a `Fleet`, a CSV file or a data frame; drawn by
    the paper's table unless given. `policy` is a name, a class or an object with `choose(problem, view)`, or such a
    function. `settings` are the fields of `wisefl run --explain` by their last word: `learning_rate=0.1,
    min_samples=500, clients=30, seed=1`.

    The run is in the folder `out`; the same call again goes on with it where it stopped, or returns it when it is
    finished. Without `out` it is in a folder for temporary files.
    """
    values = load_preset(preset)
    merge(values, _sections(settings))
    if rounds is not None:
        values["rounds"] = rounds
    brought = Brought(
        data=_data(data, values),
        model=_model(model, values),
        fleet=_fleet(fleet, values),
        policy=_policy(policy, values),
    )
    config = resolve(anchor(values, Path()))
    folder = Path(tempfile.mkdtemp(prefix="wisefl-")) if out is None else Path(out)
    _run(folder, config, brought)
    return Result(folder)


def _run(folder: Path, config: Config, brought: Brought) -> None:
    from rich.console import Console

    from wisefl.simulation.callbacks import Progress
    from wisefl.simulation.loop import run_folder

    screen = Console(stderr=True, highlight=False)
    with Progress(screen) as progress:
        shown = [progress] if screen.is_terminal else []
        run_folder(folder, config, callbacks=shown, brought=brought, tell=_warn)


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=2)


def _sections(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings by their last word, put where they belong."""
    places: dict[str, list[tuple[str, ...]]] = {}
    for name, item in Config.model_fields.items():
        kind = item.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            for inner in kind.model_fields:
                places.setdefault(inner, []).append((name, inner))
        else:
            places.setdefault(name, []).append((name,))
    values: dict[str, Any] = {}
    for word, value in settings.items():
        if len(places.get(word, [])) != 1:
            clear = sorted(name for name, found in places.items() if len(found) == 1)
            raise InvalidInput(f"there is no setting {word!r}; there are {', '.join(clear)}")
        nested = value
        for part in reversed(places[word][0]):
            nested = {part: nested}
        merge(values, nested)
    return values


def _data(given: Any, values: dict[str, Any]) -> Any:
    if given is None:
        return None
    section = values.setdefault("data", {})
    if isinstance(given, str | Path):
        section["name"] = str(given)
        return None
    made = dataset_of(given, "data")
    section["name"] = OWN
    if made.client is not None:
        section.setdefault("partition", "natural")
        if section["partition"] == "natural":
            section.setdefault("clients", int(made.client.max()) + 1)
    return made


def _model(given: Any, values: dict[str, Any]) -> "nn.Module | None":
    if given is None:
        return None
    if isinstance(given, str):
        values.setdefault("training", {})["model"] = given
        return None
    try:
        from torch import nn
    except ImportError:
        raise MissingExtra("PyTorch", "learning") from None
    if not isinstance(given, nn.Module):
        raise InvalidInput(f"model is {type(given).__name__}, but a torch.nn.Module or a name is needed")
    values.setdefault("training", {})["model"] = OWN
    return given


def _fleet(given: Any, values: dict[str, Any]) -> Fleet | None:
    if given is None:
        return None
    section = values.setdefault("fleet", {})
    if isinstance(given, str | Path):
        section["file"] = str(given)
        return None
    made = fleet_of(given)
    section["file"] = OWN
    values.setdefault("data", {}).setdefault("clients", len(made))
    return made


def _policy(given: Any, values: dict[str, Any]) -> TrainingPolicy | None:
    section = values.setdefault("policy", {})
    if isinstance(given, str):
        section["name"] = given
        return None
    name = getattr(given, "__name__", type(given).__name__)
    section["name"] = name
    return adapted(given, name, section.get("options"), section.get("allocation", "exact"))
