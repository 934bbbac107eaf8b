"""Whether any set of clients can keep the limits on who takes part, and if not, which one to loosen and to what.

What a set then costs in time, band and energy is the solvers' business.
"""

import numpy as np

from wisefl.arrays import Floats, Ints, Mask
from wisefl.decision.limits import Limits
from wisefl.errors import InfeasibleProblem, InvalidInput
from wisefl.fleet import Fleet
from wisefl.words import several


def check_coverage(divergence: Floats, within: Mask, samples: Ints, limits: Limits) -> None:
    """The clients within the divergence hold enough samples."""
    total = int(samples.sum())
    if total < limits.min_samples:
        raise InfeasibleProblem(
            f"the whole fleet holds {total} samples, fewer than min_samples = {limits.min_samples}: "
            f"lower min_samples to at most {total}"
        )
    held = int(samples[within].sum())
    if held >= limits.min_samples:
        return
    order = np.argsort(divergence, kind="stable")
    enough = np.searchsorted(np.cumsum(samples[order]), limits.min_samples)
    needed = divergence[order[enough]]
    loosen = (
        f"raise max_divergence to at least {round_up(needed)}"
        if np.isfinite(needed)
        else "set max_divergence to inf or give smoothing a value above 0 (some clients lack a class)"
    )
    if not within.any():
        nearest = float(divergence.min())
        raise InfeasibleProblem(
            f"no client has a divergence of at most max_divergence = {limits.max_divergence:g} "
            f"(the smallest is {nearest:.4g}): {loosen}"
        )
    raise InfeasibleProblem(
        f"the {int(within.sum())} clients within max_divergence = {limits.max_divergence:g} hold {held} samples, "
        f"fewer than min_samples = {limits.min_samples}: lower min_samples to at most {held}, or {loosen}"
    )


def named_clients(fleet: Fleet, names: tuple[str, ...], field: str) -> Mask:
    """Marks these clients of a fleet; a name that nobody has is a mistake."""
    marked = np.isin(fleet.client, names) if names else np.zeros(len(fleet), dtype=bool)
    if np.count_nonzero(marked) < len(names):
        known = set(fleet.client[marked].tolist())
        unknown = next(name for name in names if name not in known)
        raise InvalidInput(f"{field}: there is no client {unknown!r} in the fleet")
    return marked


def check_named(fleet: Fleet, divergence: Floats, within: Mask, required: Mask, limits: Limits) -> None:
    """Nobody who must take part is too far from everybody's labels."""
    far = required & ~within
    if far.any():
        at = int(np.argmax(far))
        own = float(divergence[at])
        wanted = (
            f"raise max_divergence to at least {round_up(own)}" if np.isfinite(own) else "set max_divergence to inf"
        )
        raise InfeasibleProblem(
            f"client {str(fleet.client[at])!r}, which is required, has a divergence of {own:.4g}, above "
            f"max_divergence = {limits.max_divergence:g}: {wanted}, or do not require it"
        )


def check_heads(eligible: Mask, required: Mask, samples: Ints, limits: Limits) -> None:
    """Who is left over by `forbidden` covers, and neither too many nor too few clients are needed for it."""
    others = np.sort(samples[eligible & ~required])[::-1]
    named = int(np.count_nonzero(required))
    held, count = int(samples[eligible].sum()), int(np.count_nonzero(eligible))
    if held < limits.min_samples:
        raise InfeasibleProblem(
            f"without the forbidden clients the {count} eligible ones hold {held} samples, fewer than min_samples = "
            f"{limits.min_samples}: lower min_samples to at most {held}, or forbid fewer"
        )
    if count < limits.min_clients:
        raise InfeasibleProblem(
            f"{several(count, 'eligible client')}, fewer than min_clients = {limits.min_clients}: "
            f"lower min_clients to at most {count}"
        )
    if limits.max_clients is None:
        return
    if named > limits.max_clients:
        raise InfeasibleProblem(
            f"{named} clients are required, more than max_clients = {limits.max_clients}: "
            f"raise max_clients to at least {named}"
        )
    base = int(samples[required].sum())
    largest = base + np.concatenate([[0], np.cumsum(others)])
    most = int(largest[min(limits.max_clients - named, others.size)])
    if most < limits.min_samples:
        needed = named + int(np.searchsorted(largest, limits.min_samples))
        raise InfeasibleProblem(
            f"max_clients = {limits.max_clients} clients hold {most} samples at the most, fewer than min_samples = "
            f"{limits.min_samples}: raise max_clients to at least {needed}, or lower min_samples to at most {most}"
        )


def round_up(value: float, digits: int = 4) -> str:
    """A number of so many digits that is not below the value, so that following the advice works."""
    exponent = int(np.floor(np.log10(value))) if value > 0 else 0
    step = 10.0 ** (exponent - digits + 1)
    text = f"{np.ceil(value / step) * step:.{digits}g}"
    return text if float(text) >= value else f"{(np.ceil(value / step) + 1) * step:.{digits}g}"
