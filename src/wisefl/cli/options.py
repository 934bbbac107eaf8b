"""Options that several commands share."""

import inspect
from collections.abc import Callable
from dataclasses import Field, fields
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import click
import typer

from wisefl.decision.problem import Limits

REPRESENTATION, COST, RADIO, COMPUTING, METHOD, OUTPUT = (
    "Who may take part",
    "What a round costs",
    "Radio",
    "Computing",
    "Method",
    "Output",
)

_LIMIT_PANELS: dict[str, tuple[str, ...]] = {
    REPRESENTATION: ("max_divergence", "divergence", "min_samples", "smoothing"),
    COST: ("latency_weight", "energy_weight"),
    RADIO: ("bandwidth_hz", "noise_dbm_hz", "carrier_hz", "path_loss_exponent", "model_bits"),
    COMPUTING: ("capacitance", "epochs", "bits_per_sample"),
}
"""Where the fields of `Limits` stand on the help page, and in what order."""
_PANEL_OF = {name: panel for panel, names in _LIMIT_PANELS.items() for name in names}

FleetPath = Annotated[Path, typer.Argument(metavar="FLEET.csv", help="The fleet, as `wisefl fleet` writes it.")]
MaxGap = Annotated[
    float, typer.Option(help="Relative gap to prove (certified, scip).", rich_help_panel=METHOD, metavar="FLOAT")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        help="Stop after so many seconds with the best decision and its gap (certified, scip).",
        rich_help_panel=METHOD,
        metavar="SECONDS",
        show_default=False,
    ),
]


class Reading(StrEnum):
    """How solver dc reads Algorithms 1 and 2."""

    PRINTED = "printed"
    REPAIRED = "repaired"
    STRONG = "strong"


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
    words = get_args(item.type)  # of a Literal; of a plain type there are none
    kind: Any = str if words else item.type
    choice = click.Choice(words) if words else None
    return inspect.Parameter(
        item.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=_ShownShort(default) if item.type is float else default,
        annotation=Annotated[kind, typer.Option(help=text, rich_help_panel=panel, click_type=choice)],
    )


def with_limits(*, without: tuple[str, ...] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command one option per field of `Limits`, with its default; the command receives them as `limits`."""
    offered = {item.name: item for item in fields(Limits) if item.name not in without}
    options = [_option(offered[name]) for name in _PANEL_OF if name in offered]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        own = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
            for name, parameter in inspect.signature(command).parameters.items()
            if name != "limits"
        ]

        @wraps(command)
        def with_options(**values: Any) -> None:
            command(limits=Limits(**{name: values.pop(name) for name in offered}), **values)

        # Typer reads both of these; what has no default (the arguments) comes first, our limits before the rest.
        parameters = sorted([*options, *own], key=lambda item: item.default is not inspect.Parameter.empty)
        with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        with_options.__annotations__ = {item.name: item.annotation for item in parameters}
        return with_options

    return decorate
