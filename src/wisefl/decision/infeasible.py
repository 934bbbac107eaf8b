"""Whether any set of clients can keep the limits on time and energy; if none can, what to loosen and to what value.

Every value that a sentence names was computed: what is below it is proved not to do, and with it some set will.
"""

from dataclasses import replace

from wisefl.arrays import Ints
from wisefl.decision.allocation import MET
from wisefl.decision.deadline.least import (
    band_will_do,
    far_deadline,
    least_band,
    least_energy,
    least_value,
    mixture_will_do,
)
from wisefl.decision.feasibility import round_up
from wisefl.decision.problem import RoundProblem
from wisefl.errors import InfeasibleProblem

LARGEST_DIVERGENCE = 100.0
"""In nats; a set that holds every class is within it whatever its mixture."""


def sets_within(problem: RoundProblem) -> list[Ints]:
    """Sets (positions among the candidates) that keep the limits on time and energy; none there are is an error."""
    limits = problem.limits
    if limits.limits_mixture and mixture_will_do(problem) is False:
        raise InfeasibleProblem(_too_far(problem))
    longest = far_deadline(problem) if limits.deadline_s is None else limits.deadline_s
    by_band = least_band(problem, longest)
    if by_band.bound > 1.0 + MET:
        raise InfeasibleProblem(_too_slow(problem))
    sets = [by_band.members] if by_band.members.size else []
    if limits.energy_budget_j is not None:
        by_energy = least_energy(problem, longest)
        if by_energy.bound > limits.energy_budget_j * (1.0 + MET):
            raise InfeasibleProblem(_too_dear(problem, limits.energy_budget_j, by_energy.value))
        sets.append(by_energy.members)
    return sets


def _too_far(problem: RoundProblem) -> str:
    """No allowed set is representative."""
    limits, most = problem.limits, LARGEST_DIVERGENCE
    begin = f"no set of clients{_asked(problem, alone=True)} is within max_divergence = {limits.max_divergence:g}"

    def will_do(limit: float) -> bool | None:
        return mixture_will_do(replace(problem, limits=replace(limits, max_divergence=limit)))

    if will_do(most) is not True:
        return f"{begin}, whatever it is raised to: forbid fewer or give smoothing a value above 0"
    _, least = least_value(will_do, limits.max_divergence, most)
    return f"{begin}: raise max_divergence to at least {round_up(least)}"


def _too_slow(problem: RoundProblem) -> str:
    """No allowed set is fast enough, at any price."""
    far, longest = far_deadline(problem), problem.limits.deadline_s
    if longest is None or band_will_do(problem, far) is not True:
        _, factor = least_value(
            lambda by: band_will_do(_with_more_energy(problem, by), far), 1.0, _enough(problem, far)
        )
        return (
            f"no set of clients{_asked(problem)} keeps max_energy_j, whatever its deadline: "
            f"raise max_energy_j to at least {round_up(factor)} times what it is"
        )
    _, shortest = least_value(lambda deadline: band_will_do(problem, deadline), longest, far)
    return (
        f"no set of clients{_asked(problem)} finishes within deadline_s = {longest:g}: "
        f"raise deadline_s to at least {round_up(shortest)}"
    )


def _too_dear(problem: RoundProblem, budget: float, fewest_j: float) -> str:
    """No allowed set is thrifty enough."""
    limits = problem.limits
    text = (
        f"no set of clients{_asked(problem)} does with energy_budget_j = {budget:g}"
        + ("" if limits.deadline_s is None else f" within deadline_s = {limits.deadline_s:g}")
        + f": raise energy_budget_j to at least {round_up(fewest_j)}"
    )
    far = far_deadline(problem)
    if limits.deadline_s is None or least_energy(problem, far).value > budget:
        return text
    _, shortest = least_value(lambda deadline: energy_will_do(problem, deadline, budget), limits.deadline_s, far)
    return f"{text}, or deadline_s to at least {round_up(shortest)}"


def energy_will_do(problem: RoundProblem, deadline: float, budget: float) -> bool | None:
    """Whether some allowed set meets a deadline with so many joules; None where that is not known."""
    if band_will_do(problem, deadline) is not True:
        return band_will_do(problem, deadline)
    least = least_energy(problem, deadline)
    if least.value <= budget:
        return True
    return False if least.bound > budget else None


def _with_more_energy(problem: RoundProblem, factor: float) -> RoundProblem:
    return replace(problem, fleet=replace(problem.fleet, max_energy_j=factor * problem.max_energy_j))


def _enough(problem: RoundProblem, far: float) -> float:
    """A factor on everybody's joules that certainly does."""
    factor = 2.0
    while factor < 1e12 and band_will_do(_with_more_energy(problem, factor), far) is not True:
        factor *= 2.0
    return factor


def _asked(problem: RoundProblem, alone: bool = False) -> str:
    """What else is asked of a set, for a sentence; `alone` without its divergence."""
    limits = problem.limits
    parts = [f"min_samples = {limits.min_samples}"]
    parts += [
        f"{name} = {getattr(limits, name)}" for name in ("min_clients", "max_clients") if name in problem.wishes
    ]
    parts += ["the required clients"] if limits.required else []
    parts += ["without the forbidden ones"] if limits.forbidden and limits.limits_mixture else []
    parts += [f"max_divergence = {limits.max_divergence:g}"] if limits.limits_mixture and not alone else []
    parts += ["max_energy_j"] if "max_energy_j" in problem.wishes and limits.deadline_s is not None else []
    return f" with {' and '.join(parts)}"
