"""Where a course ends."""

import pytest

from wisefl.run.tail import tail


def test_the_end_is_the_mean_of_the_last_twenty() -> None:
    assert tail([0.0] * 80 + [1.0] * 20) == 1.0
    assert tail([0.0] * 81 + [1.0] * 19) == pytest.approx(0.95)


def test_of_a_short_course_it_is_the_second_half() -> None:
    assert tail([0.0, 0.0, 1.0, 1.0]) == 1.0
    assert tail([0.5]) == 0.5
