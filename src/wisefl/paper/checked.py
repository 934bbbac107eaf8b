"""JSON files of a reproduction's folder, read and checked for their shape."""

import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from wisefl.errors import InvalidInput


def read_json(path: Path, shape: TypeAdapter[Any]) -> Any:
    """The content of a file of a known shape; a mistake in it is named by its place."""
    try:
        return shape.validate_python(json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise InvalidInput(f"{path} is missing; wisefl reproduce writes it") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: not valid JSON ({error})") from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        raise InvalidInput(f"{path}: {place}: {first['msg']}, not {first['input']!r}") from None
