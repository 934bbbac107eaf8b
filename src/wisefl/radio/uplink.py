"""The uplink: path loss, Rayleigh fading and the rate a client reaches with the whole band.

Section II-B of the paper. The noise power is that of the whole band (as printed: the
rate stays linear in the share of the band, which the convexity of the allocation rests on).
"""

import numpy as np

from wisefl.arrays import Floats
from wisefl.randomness import rng

SPEED_OF_LIGHT_M_S = 299_792_458.0


def watts(dbm: Floats | float) -> Floats:
    """Power in watts from dBm."""
    return np.asarray(10.0 ** (np.asarray(dbm, dtype=float) / 10.0 - 3.0))


def path_gain(distance_m: Floats, carrier_hz: float, path_loss_exponent: float) -> Floats:
    """theta_k = (c0 / (4 pi f_c))^2 dist_k^-gamma."""
    return (SPEED_OF_LIGHT_M_S / (4.0 * np.pi * carrier_hz)) ** 2 * distance_m**-path_loss_exponent


def draw_gain(clients: int, seed: int, round: int = 0, mean_gain: float = 1.0) -> Floats:
    """|h_{k,t}|^2 of one round: the fading is complex Gaussian, so its power is exponential."""
    return rng(seed, round, "channel gain").exponential(mean_gain, clients)


def full_band_rate(
    distance_m: Floats,
    transmit_power_dbm: Floats,
    channel_gain: Floats,
    *,
    bandwidth_hz: float,
    noise_dbm_hz: float,
    carrier_hz: float,
    path_loss_exponent: float,
) -> Floats:
    """R_{k,t} = B log2(1 + theta_k |h_{k,t}|^2 P_k / (B N_0)), in bit/s."""
    signal = path_gain(distance_m, carrier_hz, path_loss_exponent) * channel_gain * watts(transmit_power_dbm)
    noise = bandwidth_hz * watts(noise_dbm_hz)
    return np.asarray(bandwidth_hz * np.log1p(signal / noise) / np.log(2.0))
