"""Whether an answer can be what an honest node of that profile would send."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord

from wisefl.decision import Limits
from wisefl.errors import InvalidInput
from wisefl.flower.arrays import Layout, Vector
from wisefl.flower.averaging import distance
from wisefl.flower.client import CHANNEL, COMPUTE_S, NUM_EXAMPLES, PROFILE, UPLOAD_S, Hint
from wisefl.flower.exchange import Missing, plain
from wisefl.flower.profile import Profile
from wisefl.flower.scores import figure, is_number

WRONG_SHAPES = "wrong shapes"
NOT_FINITE = "not finite"
WRONG_COUNTS = "counts do not add up"
IMPOSSIBLE_RATE = "impossible rate"
BAD_TIMES = "impossible times"
BAD_CHANNEL = "bad channel"

MOST_BITS_PER_HZ = 100.0
"""Spectral efficiency beyond any radio: 12 bit/s/Hz of 4096-QAM on eight streams."""


@dataclass(frozen=True, eq=False)
class Delivered:
    """A node's usable update."""

    answer: Message
    arrays: ArrayRecord
    norm: float
    """Of the update: how far the node moved the model that it was sent."""
    metrics: Mapping[str, Any]
    upload_s: float
    """Measured; NaN where the node did not."""
    compute_s: float


@dataclass(frozen=True, eq=False)
class Expected:
    """What a node was sent, and what it may send back."""

    hint: Hint
    profile: Profile
    model: Vector
    passed_s: float
    """Seconds that the exchange took on the server's own clock: no node can have been at it for longer."""


def read_profile(answer: Message) -> Profile:
    record = answer.content.get(PROFILE)
    if not isinstance(record, ConfigRecord):
        raise InvalidInput("the answer holds no profile")
    return Profile.from_record(record)


def read_gain(answer: Message | Missing) -> float | Missing:
    """|h|^2 of a client at the moment."""
    if isinstance(answer, Missing):
        return answer
    # By key: Flower builds its views by kind, such as metric_records, anew for every answer, and there are many.
    record = answer.content.get(CHANNEL)
    gain = record.get("gain") if isinstance(record, MetricRecord) else None
    if not is_number(gain) or gain <= 0.0:
        return Missing(BAD_CHANNEL, f"gain {_shown(gain)}")
    return float(gain)


def possible_rate(bits: Any, seconds: float, limits: Limits) -> Any:
    """Whether a radio could send so many bits over the whole band in so short a time; for arrays of bits too."""
    return bits <= MOST_BITS_PER_HZ * limits.bandwidth_hz * seconds


def read_update(answer: Message | Missing, expected: Expected, layout: Layout, limits: Limits) -> Delivered | Missing:
    """A node's update, or what is wrong with it."""
    if isinstance(answer, Missing):
        return answer
    records = list(answer.content.array_records.values())
    if len(records) != 1:
        return Missing(WRONG_SHAPES, f"{len(records)} array records instead of one")
    metrics, profile, hint = metrics_of(answer), expected.profile, expected.hint
    stated = metrics.get(NUM_EXAMPLES, profile.samples)
    if profile.exact and stated != profile.samples:
        return Missing(WRONG_COUNTS, f"trained on {_shown(stated)} samples, the profile has {profile.samples}")
    times = [_seconds(metrics.get(name)) for name in (UPLOAD_S, COMPUTE_S)]
    if None in times:
        told = [_shown(metrics.get(name)) for name in (UPLOAD_S, COMPUTE_S)]
        return Missing(BAD_TIMES, "upload {} s, computing {} s".format(*told))
    upload_s, compute_s = (math.nan if seconds is None else seconds for seconds in times)
    if upload_s == upload_s and not possible_rate(limits.model_bits, upload_s * hint.share, limits):
        return Missing(
            IMPOSSIBLE_RATE, f"{limits.model_bits:g} bit in {upload_s:g} s on {hint.share:.3g} of the band"
        )
    try:
        norm = distance(layout, records[0], expected.model)
    except Exception as error:  # whatever NumPy makes of bytes that somebody sent
        return Missing(WRONG_SHAPES, (str(error).splitlines() or [type(error).__name__])[0])
    if not math.isfinite(norm):
        return Missing(NOT_FINITE, "the update holds NaN or infinity")
    longest = expected.passed_s  # a comparison with NaN is false and leaves NaN
    upload_s, compute_s = (longest if seconds > longest else seconds for seconds in (upload_s, compute_s))
    return Delivered(answer, records[0], norm, metrics, upload_s, compute_s)


def metrics_of(answer: Message) -> dict[str, Any]:
    """All metrics of an answer."""
    return {key: value for record in answer.content.metric_records.values() for key, value in record.items()}


def read_loss(answer: Message | Missing) -> float:
    """The loss that an evaluation reports; lowest where there is none, so that nobody is chosen for his silence."""
    if not isinstance(answer, Missing):
        loss = figure(metrics_of(answer), "loss")
        if loss is not None:
            return loss
    return -math.inf


def _seconds(value: Any) -> float | None:
    """Measured seconds: NaN where there are none, None where they cannot be."""
    if value is None:
        return math.nan
    if not is_number(value) or value <= 0.0:
        return None
    return float(value)


def _shown(value: Any) -> str:
    """A value that a node sent, for a sentence: a list of a million numbers is only called one."""
    return repr(value) if type(value) is float or is_number(value) or value is None else plain(type(value).__name__)
