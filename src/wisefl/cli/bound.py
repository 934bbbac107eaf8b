"""`wisefl bound`: Theorem 1 for a run, term by term, beside the gap that was measured."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wisefl.cli.errors import Command
from wisefl.cli.options import OUTPUT, new_app
from wisefl.cli.output import print_json
from wisefl.errors import InvalidInput

if TYPE_CHECKING:
    from wisefl.theory.assessment import Assessment

app = new_app()

_TERMS = {
    "drift": "local steps between averages, added up over the rounds (Lemma 3)",
    "size": "few samples, spread over many clients",
    "divergence": "labels of each client against everybody's, added up",
    "sample": "c^2 / 8d",
    "stability": "how far one replaced sample moves the model (C_beta)",
}
_REPAIRED = {
    "expected": "beta, the mean effect of one replaced sample",
    "fluctuation": "how far chance can add to it (McDiarmid)",
    "divergence": "labels of the selected *together* against everybody's (Pinsker)",
}
_CONSTANTS = {
    "smoothness": "lambda, largest curvature of a sample's loss that was met",
    "lipschitz": "L, steepest slope of a sample's loss that was met",
    "loss_bound": "c, largest loss of a sample that was met; cross entropy itself has no largest",
    "stability": "beta, largest change of a sample's loss by one replaced sample",
    "gradient_variance": "sigma^2, of a mini-batch around its client's gradient",
}
_TOTALS = ("bound as printed", "bound repaired", "measured gap")
_ROUNDING = 1e-4


@app.command(cls=Command)
def bound(
    folder: Annotated[Path, typer.Argument(metavar="RUN_FOLDER", help="A folder made by `wisefl run`.")],
    delta: Annotated[
        float, typer.Option(help="The bound may fail with this probability.", metavar="PROBABILITY")
    ] = 0.05,
    replacements: Annotated[
        int,
        typer.Option(help="Trainings with one sample replaced, for the stability; each as long as the run.", min=1),
    ] = 3,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON and nothing else.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Compute the generalisation bound of the paper's Theorem 1 for a run, and say how loose it is.

    The run is trained again from its records to see its models on the way. The constants are the largest values met,
    so the bound is a lower estimate of what the theorem would say; docs/theorem.md explains every term.
    """
    if not 0.0 < delta < 1.0:
        raise InvalidInput(f"--delta must be above 0 and below 1, not {delta:g}")
    from wisefl.run.folder import RunFolder

    run = RunFolder.open(folder)
    from wisefl.theory.assessment import assess
    from wisefl.theory.effort import Effort
    from wisefl.theory.replay import course_of_run

    course, stored = course_of_run(run)
    found = assess(course, delta=delta, effort=Effort(replacements=replacements), stored=stored)
    if as_json:
        print_json({"run": str(folder), **found.as_object()})
        return
    show(found)


def show(found: "Assessment") -> None:
    """The terms as a table, then what they say in words."""
    from wisefl.cli.layout import echo, say, table

    say(
        f"Theorem 1 after round {found.round}: {found.clients} clients with {found.samples} samples trained, "
        f"delta {found.delta:g}",
        bold=True,
    )
    echo()
    rows = _rows(found)
    strong = [at for at, (name, _, _) in enumerate(rows) if name in _TOTALS]
    heads = ("term", "value", "what it is")
    table([dict(zip(heads, row, strict=True)) for row in rows], folded="what it is", strong=strong)
    echo()
    for line in verdict(found):
        say(line)


def _rows(found: "Assessment") -> list[tuple[str, str, str]]:
    """Every figure with its name and what it is, the totals below their parts."""
    printed, repaired = found.bound.terms().items(), found.repaired.terms().items()
    return [
        *((name, _number(value), _TERMS[name]) for name, value in printed),
        ("bound as printed", _number(found.bound.total), ""),
        *((name, _number(value), _REPAIRED[name]) for name, value in repaired),
        ("bound repaired", _number(found.repaired.total), ""),
        ("population loss", _number(found.population_loss), "on the test set"),
        ("empirical loss", _number(found.empirical_loss), "on the data of the clients that trained"),
        ("measured gap", _number(found.gap), f"standard error {found.gap_error:.2g}"),
        *(
            (name.replace("_", " "), _number(value), _CONSTANTS[name])
            for name, value in found.constants.as_dict().items()
        ),
    ]


def verdict(found: "Assessment") -> list[str]:
    """How loose the bounds are, in words."""
    from wisefl.theory.bound import largest_term, looseness

    terms, total, c = found.bound.terms(), found.bound.total, found.constants.loss_bound
    lines = []
    if total == float("inf"):
        lines.append("The printed bound is infinite: a client that trained lacks a class that others have.")
    else:
        worst = largest_term(terms)
        share = f"{terms[worst] / total:.1%} of it is {worst}"
        lines.append(f"The printed bound is {_times(found.ratio)} the measured gap; {share}.")
    lines.append(f"Repaired, it is {_times(looseness(found.repaired.total, found.gap))} the gap.")
    if min(total, found.repaired.total) >= c:
        lines.append(f"Neither says more than that no gap exceeds the largest loss met, {c:.3g}.")
    if found.lemma_two_broken:
        lines.append(f"Lemma 2, on which drift rests, is broken in {found.lemma_two_broken} of {found.round} rounds.")
    lines.append(
        "All constants are the largest values met, lower estimates of the suprema that the theorem asks for."
    )
    apart = found.replay_difference
    if apart > _ROUNDING:
        lines.append(
            f"Trained again, the run ended {apart:.2g} away from its checkpoint: is that of another version?"
        )
    return lines


def _times(ratio: float) -> str:
    return "not comparable with" if ratio == float("inf") else f"{_number(ratio)} times"


def _number(value: float) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        return "infinite" if value > 0 else str(value)
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"
