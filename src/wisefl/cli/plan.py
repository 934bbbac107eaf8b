"""`wisefl plan`: decide one round of a fleet."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
import typer

from wisefl.api.objects import CLIENT_COLUMNS, client_rows, comparison_objects, decision_object
from wisefl.cli.errors import Command, name_options, option_spelling
from wisefl.cli.options import METHOD, OUTPUT, FleetPath, MaxGap, Reading, TimeLimit, new_app, typed, with_groups
from wisefl.cli.output import STANDARD_OUTPUT, check_options, check_writable, print_json
from wisefl.cli.questions import Questions, answer, check_questions, draw_round
from wisefl.cli.reading import read_fleet
from wisefl.cli.startup import import_numba, patience
from wisefl.decision.limits import Limits
from wisefl.errors import InvalidInput, WiseFLError

if TYPE_CHECKING:
    from wisefl.decision import Decision, RoundProblem

app = new_app()

METHOD_OPTIONS: dict[str, tuple[str, ...]] = {
    "certified": ("max_gap", "time_limit"),
    "scip": ("max_gap", "time_limit"),
    **dict.fromkeys(("dc", "cs-random", "cs-greedy"), ("reading",)),
}
"""Which of the options that belong to some methods only each method takes."""
DRAWING = frozenset({"ga", "random-k", "random"})
"""Selectors and allocators whose decision depends on the seed."""


@dataclass(frozen=True)
class Method:
    """Who decides, and how."""

    solver: Annotated[
        str,
        typer.Option(
            help="Who decides: certified, dc, scip, brute, cs-random, cs-greedy, ga-random, ga-greedy, "
            "or a selector+allocator such as best-channel+equal.",
            rich_help_panel=METHOD,
            metavar="NAME",
        ),
    ] = "certified"
    max_gap: MaxGap = 1e-3
    time_limit: TimeLimit = 60.0
    seed: Annotated[int, typer.Option(help="For methods that draw lots.", rich_help_panel=METHOD)] = 0
    reading: Annotated[
        Reading,
        typer.Option(
            help="Algorithms 1 and 2 to the letter, as they are meant, or at their best (dc, cs-random, cs-greedy).",
            rich_help_panel=METHOD,
        ),
    ] = Reading.REPAIRED

    @property
    def options(self) -> dict[str, Any]:
        """Those that some methods only take."""
        return {"max_gap": self.max_gap, "time_limit": self.time_limit, "reading": self.reading.value}


@app.command(cls=Command)
@with_groups()
def plan(
    ctx: typer.Context,
    fleet: FleetPath,
    limits: Limits,
    method: Method,
    questions: Questions,
    compare: Annotated[
        str | None,
        typer.Option(
            help="Decide with all of these methods and show them side by side.",
            rich_help_panel=METHOD,
            metavar="NAME,NAME,...",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON and nothing else.", rich_help_panel=OUTPUT)
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Also write the selected clients, as .csv, .json or .xlsx; - is the standard output.",
            rich_help_panel=OUTPUT,
            metavar="DECISION.csv",
        ),
    ] = None,
) -> None:
    """Decide who trains this round, with what share of the band and at what CPU frequency.

    FLEET has one row per client, as `wisefl fleet` writes it. The defaults are the paper's. The default
    solver proves how far from the optimum its decision can be at most.
    """
    check_options(method.max_gap, method.time_limit, method.seed)
    check_questions(questions, method.solver, compared=compare is not None, out=out)
    if compare is not None:
        if out is not None:
            raise InvalidInput("--out writes one decision: leave --compare out and name its method with --solver")
        if typed(ctx, "solver"):
            raise InvalidInput(f"--compare names the methods: add {method.solver} to them and leave --solver out")
        names = _method_names(compare)
        _refuse_idle_options(ctx, names)
        results = _compare(names, fleet, limits, method)
        spelling = option_spelling(ctx.command)
        named = {name: name_options(r, spelling) if isinstance(r, str) else r for name, r in results.items()}
        _show_comparison(comparison_objects(named), as_json=as_json)
        return
    _check_method(method.solver)
    _refuse_idle_options(ctx, [method.solver])
    check_writable(out, as_json=as_json)
    problem = _problem(fleet, limits)
    if questions.asked:
        with patience():
            answer(questions, problem, _given(method.solver, method), as_json)
        return
    with _waiting(method.solver):
        decision = _decide(method.solver, problem, method)
    _show(decision, as_json, out)
    if questions.picture is not None:
        draw_round(decision, questions.picture, as_json or out == STANDARD_OUTPUT)


def _show(decision: "Decision", as_json: bool, out: Path | None) -> None:
    if out is not None:
        from wisefl.sheets import write_table

        write_table(out, CLIENT_COLUMNS, ([*row.values()] for row in client_rows(decision)))
    if as_json:
        print_json(decision_object(decision))
    elif out != STANDARD_OUTPUT:
        from wisefl.cli.tables import show_decision

        show_decision(decision)


def _refuse_idle_options(ctx: click.Context, methods: list[str]) -> None:
    """An option that every chosen method would ignore is a misunderstanding worth a sentence."""
    for name in dict.fromkeys(option for taken in METHOD_OPTIONS.values() for option in taken):
        if typed(ctx, name) and not any(name in METHOD_OPTIONS.get(method, ()) for method in methods):
            takers = [method for method, taken in METHOD_OPTIONS.items() if name in taken]
            option = f"--{name.replace('_', '-')}"
            raise InvalidInput(f"{option} works with {' and '.join(takers)}, not with {' and '.join(methods)}")
    if typed(ctx, "seed") and not any(_draws_lots(method) for method in methods):
        raise InvalidInput(f"--seed is for methods that draw lots, which {' and '.join(methods)} does not")


def _draws_lots(method: str) -> bool:
    from wisefl.policies import ALIASES

    return not DRAWING.isdisjoint(ALIASES.get(method, method).split("+"))


def _method_names(compare: str) -> list[str]:
    chosen = list(dict.fromkeys(name.strip() for name in compare.split(",") if name.strip()))
    if not chosen:
        raise InvalidInput("compare must name at least one method, such as certified,dc,ga-greedy")
    for name in chosen:
        _check_method(name)
    return chosen


def _check_method(name: str) -> None:
    from wisefl.policies import names

    if name not in names():
        raise InvalidInput(f"there is no method {name!r}; there are {', '.join(names())}")


def _problem(fleet: Path, limits: Limits) -> "RoundProblem":
    from wisefl.decision.problem import RoundProblem

    return RoundProblem.build(read_fleet(fleet, limits), limits=limits)


def _decide(name: str, problem: "RoundProblem", method: Method) -> "Decision":
    import_numba()
    from wisefl.policies import decide

    return decide(name, problem, seed=method.seed, **_given(name, method))


def _given(name: str, method: Method) -> dict[str, Any]:
    """The options that this method takes."""
    taken = METHOD_OPTIONS.get(name, ())
    return {option: value for option, value in method.options.items() if option in taken and value is not None}


def _compare(names: list[str], fleet: Path, limits: Limits, method: Method) -> "dict[str, Decision | str]":
    """What every method decides, or why it cannot; the comparison goes on without those."""
    problem = _problem(fleet, limits)
    results: dict[str, Decision | str] = {}
    for name in names:
        try:
            with _waiting(name):
                results[name] = _decide(name, problem, method)
        except WiseFLError as error:
            results[name] = str(error)
    if all(isinstance(result, str) for result in results.values()):
        raise InvalidInput("; ".join(str(result) for result in results.values()))
    return results


def _show_comparison(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json(rows)
        return
    from wisefl.cli.tables import show_comparison

    show_comparison(rows)


@contextmanager
def _waiting(method: str) -> Iterator[None]:
    """A sign of life on a terminal while a slow method works; the default one is slow the first time only."""
    if method == "certified" or not sys.stderr.isatty():
        with patience():
            yield
        return
    from wisefl.cli.screen import console

    with console(stderr=True).status(f"{method} ..."):
        yield
