"""Options that several commands share."""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import click
import typer
from click.core import ParameterSource

REPRESENTATION, CEILINGS, COST, RADIO, COMPUTING, LONG_TERM, METHOD, QUESTION, OUTPUT, LISTENING, SERVICE = (
    "Who may take part",
    "What a round may take",
    "What a round costs",
    "Radio",
    "Computing",
    "Over all rounds",
    "Method",
    "Questions",
    "Output",
    "Where it listens",
    "What a request may take",
)

_PANELS: dict[str, tuple[str, ...]] = {
    REPRESENTATION: (
        "max_divergence",
        "divergence",
        "min_samples",
        "smoothing",
        "required",
        "forbidden",
        "min_clients",
        "max_clients",
    ),
    CEILINGS: ("deadline_s", "energy_budget_j"),
    COST: ("latency_weight", "energy_weight"),
    RADIO: ("bandwidth_hz", "noise_dbm_hz", "carrier_hz", "path_loss_exponent", "model_bits"),
    COMPUTING: ("capacitance", "epochs", "bits_per_sample"),
    LONG_TERM: (
        "rounds",
        "participation",
        "group_participation",
        "representation",
        "battery_j",
        "recharge_j",
        "worth",
        "evenness",
        "eagerness",
    ),
    METHOD: ("steps", "seed"),
    LISTENING: ("host", "port", "token"),
    SERVICE: ("workers", "time_limit", "max_body_mb", "max_waiting"),
    OUTPUT: ("runs",),
}
"""Where the fields that say themselves what they mean (`Limits`, `Horizon`) stand on the help page, in order."""
_PANEL_OF = {name: panel for panel, names in _PANELS.items() for name in names}

FleetPath = Annotated[
    Path,
    typer.Argument(
        metavar="FLEET",
        help="The fleet, as `wisefl fleet` writes it: .csv, .json, .xlsx, or - for the standard input.",
    ),
]
MaxGap = Annotated[
    float, typer.Option(help="Relative gap to prove (certified, scip).", rich_help_panel=METHOD, metavar="FLOAT")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        help="Stop after so many seconds with the best decision and its gap (certified, scip).",
        rich_help_panel=METHOD,
        metavar="SECONDS",
    ),
]


class Reading(StrEnum):
    """How solver dc reads Algorithms 1 and 2."""

    PRINTED = "printed"
    REPAIRED = "repaired"
    STRONG = "strong"


def typed(ctx: click.Context, name: str) -> bool:
    """Whether an option was given, and does not merely have its default."""
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def new_app() -> typer.Typer:
    """An app for one module's command or commands."""
    return typer.Typer(add_completion=False, pretty_exceptions_enable=False)


class _ShownShort(float):
    """A default that the help page shows as people write it: 2e6, not 2000000.0."""

    def __str__(self) -> str:
        value = float(self)
        short = f"{value:g}".replace("e+0", "e")
        return short if float(short) == value else repr(value).removesuffix(".0")


def _option(item: "Field[Any]") -> inspect.Parameter:
    panel, text = _PANEL_OF[item.name], item.metadata["help"]
    default: Any = item.default
    names = isinstance(default, tuple)
    words = get_args(item.type) if get_origin(item.type) is Literal else ()
    kind: Any = str if words else list[str] if names else item.type
    choice = click.Choice(words) if words else None
    spelled = [item.metadata["option"]] if "option" in item.metadata else []
    own: dict[str, Any] = {"metavar": "CLIENT"} if names else {}
    own |= {key: item.metadata[key] for key in ("metavar", "envvar") if key in item.metadata}
    shown = item.metadata.get("shown", not names)
    option = typer.Option(*spelled, help=text, rich_help_panel=panel, click_type=choice, show_default=shown, **own)
    return inspect.Parameter(
        item.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=_ShownShort(default) if item.type is float else list(default) if names else default,
        annotation=Annotated[kind, option],
    )


def with_groups(*, without: tuple[str, ...] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command one option per field of each of its parameters that is a dataclass; it receives them as such.

    The fields of `Limits` and `Horizon` say what they mean themselves; those of a group made for the command line are
    annotated as Typer's parameters are. `without` are fields of `Limits` that the command decides on its own.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        groups = {name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)}
        options = {name: _options(kind, without) for name, kind in groups.items()}
        own = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
            for name, parameter in inspect.signature(command).parameters.items()
            if name not in groups
        ]

        @wraps(command)
        def with_options(**values: Any) -> None:
            made = {
                name: kind(**{option.name: values.pop(option.name) for option in options[name]})
                for name, kind in groups.items()
            }
            command(**made, **values)

        # Typer reads both of these; what has no default (the arguments) comes first, the groups before the rest.
        every = [*(option for group in options.values() for option in group), *own]
        parameters = sorted(every, key=lambda item: item.default is not inspect.Parameter.empty)
        with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        with_options.__annotations__ = {item.name: item.annotation for item in parameters}
        return with_options

    return decorate


def _options(group: Any, without: tuple[str, ...]) -> list[inspect.Parameter]:
    items = {item.name: item for item in fields(group) if item.name not in without}
    if all("help" in item.metadata for item in items.values()):
        return [_option(items[name]) for name in sorted(items, key=[*_PANEL_OF].index)]
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if item.default is MISSING else item.default,
            annotation=hints[name],
        )
        for name, item in items.items()
    ]
