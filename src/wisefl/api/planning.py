"""One round, decided by one call."""

from dataclasses import dataclass, fields
from html import escape
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from wisefl.api.picture import Picture
from wisefl.decision import Decision, Limits, RoundProblem
from wisefl.decision import solve as decide
from wisefl.errors import InvalidInput
from wisefl.fleet import Fleet
from wisefl.frames import make_frame
from wisefl.words import several

_LIMITS = {item.name: item for item in fields(Limits)}


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Decision):
    """A decision as a program or a notebook looks at it: as a frame, in words, as a picture."""

    def columns(self) -> dict[str, list[Any]]:
        """Every client of the fleet in columns; times and energies of who is not selected are NaN, not 0."""
        told = {"share": self.share, "frequency_hz": self.frequency_hz, "upload_s": self.upload_s}
        told |= {"compute_s": self.compute_s, "upload_j": self.upload_j, "compute_j": self.compute_j}
        only = {name: np.where(self.selected, values, np.nan).tolist() for name, values in told.items()}
        return {
            "client": self.problem.fleet.client.tolist(),
            "selected": self.selected.tolist(),
            "eligible": self.problem.eligible.tolist(),
            "samples": self.problem.samples.tolist(),
            "divergence": self.problem.divergence.tolist(),
            **only,
        }

    def to_frame(self) -> Any:
        """`columns` as a data frame: pandas where it is installed."""
        return make_frame(self.columns())

    def summary(self) -> str:
        """What was decided, what it costs, and what is proved of it."""
        limits = self.problem.limits
        chosen = f"{int(self.selected.sum())} of {int(self.problem.eligible.sum())} eligible clients train"
        gap = "" if self.gap is None else f", at most {100.0 * max(self.gap, 0.0):.2g}% above the optimum"
        broken = self.violations()
        return "\n".join(
            [
                f"{chosen} ({len(self.problem)} in the fleet), {self.samples} samples",
                f"latency {self.latency_s:.4g} s, energy {self.energy_j:.4g} J, objective {self.objective:.4g}{gap}",
                f"assumed: {limits.model_bits:g} bits per upload, {limits.bits_per_sample:g} bits per sample, "
                f"{limits.bandwidth_hz:g} Hz",
                *([f"breaks limits: {', '.join(broken)}"] if broken else []),
            ]
        )

    def plot(self) -> Picture:
        """Where the selected clients' time and energy go."""
        from wisefl.plots.decision import draw_decision

        return Picture(draw_decision(self))

    def __repr__(self) -> str:
        clients = int(self.selected.sum())
        return f"<Plan by {self.solver}: {several(clients, 'client')}, {self.latency_s:.4g} s, {self.energy_j:.4g} J>"

    def _repr_html_(self) -> str:
        lines = "<br>".join(map(escape, self.summary().split("\n")))
        chosen = [name for name, selected in zip(self.problem.fleet.client, self.selected, strict=True) if selected]
        shown = ", ".join(map(escape, chosen[:30])) + (f" and {len(chosen) - 30} more" if len(chosen) > 30 else "")
        return f"<p>{lines}<br>clients: {shown}</p>"


def solve(problem: RoundProblem, solver: str = "certified", **options: Any) -> Plan:
    """Decide a round's problem; `options` are the solver's own."""
    if not isinstance(problem, RoundProblem):
        raise InvalidInput(
            f"problem is {type(problem).__name__}, but a RoundProblem is needed; wisefl.plan takes a fleet as it is"
        )
    return planned(decide(problem, solver, **options))


def plan(
    fleet: Fleet | str | Path | Any,
    *,
    channel_gain: ArrayLike | None = None,
    solver: str = "certified",
    **limits_and_options: Any,
) -> Plan:
    """Decide a round of a fleet: a `Fleet`, its file (.csv, .json, .xlsx), or a data frame with the same columns.

    What is named like a field of `Limits` is one (`min_samples=3000, bandwidth_hz=4e6`); everything else is an option
    of the solver or policy (`max_gap=1e-4`). `solver` is any name that `wisefl plan --solver` knows.
    """
    from wisefl.policies import check
    from wisefl.policies import decide as by_policy

    limits = {name: value for name, value in limits_and_options.items() if name in _LIMITS}
    options = {name: value for name, value in limits_and_options.items() if name not in _LIMITS}
    for name, value in limits.items():
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number and not isinstance(_LIMITS[name].default, str):
            raise InvalidInput(f"{name} must be a number, not {value!r}")
    _check_text("solver", solver)
    try:
        check(solver, options)
    except InvalidInput as error:
        if "has no option" in str(error):
            raise InvalidInput(f"{error}; limits are {', '.join(_LIMITS)}") from None
        raise
    gain = None if channel_gain is None else np.asarray(channel_gain, dtype=float)
    problem = RoundProblem.build(fleet_of(fleet), gain, Limits(**limits))
    return planned(by_policy(solver, problem, **options))


def fleet_of(given: Any) -> Fleet:
    """A fleet from what stands for one."""
    if isinstance(given, Fleet):
        return given
    if isinstance(given, str | Path):
        return Fleet.read(given)
    return Fleet.from_frame(given)


def planned(decision: Decision) -> Plan:
    return Plan(**{item.name: getattr(decision, item.name) for item in fields(Decision)})


def _check_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is {type(value).__name__}, but a name is needed, such as 'certified'")
