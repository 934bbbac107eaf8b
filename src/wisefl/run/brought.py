"""What a configuration names of one's own: data, a model, a policy, a fleet, each by its file or module."""

import os
from pathlib import Path
from typing import Any

from wisefl.data import CATALOG, FORMS, is_own
from wisefl.data.shakespeare import NAME as SHAKESPEARE
from wisefl.errors import InvalidInput
from wisefl.fleet import Fleet
from wisefl.learning.own import MODEL_NAMES
from wisefl.plugins import anchored, is_reference

OWN = "own"
"""What a program hands over in memory, or what the nodes of a Flower run bring."""


def anchor(values: dict[str, Any], base: Path) -> dict[str, Any]:
    """The same settings with every file named from the root, so that a run can go on from any folder."""
    named: dict[str, Any] = {}
    for section, fields in values.items():
        named[section] = (
            {key: _anchor(section, key, value, base) for key, value in fields.items()}
            if isinstance(fields, dict)
            else fields
        )
    return named


def _anchor(section: str, key: str, value: Any, base: Path) -> Any:
    if not isinstance(value, str) or not value:
        return value
    if (section, key) in (("data", "folder"), ("fleet", "file")):
        return value if value == OWN else _absolute(value, base)
    if (section, key) == ("data", "name") and value not in (*CATALOG, SHAKESPEARE, OWN):
        place = Path(_absolute(value, base))
        return str(place) if value.endswith(".npz") or place.is_dir() else anchored(value, base)
    if (section, key) in (("training", "model"), ("policy", "name")):
        return anchored(value, base)
    return value


def _absolute(path: str, base: Path) -> str:
    return os.path.abspath(base / Path(path).expanduser())


def check_fleet(values: dict[str, Any]) -> dict[str, Any]:
    """The same settings with as many clients as the fleet's file has; what a file leaves no room for is refused."""
    fleet, data = values.get("fleet", {}), values.get("data", {})
    if not isinstance(fleet, dict) or not isinstance(data, dict):
        return values  # of another type, which the check of the fields tells
    file = fleet.get("file")
    if not isinstance(file, str):
        for key in ("counts", "fading"):
            if fleet.get(key) == "file":
                raise InvalidInput(f"fleet.{key} = 'file' needs the file: set fleet.file")
        return values
    if "frequency_unit_hz" in fleet:
        raise InvalidInput("fleet.frequency_unit_hz is for drawn fleets: leave it out, or leave fleet.file out")
    if fleet.get("fading") == "file" and "mean_gain" in fleet:
        raise InvalidInput("fleet.mean_gain is for drawn gains: leave it out, or fleet.fading = 'file'")
    if file == OWN:
        return values
    clients = len(Fleet.read(file))
    if data.get("clients", clients) != clients:
        raise InvalidInput(
            f"data.clients = {data['clients']!r}, but {file} has {clients} clients: leave one of them out"
        )
    return {**values, "data": {**data, "clients": clients}}


def check_names(data: str, model: str) -> None:
    """Refuse a name that stands for nothing, before anything is loaded."""
    if data not in (*CATALOG, OWN) and not is_own(data):
        known = ", ".join([*CATALOG, SHAKESPEARE])
        raise InvalidInput(f"data.name = {data!r}: there is no such dataset; there are {known}, or give {FORMS}")
    if model not in (*MODEL_NAMES, OWN) and not is_reference(model):
        raise InvalidInput(
            f"training.model = {model!r}: there is no such model; there are {', '.join(MODEL_NAMES)}, or give "
            "module:factory or file.py:factory"
        )
