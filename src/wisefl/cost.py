"""What a decision costs: latency and energy per client and per round (Section II-B of the paper).

Every function is vectorised over clients; a client that takes no part has share 0 and frequency 0 and costs
nothing.
"""

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Floats

BITS_PER_WEIGHT = 32
"""A number of the model as it is uploaded."""


def work_cycles(epochs: int, cycles_per_bit: Floats, samples: NDArray[np.int64], bits_per_sample: float) -> Floats:
    """E s_k d_k: cycles of one round of local training, with the data size d_k in bits."""
    return epochs * cycles_per_bit * samples * bits_per_sample


def upload_time_s(full_band_upload_s: Floats, share: Floats) -> Floats:
    """T_up = C_k / (b_k R_k), from C_k / R_k."""
    return _where_positive(share, full_band_upload_s)


def upload_energy_j(transmit_power_w: Floats, upload_s: Floats) -> Floats:
    """E_up = P_k T_up."""
    return transmit_power_w * upload_s


def compute_time_s(cycles: Floats, frequency_hz: Floats) -> Floats:
    """T_com = E s_k d_k / f_k."""
    return _where_positive(frequency_hz, cycles)


def compute_energy_j(capacitance: float, cycles: Floats, frequency_hz: Floats) -> Floats:
    """E_com = eps E s_k d_k f_k^2."""
    return capacitance * cycles * frequency_hz**2


def round_latency_s(upload_s: Floats, compute_s: Floats) -> float:
    """T = max_k (T_up + T_com)."""
    return float(np.max(upload_s + compute_s, initial=0.0))


def round_energy_j(upload_j: Floats, compute_j: Floats) -> float:
    """E = sum_k (E_up + E_com)."""
    return float(np.sum(upload_j) + np.sum(compute_j))


def objective(latency_s: float, energy_j: float, latency_weight: float, energy_weight: float) -> float:
    """Y = alpha_1 T + alpha_2 E."""
    return latency_weight * latency_s + energy_weight * energy_j


def _where_positive(divisor: Floats, numerator: Floats) -> Floats:
    return np.divide(numerator, divisor, out=np.zeros_like(numerator), where=divisor > 0.0)
