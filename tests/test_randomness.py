"""A stream of random numbers is named, and its name alone decides what it gives."""

from hypothesis import given
from hypothesis import strategies as st

from wisefl.randomness import rng

names = st.tuples(st.integers(0, 2**31), st.integers(0, 10_000), st.text(max_size=8))


@given(names)
def test_a_name_gives_the_same_numbers_whatever_was_drawn_before(name: tuple[int, int, str]) -> None:
    rng(0).random(3)
    assert (rng(*name).random(4) == rng(*name).random(4)).all()


@given(names, names)
def test_other_names_give_other_numbers(first: tuple[int, int, str], second: tuple[int, int, str]) -> None:
    assert (rng(*first).random(4) == rng(*second).random(4)).all() == (first == second)
