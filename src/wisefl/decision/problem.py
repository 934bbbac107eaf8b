"""One round's problem P1': the clients that pass the divergence filter, their costs, and the limits."""

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats
from wisefl.cost import work_cycles
from wisefl.divergence import client_divergence
from wisefl.errors import InfeasibleProblem, InvalidInput
from wisefl.fleet import Fleet
from wisefl.radio.uplink import full_band_rate, watts

DivergenceOf = Literal["client", "mixture"]
"""Whose divergence is limited: each selected client's, or that of the data of all selected clients together."""

LARGEST_RATIO = 1e12
"""Between a client's upload time and its compute time; sixteen digits are all there is for their sum."""


def _limit(default: float, help: str) -> Any:
    """A field with the sentence that the command line and the run configuration show for it."""
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True)
class Limits:
    """What a round must respect and how it is charged; every default is the paper's."""

    bandwidth_hz: float = _limit(2e6, "The uplink band that the selected clients share (B).")
    noise_dbm_hz: float = _limit(-174.0, "Power spectral density of the noise, in dBm/Hz (N_0).")
    carrier_hz: float = _limit(2.4e9, "Carrier frequency (f_c).")
    path_loss_exponent: float = _limit(2.7, "How steeply the signal falls with distance (gamma).")
    capacitance: float = _limit(1e-27, "Effective switched capacitance of a CPU (eps).")
    epochs: int = _limit(10, "Local epochs per round (E).")
    bits_per_sample: float = _limit(6272.0, "Size of one training sample, in bits: 784 bytes for Fashion-MNIST.")
    model_bits: float = _limit(1_421_632.0, "Size of one upload, in bits: 44,426 parameters of 32 (C_k).")
    max_divergence: float = _limit(
        0.2, "Largest label divergence of a client that may take part; inf lets all in (e_1)."
    )
    divergence: DivergenceOf = field(
        default="client",
        metadata={
            "help": "What max_divergence limits: each client (the paper), or the mixture of all selected data."
        },
    )
    min_samples: int = _limit(2000, "Fewest samples that the selected clients hold together (e_2).")
    latency_weight: float = _limit(1.0, "Objective per second of the round (alpha_1).")
    energy_weight: float = _limit(1.0, "Objective per joule of all clients (alpha_2).")
    smoothing: float = _limit(
        0.0, "Pseudo-samples added to every class before divergences are taken; 0 is the paper."
    )

    def __post_init__(self) -> None:
        if self.divergence not in get_args(DivergenceOf):
            raise InvalidInput(f"divergence must be {' or '.join(get_args(DivergenceOf))}, not {self.divergence!r}")
        for item in fields(self):
            if item.name == "divergence":
                continue
            value = getattr(self, item.name)
            if np.isnan(value) or (np.isinf(value) and item.name != "max_divergence"):
                raise InvalidInput(f"{item.name} must be a finite number, not {value}")
            if item.name in ("max_divergence", "energy_weight", "smoothing"):
                if value < 0:
                    raise InvalidInput(f"{item.name} must be at least 0, not {value:g}")
            elif item.name in ("epochs", "min_samples"):
                if value < 1 or value != int(value):
                    raise InvalidInput(f"{item.name} must be a whole number of at least 1, not {value:g}")
            elif item.name != "noise_dbm_hz" and value <= 0:
                raise InvalidInput(f"{item.name} must be greater than 0, not {value:g}")

    @property
    def limits_mixture(self) -> bool:
        """Whether the selected clients' data must resemble everybody's as a whole, whoever they are."""
        return self.divergence == "mixture" and bool(np.isfinite(self.max_divergence))


@dataclass(frozen=True, eq=False)
class RoundProblem:
    """P1' of one round; arrays run over the whole fleet, `eligible` marks who may be selected.

    With c = `full_band_upload_s`, w = `work_cycles`, P = `transmit_power_w` and n = `samples`, a set S, shares b
    and frequencies f cost `latency_weight T + energy_weight sum_S (P c / b + eps w f^2)`, where
    `c / b + w / f <= T`, `sum b <= 1`, `f <= max_frequency_hz` and `sum_S n >= min_samples`. With the limit on the
    mixture everybody is eligible and S as a whole must be within `max_divergence`.
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
        eligible = (divergence <= limits.max_divergence) | (limits.divergence == "mixture")
        samples = fleet.samples
        _check_feasible(divergence, eligible, samples, limits)
        with np.errstate(over="ignore", divide="ignore", under="ignore"):
            rate = full_band_rate(
                fleet.distance_m,
                fleet.transmit_power_dbm,
                gain,
                bandwidth_hz=limits.bandwidth_hz,
                noise_dbm_hz=limits.noise_dbm_hz,
                carrier_hz=limits.carrier_hz,
                path_loss_exponent=limits.path_loss_exponent,
            )
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

    @cached_property
    def candidates(self) -> NDArray[np.intp]:
        """Positions of the eligible clients in the fleet, the set K' of the paper."""
        return np.flatnonzero(self.eligible)


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


def _check_feasible(
    divergence: Floats, eligible: NDArray[np.bool_], samples: NDArray[np.int64], limits: Limits
) -> None:
    total = int(samples.sum())
    if total < limits.min_samples:
        raise InfeasibleProblem(
            f"the whole fleet holds {total} samples, fewer than min_samples = {limits.min_samples}: "
            f"lower min_samples to at most {total}"
        )
    held = int(samples[eligible].sum())
    if held >= limits.min_samples:
        return
    order = np.argsort(divergence, kind="stable")
    enough = np.searchsorted(np.cumsum(samples[order]), limits.min_samples)
    needed = divergence[order[enough]]
    loosen = (
        f"raise max_divergence to at least {_round_up(needed)}"
        if np.isfinite(needed)
        else "set max_divergence to inf or give smoothing a value above 0 (some clients lack a class)"
    )
    if not eligible.any():
        nearest = float(divergence.min())
        raise InfeasibleProblem(
            f"no client has a divergence of at most max_divergence = {limits.max_divergence:g} "
            f"(the smallest is {nearest:.4g}): {loosen}"
        )
    raise InfeasibleProblem(
        f"the {int(eligible.sum())} clients within max_divergence = {limits.max_divergence:g} hold {held} samples, "
        f"fewer than min_samples = {limits.min_samples}: lower min_samples to at most {held}, or {loosen}"
    )


def _round_up(value: float, digits: int = 4) -> str:
    """A number of so many digits that is not below the value, so that following the advice works."""
    exponent = int(np.floor(np.log10(value))) if value > 0 else 0
    step = 10.0 ** (exponent - digits + 1)
    text = f"{np.ceil(value / step) * step:.{digits}g}"
    return text if float(text) >= value else f"{(np.ceil(value / step) + 1) * step:.{digits}g}"
