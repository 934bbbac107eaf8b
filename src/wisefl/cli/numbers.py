"""Numbers as a person reads them."""

import math


def number(value: float) -> str:
    """Four significant digits, without an exponent where that stays readable."""
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    exponent = math.floor(math.log10(abs(value)))
    return f"{value:.{max(3 - exponent, 0)}f}" if -4 <= exponent < 7 else f"{value:.3e}"


def percent(fraction: float) -> str:
    """Two significant digits, rounded up, so that a proof never claims too much."""
    if abs(fraction) <= 1e-9:
        return "0%"
    if fraction < 0.0 or not math.isfinite(fraction):
        return f"{100.0 * fraction:g}%"
    step = 10.0 ** (math.floor(math.log10(100.0 * fraction)) - 1)
    return f"{math.ceil(100.0 * fraction / step - 1e-5) * step:.2g}%" if fraction < 1.0 else f"{100 * fraction:.0f}%"


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them."""
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} us"
    return f"{1e3 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"
