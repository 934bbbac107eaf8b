"""What a round must respect and how it is charged, the same for every client."""

from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np

from wisefl.errors import InvalidInput

DivergenceOf = Literal["client", "mixture"]
"""Whose divergence is limited: each selected client's, or that of the data of all selected clients together."""

_AT_LEAST_0 = ("max_divergence", "energy_weight", "smoothing")
_WHOLE = ("epochs", "min_samples", "min_clients", "max_clients")
_ANY = ("noise_dbm_hz",)
_NO_NUMBERS = ("divergence", "required", "forbidden")


def allowed_values(name: str) -> str:
    """Which numbers a limit of this name may have, in words; nothing where it may have any, or is no number."""
    if name in (*_ANY, *_NO_NUMBERS):
        return ""
    return "at least 0" if name in _AT_LEAST_0 else "at least 1" if name in _WHOLE else "above 0"


def _limit(default: Any, help: str, **more: str) -> Any:
    """A field with the sentence that the command line and the run configuration show for it."""
    return field(default=default, metadata={"help": help, **more})


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
    deadline_s: float | None = _limit(None, "Longest that the round may take, in seconds.")
    energy_budget_j: float | None = _limit(None, "Most that all clients together may spend, in joules.")
    required: tuple[str, ...] = _limit((), "A client that must take part; can be repeated.", option="--require")
    forbidden: tuple[str, ...] = _limit(
        (),
        "A client that must not take part, but still counts in the population; can be repeated.",
        option="--forbid",
    )
    min_clients: int = _limit(1, "Fewest clients that take part.")
    max_clients: int | None = _limit(None, "Most clients that take part.")

    def __post_init__(self) -> None:
        if self.divergence not in get_args(DivergenceOf):
            raise InvalidInput(f"divergence must be {' or '.join(get_args(DivergenceOf))}, not {self.divergence!r}")
        self._check_names()
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name in _NO_NUMBERS or value is None:
                continue
            if isinstance(value, int) and abs(value) >= 2**63:
                raise InvalidInput(f"{item.name} must be below 2^63, not {float(str(value)):g}")
            if np.isnan(value) or (np.isinf(value) and item.name != "max_divergence"):
                raise InvalidInput(f"{item.name} must be a finite number, not {value}")
            if item.name in _AT_LEAST_0:
                if value < 0:
                    raise InvalidInput(f"{item.name} must be at least 0, not {value:g}")
            elif item.name in _WHOLE:
                if value < 1 or value != int(value):
                    raise InvalidInput(f"{item.name} must be a whole number of at least 1, not {value:g}")
            elif item.name not in _ANY and value <= 0:
                raise InvalidInput(f"{item.name} must be greater than 0, not {value:g}")
        if self.max_clients is not None and self.max_clients < self.min_clients:
            raise InvalidInput(f"max_clients = {self.max_clients} must be at least min_clients = {self.min_clients}")

    def _check_names(self) -> None:
        for name in ("required", "forbidden"):
            if isinstance(getattr(self, name), str):
                raise InvalidInput(f"{name} must be a list of clients, not the text {getattr(self, name)!r}")
            object.__setattr__(self, name, tuple(dict.fromkeys(str(client) for client in getattr(self, name))))
        both = [client for client in self.required if client in self.forbidden]
        if both:
            raise InvalidInput(f"client {both[0]!r} is both required and forbidden: take it out of one of them")

    @property
    def limits_mixture(self) -> bool:
        """Whether the selected clients' data must resemble everybody's as a whole, whoever they are."""
        return self.divergence == "mixture" and bool(np.isfinite(self.max_divergence))
