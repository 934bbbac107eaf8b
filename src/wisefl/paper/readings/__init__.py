"""How the paper was read: every slip and open point, what we do, and what another reading would have changed."""

from wisefl.paper.readings.measured import Effect, Effects, ReadingStudy, read_effects
from wisefl.paper.readings.points import READINGS
from wisefl.paper.readings.reading import Measure, Reading, Setting

__all__ = ["READINGS", "Effect", "Effects", "Measure", "Reading", "ReadingStudy", "Setting", "read_effects"]
