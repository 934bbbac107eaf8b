"""One round's problem P1': the clients that pass the divergence filter, their costs, and the limits."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats, Mask
from wisefl.cost import work_cycles
from wisefl.decision.feasibility import check_coverage, check_heads, check_named, named_clients
from wisefl.decision.limits import Limits
from wisefl.divergence import client_divergence
from wisefl.errors import InvalidInput
from wisefl.fleet import Fleet
from wisefl.radio.uplink import full_band_rate, watts

LARGEST_RATIO = 1e12
"""Between a client's upload time and its compute time; sixteen digits are all there is for their sum."""


def rate_of(fleet: Fleet, gain: Floats, limits: Limits) -> Floats:
    """What every client could send with the whole band, in bit/s."""
    return full_band_rate(
        fleet.distance_m,
        fleet.transmit_power_dbm,
        gain,
        bandwidth_hz=limits.bandwidth_hz,
        noise_dbm_hz=limits.noise_dbm_hz,
        carrier_hz=limits.carrier_hz,
        path_loss_exponent=limits.path_loss_exponent,
    )


@dataclass(frozen=True, eq=False)
class RoundProblem:
    """P1' of one round; arrays run over the whole fleet, `eligible` marks who may be selected.

    With c = `full_band_upload_s`, w = `work_cycles`, P = `transmit_power_w` and n = `samples`, a set S, shares b
    and frequencies f cost `latency_weight T + energy_weight sum_S (P c / b + eps w f^2)`, where
    `c / b + w / f <= T`, `sum b <= 1`, `f <= max_frequency_hz` and `sum_S n >= min_samples`. With the limit on the
    mixture everybody is eligible and S as a whole must be within `max_divergence`.

    A planner may ask for more (`wishes`): with the clients' own weights and values the objective is
    `latency_weight T + sum_S (energy_weight weight_k E_k - value_k)`, and T, the joules of each and of all, S and its
    size may be limited.
    """

    fleet: Fleet
    limits: Limits
    eligible: NDArray[np.bool_]
    divergence: Floats
    full_band_upload_s: Floats
    work_cycles: Floats
    transmit_power_w: Floats
    max_frequency_hz: Floats
    samples: NDArray[np.int64]

    @classmethod
    def build(cls, fleet: Fleet, channel_gain: Floats | None = None, limits: Limits | None = None) -> "RoundProblem":
        """Apply the divergence filter and price everybody; `channel_gain` None takes the fleet's own."""
        limits = limits or Limits()
        gain = fleet.channel_gain if channel_gain is None else np.asarray(channel_gain, dtype=float)
        if gain.shape != (len(fleet),) or not (np.isfinite(gain) & (gain > 0.0)).all():
            raise InvalidInput("channel_gain needs one number greater than 0 for every client")
        divergence = client_divergence(fleet.label_counts, limits.smoothing)
        # A mixture always exists: everybody together is as far from everybody as can be wished, 0.
        within = (divergence <= limits.max_divergence) | (limits.divergence == "mixture")
        samples = fleet.samples
        check_coverage(divergence, within, samples, limits)
        required = named_clients(fleet, limits.required, "required")
        check_named(fleet, divergence, within, required, limits)
        eligible = within & ~named_clients(fleet, limits.forbidden, "forbidden")
        check_heads(eligible, required, samples, limits)
        with np.errstate(over="ignore", divide="ignore", under="ignore"):
            rate = rate_of(fleet, gain, limits)
            problem = cls(
                fleet=fleet,
                limits=limits,
                eligible=eligible,
                divergence=divergence,
                full_band_upload_s=limits.model_bits / rate,
                work_cycles=work_cycles(limits.epochs, fleet.cycles_per_bit, samples, limits.bits_per_sample),
                transmit_power_w=watts(fleet.transmit_power_dbm),
                max_frequency_hz=fleet.max_frequency_hz,
                samples=samples,
            )
        _check_costs(problem)
        _check_carried(problem)
        return problem

    def __len__(self) -> int:
        return len(self.fleet)

    def unrestricted(self) -> "RoundProblem":
        """The same round for a method that knows neither divergence nor coverage: everybody may be chosen."""
        limits = replace(self.limits, max_divergence=np.inf, min_samples=1)
        return replace(self, limits=limits, eligible=np.ones(len(self), dtype=bool))

    @property
    def max_energy_j(self) -> Floats:
        return self.fleet.max_energy_j

    @property
    def value(self) -> Floats:
        return self.fleet.value

    @cached_property
    def required(self) -> Mask:
        """Marks who must take part."""
        return np.isin(self.fleet.client, self.limits.required)

    @cached_property
    def wishes(self) -> tuple[str, ...]:
        """What is asked beyond the paper's problem, by name."""
        limits, fleet = self.limits, self.fleet
        asked = {
            "deadline_s": limits.deadline_s is not None,
            "energy_budget_j": limits.energy_budget_j is not None,
            "required": bool(limits.required),
            "forbidden": bool(limits.forbidden),
            "min_clients": limits.min_clients > 1,
            "max_clients": limits.max_clients is not None,
            "max_energy_j": bool((fleet.max_energy_j < np.inf).any()),
            "energy_weight": bool((fleet.energy_weight != 1.0).any()),
            "value": bool((fleet.value != 0.0).any()),
        }
        return tuple(name for name, wanted in asked.items() if wanted)

    def refuse_wishes(self, who: str, known: tuple[str, ...] = ()) -> None:
        """Refuse, by name, what a method knows nothing of: to it, it would be no limit at all."""
        unknown = [name for name in self.wishes if name not in known]
        if unknown:
            raise InvalidInput(
                f"{who} knows nothing of {' or '.join(_spoken(name) for name in unknown)}: "
                f"leave it out or let certified, brute or scip decide"
            )

    @cached_property
    def candidates(self) -> NDArray[np.intp]:
        """Positions of the eligible clients in the fleet, the set K' of the paper."""
        return np.flatnonzero(self.eligible)


