"""Figures in what is probably another unit: told, never refused, since physics allows them."""

from dataclasses import dataclass

import numpy as np

from wisefl.decision.limits import Limits
from wisefl.fleet import Fleet


@dataclass(frozen=True)
class Usual:
    """Where a figure usually lies, and what to say of one that lies elsewhere."""

    low: float
    high: float
    expected: str


COLUMNS: dict[str, Usual] = {
    "distance_m": Usual(1.0, 1e5, "metres are expected, 0.3 km is 300"),
    "transmit_power_dbm": Usual(-40.0, 60.0, "dBm are expected, 200 mW is 23"),
    "max_frequency_hz": Usual(1e5, 2e10, "hertz are expected, 2.5 GHz is 2.5e9"),
    "cycles_per_bit": Usual(1e-3, 1e6, "CPU cycles per bit of data are expected, the paper has 1 to 10"),
    "channel_gain": Usual(
        1e-8, 1e3, "the power of the fading is expected, about 1 and not in dB; the path loss follows from distance_m"
    ),
    "max_energy_j": Usual(1e-6, 1e7, "joules are expected, 500 mJ is 0.5"),
}
LIMITS: dict[str, Usual] = {
    "bandwidth_hz": Usual(1e3, 1e11, "hertz are expected, 20 MHz is 2e7"),
    "noise_dbm_hz": Usual(-210.0, -100.0, "dBm per hertz are expected, thermal noise is -174"),
    "carrier_hz": Usual(1e6, 1e13, "hertz are expected, 2.4 GHz is 2.4e9"),
    "path_loss_exponent": Usual(1.5, 8.0, "2 is free space, cities have 2.7 to 5"),
    "capacitance": Usual(1e-32, 1e-22, "farads are expected, the paper has 1e-27"),
    "bits_per_sample": Usual(1.0, 1e11, "bits are expected, 784 bytes are 6272"),
    "model_bits": Usual(1e2, 1e14, "bits are expected, 1.4 Mbit is 1.4e6"),
    "deadline_s": Usual(1e-4, 1e6, "seconds are expected, 500 ms is 0.5"),
    "energy_budget_j": Usual(1e-6, 1e9, "joules are expected, 500 mJ is 0.5"),
}
"""By the names of columns and limits: wide enough that nobody's honest figures are doubted."""


def doubts(fleet: Fleet, limits: Limits | None = None) -> list[str]:
    """One sentence for every column and every limit that holds a figure far from where such figures lie."""
    found = []
    for name, usual in COLUMNS.items():
        values = getattr(fleet, name)
        odd = np.flatnonzero(((values < usual.low) | (values > usual.high)) & np.isfinite(values))
        if odd.size:
            more = f" and {odd.size - 1} more" if odd.size > 1 else ""
            found.append(f"column {name!r} holds {values[odd[0]]:g} (row {odd[0] + 1}{more}): {usual.expected}")
    for name, usual in LIMITS.items() if limits is not None else ():
        value = getattr(limits, name)
        if value is not None and not usual.low <= value <= usual.high:
            found.append(f"{name} = {value:g}: {usual.expected}")
    return found
