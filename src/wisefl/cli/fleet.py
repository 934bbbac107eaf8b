"""`wisefl fleet`: a random fleet by the paper's table, as a CSV, JSON or Excel file."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wisefl.cli.errors import Command
from wisefl.cli.options import new_app
from wisefl.cli.output import check_writable
from wisefl.words import several

app = new_app()

_PAPER_DIVERGENCE = 0.2


class Clock(StrEnum):
    """Unit of the paper's 2 to 5 for the largest CPU frequency."""

    GHZ = "ghz"
    MHZ = "mhz"

    @property
    def hertz(self) -> float:
        return 1e9 if self is Clock.GHZ else 1e6


@app.command(cls=Command)
def fleet(
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="Where to write the fleet, as .csv, .json or .xlsx; - is the standard output.",
            metavar="FLEET.csv",
        ),
    ],
    clients: Annotated[int, typer.Option(help="How many clients.")] = 80,
    seed: Annotated[int, typer.Option(help="The same seed gives the same fleet.")] = 0,
    samples: Annotated[
        int | None, typer.Option(help="Samples of all clients together.", show_default="750 per client")
    ] = None,
    classes: Annotated[int, typer.Option(help="Classes of the samples.")] = 10,
    mean_gain: Annotated[float, typer.Option(help="Mean of the fading power |h|^2.")] = 1.0,
    clock: Annotated[
        Clock, typer.Option(help="Largest CPU frequencies are 2 to 5 of these; the paper prints mhz.")
    ] = Clock.GHZ,
) -> None:
    """Draw a random fleet by the paper's table: places, radios, CPUs, label counts and channel gains."""
    check_writable(out)
    import numpy as np

    from wisefl.divergence import client_divergence
    from wisefl.fleet import Fleet

    drawn = Fleet.random(
        clients, seed, samples=samples, classes=classes, frequency_unit_hz=clock.hertz, mean_gain=mean_gain
    )
    drawn.write(out)
    near = int(np.count_nonzero(client_divergence(drawn.label_counts) <= _PAPER_DIVERGENCE))
    told = (
        f"{several(len(drawn), 'client')} with {int(drawn.samples.sum())} samples of {classes} classes, {near} of "
        f"them within divergence {_PAPER_DIVERGENCE}"
    )
    typer.echo(f"{told}\nwritten to {out}", err=str(out) == "-")