def _spoken(name: str) -> str:
    """A limit as a sentence names it."""
    words = {
        "required": "required clients",
        "forbidden": "forbidden clients",
        "value": "the clients' values",
        "energy_weight": "the clients' own energy weights",
        "max_energy_j": "the column max_energy_j",
    }
    return words.get(name, name)


def _check_costs(problem: RoundProblem) -> None:
    """Refuse radio or CPU figures so extreme that a cost leaves the range of floating-point numbers."""
    for name, why in (
        ("full_band_upload_s", "uploading"),
        ("work_cycles", "computing"),
        ("transmit_power_w", "sending"),
    ):
        values = getattr(problem, name)
        bad = ~(np.isfinite(values) & (values > 0.0))
        if bad.any():
            row = int(np.argmax(bad))
            raise InvalidInput(
                f"row {row + 1}: {why} costs client {str(problem.fleet.client[row])!r} {name} = {values[row]:g}; "
                f"its distance, power, gain or cycles, or a limit, is out of any physical range"
            )


def _check_carried(problem: RoundProblem) -> None:
    """Refuse who uploads and computes on scales so far apart that a deadline for both would lose one of them."""
    upload, compute = problem.full_band_upload_s, problem.work_cycles / problem.max_frequency_hz
    with np.errstate(over="ignore"):
        apart = problem.eligible & ~(np.maximum(upload, compute) <= LARGEST_RATIO * np.minimum(upload, compute))
    if apart.any():
        row = int(np.argmax(apart))
        raise InvalidInput(
            f"row {row + 1}: client {str(problem.fleet.client[row])!r} uploads in {upload[row]:.3g} s with the whole "
            f"band and computes in {compute[row]:.3g} s at full speed; no deadline in double precision carries both "
            f"(the limit is a factor of {LARGEST_RATIO:g}): leave the client out or mend its figures"
        )
