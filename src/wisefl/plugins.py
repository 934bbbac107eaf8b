"""What users bring: objects called `module:name` or `file.py:name`, and what packages announce as entry points."""

import importlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from zlib import crc32

from wisefl.errors import InvalidInput

_LOOKED_IN: list[str] = []
"""Folders of users' files that were added to the search path."""
_REFERENCE = re.compile(r"(?P<place>.+):(?P<name>[^\W\d]\w*)")


def is_reference(text: str) -> bool:
    """Whether a text is of the form `module:name` or `file.py:name`."""
    return _REFERENCE.fullmatch(text) is not None


def refer(text: str) -> Any:
    """The object that a reference stands for; InvalidInput says what is wrong with it."""
    found = _REFERENCE.fullmatch(text)
    if found is None:
        raise InvalidInput(f"{text!r} is not of the form module:name or file.py:name")
    place, name = found["place"], found["name"]
    module = _from_file(Path(place)) if place.endswith(".py") else _from_name(place)
    if not hasattr(module, name):
        there = [other for other in vars(module) if not other.startswith("_")]
        raise InvalidInput(f"{place} has no {name!r}; it has {', '.join(there[:10]) or 'nothing'}")
    return getattr(module, name)


def call(what: str, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Call what a user wrote; if it fails, one sentence says how and where, and the cause is kept for debuggers."""
    try:
        return function(*arguments, **options)
    except InvalidInput:
        raise
    except (Exception, SystemExit) as error:  # `sys.exit` in there would end us without a word
        raise InvalidInput(f"{what} failed with {told(error)}") from error


def told(error: Exception | SystemExit) -> str:
    """An exception of a user's code in half a sentence, with the last place outside of installed packages."""
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error}"  # says where by itself
    own = [
        frame
        for frame in frames
        if "site-packages" not in frame.filename and f"{os.sep}wisefl{os.sep}" not in frame.filename
    ]
    where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{': ' if text else ''}{text}{where}"


def shown(name: str) -> str:
    """A name as tables and folders show it: of `folder/file.py:Mine` the last word, of a path its last part."""
    found = _REFERENCE.fullmatch(name)
    return found["name"] if found is not None else name.replace("\\", "/").rstrip("/").rpartition("/")[2] or name


@cache
def announced(group: str) -> dict[str, str]:
    """Name -> reference of what installed packages announce in an entry-point group such as `wisefl.policies`."""
    from importlib.metadata import entry_points

    return {point.name: point.value for point in entry_points(group=group)}


def anchored(text: str, base: Path) -> str:
    """A reference whose file is named from a folder, named from the root; any other text as it is."""
    found = _REFERENCE.fullmatch(text)
    if found is None or not found["place"].endswith(".py"):
        return text
    return f"{_absolute(found['place'], base)}:{found['name']}"


def _absolute(path: str, base: Path) -> Path:
    return Path(os.path.abspath(base / Path(path).expanduser()))


def _from_file(path: Path) -> ModuleType:
    path = _absolute(str(path), Path())
    name = f"_wisefl_{path.stem}_{crc32(str(path).encode()):08x}"
    if name in sys.modules:
        return sys.modules[name]
    if not path.is_file():
        raise InvalidInput(f"{path}: no such file")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up while it is made
    _look_in(path.parent)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise InvalidInput(f"{path} cannot be imported: {told(error)}") from error
    return module


def _from_name(name: str) -> ModuleType:
    _look_in(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise InvalidInput(f"there is no module {name!r}, neither installed nor in {Path.cwd()}") from None
        raise InvalidInput(f"module {name!r} cannot be imported: {told(error)}") from error
    except Exception as error:
        raise InvalidInput(f"module {name!r} cannot be imported: {told(error)}") from error


def _look_in(folder: Path) -> None:
    """Modules beside a user's file are found too: after all that is installed, the folder asked last first."""
    if str(folder) in sys.path and str(folder) not in _LOOKED_IN:
        return
    sys.path[:] = [place for place in sys.path if place not in _LOOKED_IN]
    _LOOKED_IN[:] = [str(folder), *(place for place in _LOOKED_IN if place != str(folder))]
    sys.path += _LOOKED_IN
