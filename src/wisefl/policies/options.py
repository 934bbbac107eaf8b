"""Options by name: what a policy accepts, told from its signature, and a sentence for whatever it does not."""

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from wisefl.errors import InvalidInput

_KINDS: dict[Any, tuple[type, str]] = {
    float: (Real, "a number"),
    int: (Integral, "a whole number"),
    str: (str, "text"),
    bool: (bool, "true or false"),
}


@cache
def options_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Name -> type of what can be set by name alone: the keyword-only parameters."""
    types = get_type_hints(function)
    return {
        parameter.name: types.get(parameter.name, Any)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    }


def taken_by(options: Mapping[str, Any], function: Callable[..., Any]) -> dict[str, Any]:
    """Those of the options that are this function's."""
    return {name: options[name] for name in options_of(function) if name in options}


def check_options(policy: str, options: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Refuse an option that the policy does not have or that is of another type; ranges are the policy's own."""
    for name, value in options.items():
        if name not in known:
            raise InvalidInput(f"policy {policy!r} has no option {name!r}; it has {', '.join(known) or 'none'}")
        wanted = _wanted(known[name], value)
        if wanted:
            raise InvalidInput(f"option {name} of policy {policy!r} must be {wanted}, not {value!r}")


def _wanted(annotation: Any, value: Any) -> str | None:
    """What the value should have been; None when it is that."""
    if annotation is NoneType or annotation is None:
        return None if value is None else "absent"
    if get_origin(annotation) in (Union, UnionType):
        wanted = [_wanted(part, value) for part in get_args(annotation)]
        named = [text for text, part in zip(wanted, get_args(annotation), strict=True) if part is not NoneType]
        return None if None in wanted else " or ".join(text for text in named if text)
    if get_origin(annotation) is Literal:
        return None if value in get_args(annotation) else f"one of {', '.join(map(str, get_args(annotation)))}"
    if annotation not in _KINDS:
        return None
    kind, name = _KINDS[annotation]
    # True is an Integral to Python; to a reader of a configuration it is not a number.
    fits = isinstance(value, kind) and (annotation is bool or not isinstance(value, bool))
    return None if fits else name
