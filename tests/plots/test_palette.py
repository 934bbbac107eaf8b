"""Looks: every one of its own, known names always the same, and visible on white and on dark."""

import pytest

from wisefl.plots.palette import COLOURS, KNOWN, MARKERS, look, looks

LIGHT_PAGE, DARK_PAGE = "#ffffff", "#14171b"


def luminance(colour: str) -> float:
    """WCAG's relative luminance."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", COLOURS, ids=lambda colour: colour.light)
def test_every_colour_stands_out_from_its_ground(colour) -> None:
    assert contrast(colour.light, LIGHT_PAGE) >= 3.0
    assert contrast(colour.dark, DARK_PAGE) >= 3.0


def test_no_two_looks_are_alike() -> None:
    assert len({look(number) for number in range(56)}) == 56
    assert len({look(number)[:2] for number in range(56)}) == 56  # where dashes cannot be told apart


def test_a_known_name_keeps_its_look_whoever_is_beside_it() -> None:
    assert looks(["home-made", "csra", "fedavg"]) == [2, KNOWN["csra"], KNOWN["fedavg"]]
    assert looks(["csra"]) == [KNOWN["csra"]]


def test_a_look_that_is_taken_is_not_given_again() -> None:
    names = ["csra"] * 12 + ["fedavg", "cs-random", "home-made"]
    assert len(set(looks(names))) == 15
    assert looks(["fedavg", "cs-random"])[0] == KNOWN["fedavg"]


def test_markers_lie_around_their_point() -> None:
    for marker in MARKERS:
        assert sum(x for x, _ in marker) == pytest.approx(0.0, abs=0.01)
        assert sum(y for _, y in marker) == pytest.approx(0.0, abs=0.01)
