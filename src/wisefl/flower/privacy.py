"""Label counts with differential privacy: the two-sided geometric mechanism, sampled exactly.

Adding or removing one sample changes one count by 1, so integer noise with P(x) proportional to exp(-epsilon |x|) on
every count gives epsilon-differential privacy for each sample (Ghosh, Roughgarden and Sundararajan, 2009). The noise
is drawn with whole numbers only, by Canonne, Kamath and Steinke (2020, Algorithms 1 and 2): samplers that go through
floating point leak through their rounding (Mironov, 2012).
"""

from collections.abc import Sequence
from fractions import Fraction
from hashlib import shake_256
from random import Random, SystemRandom

from wisefl.errors import InvalidInput

LEAST_SECRET_DIGITS = 32
"""Hexadecimal: 128 bits."""


class SecretRandom(Random):
    """Random bits that follow from a secret and what they are for, by SHAKE-256: nobody without it can tell them."""

    def __init__(self, secret: str, purpose: str) -> None:
        check_secret(secret)
        self._key = f"wisefl noise {secret} {purpose}".encode()
        self._drawn = 0
        super().__init__()

    def seed(self, *args: object, **kwargs: object) -> None:
        """There is nothing to seed but the secret."""

    def getrandbits(self, k: int) -> int:
        """The next k bits."""
        self._drawn += 1
        size = (k + 7) // 8
        bits = int.from_bytes(shake_256(self._key + self._drawn.to_bytes(8)).digest(size))
        return bits >> (8 * size - k)

    def random(self) -> float:
        """A number from 0 to 1, of 53 bits."""
        return self.getrandbits(53) / 2**53


def check_secret(secret: str) -> None:
    """At least 128 bits, written in hexadecimal digits."""
    digits = set(secret.lower())
    if len(secret) < LEAST_SECRET_DIGITS or not digits <= set("0123456789abcdef") or len(digits) < 4:
        raise InvalidInput(
            f"a node's secret needs at least {LEAST_SECRET_DIGITS} random hexadecimal digits, such as "
            "`openssl rand -hex 32` gives"
        )


def private_counts(label_counts: Sequence[int], epsilon: float, random: Random | None = None) -> list[int]:
    """Counts with noise, none below 0 and one sample at the least, which later use cannot undo.

    `random` defaults to the operating system's; another one is for tests, and is a secret as much as the data.
    """
    scale = 1 / _epsilon(epsilon)
    source = SystemRandom() if random is None else random
    noisy = [max(0, int(count) + two_sided_geometric(scale, source)) for count in label_counts]
    if not any(noisy):
        noisy[source.randrange(len(noisy))] = 1  # a client without samples cannot be charged; chosen without the data
    return noisy


def two_sided_geometric(scale: Fraction, random: Random) -> int:
    """An integer x with probability proportional to exp(-|x| / scale), exactly."""
    top, bottom = scale.numerator, scale.denominator
    while True:
        rest = random.randrange(top)
        if not _bernoulli_exp(Fraction(rest, top), random):
            continue
        whole = 0
        while _bernoulli_exp(Fraction(1), random):
            whole += 1
        size = (rest + top * whole) // bottom
        negative = random.randrange(2) == 1
        if not (negative and size == 0):  # else 0 would come twice as often
            return -size if negative else size


def _bernoulli_exp(gamma: Fraction, random: Random) -> bool:
    """True with probability exp(-gamma), for gamma from 0 to 1."""
    k = 1
    while random.randrange(gamma.denominator * k) < gamma.numerator:
        k += 1
    return k % 2 == 1


def _epsilon(epsilon: float) -> Fraction:
    if not 0.0 < epsilon < float("inf"):
        raise InvalidInput(f"epsilon must be a finite number greater than 0, not {epsilon:g}")
    # Rounded down to a short fraction, as exact arithmetic on 53 binary digits would be slow: never less private.
    rounded = Fraction(int(epsilon * 10**6), 10**6)
    if rounded == 0:
        raise InvalidInput(f"epsilon must be at least 1e-6, not {epsilon:g}: below it counts are noise alone")
    return rounded
