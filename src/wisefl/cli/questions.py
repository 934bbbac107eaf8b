"""What `wisefl plan` can be asked beside a decision: `--why`, `--least`, `--vary`; and pictures of the answers."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wisefl.api.objects import least_object, what_if_object, why_object
from wisefl.cli.options import OUTPUT, QUESTION
from wisefl.cli.output import check_writable, print_json
from wisefl.decision.limits import Limits
from wisefl.errors import InvalidInput

if TYPE_CHECKING:
    from wisefl.decision import Decision, RoundProblem
    from wisefl.decision.questions import LeastAnswer, Why

STEPS = 8
"""Values that a range such as 1e6..8e6 stands for."""
_NAMED = ("divergence", "required", "forbidden")
_WHOLE = ("epochs", "min_samples", "min_clients", "max_clients")


@dataclass(frozen=True)
class Questions:
    """At most one of them is asked at a time."""

    why: Annotated[
        str | None,
        typer.Option(
            help="Why a client takes part or not, and what it costs to force it in or out.",
            rich_help_panel=QUESTION,
            metavar="CLIENT",
        ),
    ] = None
    least: Annotated[
        str | None,
        typer.Option(
            help="The least bandwidth_hz, deadline_s or energy_budget_j that will do.",
            rich_help_panel=QUESTION,
            metavar="LIMIT",
        ),
    ] = None
    vary: Annotated[
        list[str] | None,
        typer.Option(
            help="Decide for several values of a limit, such as bandwidth_hz=1e6..8e6 (eight of them) or "
            "deadline_s=0.5,1,2; can be repeated.",
            rich_help_panel=QUESTION,
            metavar="LIMIT=VALUES",
        ),
    ] = None
    picture: Annotated[
        Path | None,
        typer.Option(
            help="Also draw the round, or what was varied, as PNG or SVG.",
            rich_help_panel=OUTPUT,
            metavar="PICTURE.png",
        ),
    ] = None

    @property
    def asked(self) -> list[str]:
        """Those that were asked, by their options."""
        return [f"--{name}" for name in ("why", "least", "vary") if getattr(self, name)]


def check_questions(questions: Questions, solver: str, *, compared: bool, out: Path | None) -> None:
    """Refuse what cannot be answered together, before anything is read."""
    asked = questions.asked
    if len(asked) > 1:
        raise InvalidInput(f"{' and '.join(asked)} are two questions: ask one at a time")
    if asked and (compared or out is not None):
        raise InvalidInput(f"{asked[0]} and {'--compare' if compared else '--out'} do not go together")
    if asked and solver != "certified":
        raise InvalidInput(f"{asked[0]} needs a proof: it works with certified, not with {solver}")
    if questions.picture is not None:
        if compared or questions.why:
            raise InvalidInput("--picture draws one round, or what --vary varies")
        if questions.picture.suffix.lower() not in (".png", ".svg"):
            raise InvalidInput(f"--picture must end in .png or .svg, not {questions.picture.name!r}")
        check_writable(questions.picture, table=False)
    for text in questions.vary or []:
        parse_variation(text)


def parse_variation(text: str) -> tuple[str, list[float]]:
    """`bandwidth_hz=1e6..8e6` or `deadline_s=0.5,1,2` as a name and its values."""
    name, equals, values = text.partition("=")
    name = name.strip().removeprefix("--").replace("-", "_")
    known = [item.name for item in fields(Limits) if item.name not in _NAMED]
    if not equals or name not in known:
        raise InvalidInput(
            f"--vary {text!r}: give one of {', '.join(known)} and its values, as in deadline_s=0.5,1,2"
        )
    first, dots, last = values.partition("..")
    try:
        if dots:
            low, high = float(first), float(last)
            chosen = [low + (high - low) * step / (STEPS - 1) for step in range(STEPS)]
        else:
            chosen = [float(value) for value in values.split(",")]
        if name in _WHOLE and not dots and any(value % 1.0 for value in chosen):
            raise InvalidInput(f"--vary {text!r}: {name} takes whole numbers")
        if name in _WHOLE:
            chosen = [round(value) for value in chosen]
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"--vary {text!r}: {values!r} is neither numbers like 0.5,1,2 nor a range like 1..8"
        ) from None
    return name, list(dict.fromkeys(chosen))


def answer(questions: Questions, problem: "RoundProblem", options: dict[str, Any], as_json: bool) -> None:
    """Answer the one question that was asked."""
    from wisefl.cli.startup import import_numba

    import_numba()
    from wisefl.decision import questions as asked

    if questions.why is not None:
        _show_why(asked.why(problem, questions.why, **options), as_json)
    elif questions.least is not None:
        found = asked.least(problem, questions.least.removeprefix("--").replace("-", "_"), **options)
        _show_least(found, as_json)
        if questions.picture is not None:
            draw_round(found.decision, questions.picture, as_json)
    else:
        _answer_vary(questions, problem, options, as_json)


def _answer_vary(questions: Questions, problem: "RoundProblem", options: dict[str, Any], as_json: bool) -> None:
    from wisefl.decision.questions import vary

    values: dict[str, list[float]] = {}
    for text in questions.vary or []:
        name, chosen = parse_variation(text)
        if name in values:
            raise InvalidInput(f"--vary {name} is given twice: join its values with commas")
        values[name] = chosen
    found = list(vary(problem, values, **options))
    if as_json:
        print_json([what_if_object(one) for one in found])
    else:
        from wisefl.cli.answers import show_vary

        show_vary(found)
    if questions.picture is not None:
        from wisefl.plots.round import plot_vary

        plot_vary(found, questions.picture)
        _drawn(questions.picture, as_json)


def draw_round(decision: "Decision", path: Path, quiet: bool) -> None:
    """The picture of a round, as a file."""
    from wisefl.plots.round import plot_round

    plot_round(decision, path)
    _drawn(path, quiet)


def _drawn(path: Path, quiet: bool) -> None:
    if not quiet:
        typer.echo(f"picture written to {path}")


def _show_why(found: "Why", as_json: bool) -> None:
    if not as_json:
        from wisefl.cli.answers import show_why

        show_why(found)
        return
    print_json(why_object(found))


def _show_least(found: "LeastAnswer", as_json: bool) -> None:
    if not as_json:
        from wisefl.cli.answers import show_least

        show_least(found)
        return
    print_json(least_object(found))
