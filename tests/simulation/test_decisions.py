"""Rounds that are only decided: how good each is, beside the certified bound and by the limits that it breaks."""

from typing import Any

import pytest

from wisefl.paper.plan import configure
from wisefl.run.record import RoundRecord
from wisefl.simulation.decisions import Decisions


def decide_rounds(settings: dict[str, Any]) -> list[RoundRecord]:
    config = configure({**settings, "kind": "decisions"})
    driver, records = Decisions.of(config), []
    state = driver.start()
    for _ in range(config.rounds):
        state, record = driver.play(state)
        records.append(record)
    return records


def test_a_round_is_measured_against_the_certified_bound() -> None:
    ours, papers = (decide_rounds({"policy.name": name, "rounds": 2}) for name in ("csra", "csra-dc"))
    for own, other in zip(ours, papers, strict=True):
        assert own.certified_bound == other.certified_bound
        assert 0.0 <= own.excess_percent <= 0.11
        assert other.excess_percent == pytest.approx(100.0 * (other.objective / other.certified_bound - 1.0))
        assert other.excess_percent >= 0.0
        assert (other.band, other.broken_percent) == (pytest.approx(1.0), 0.0)


def test_the_printed_algorithms_are_seen_to_break_the_band_where_rho_is_too_small() -> None:
    settings = {"policy.name": "dc", "policy.options": {"reading": "printed", "rho": 1.0}, "rounds": 1}
    (record,) = decide_rounds(settings)
    assert record.band > 2.0
    assert record.broken_percent == 100.0
    assert "bandwidth" in record.violations


def test_a_fixed_channel_is_the_same_in_every_round() -> None:
    fixed = decide_rounds({"fleet.fading": "fixed", "rounds": 2})
    drawn = decide_rounds({"rounds": 2})
    assert fixed[0].objective == fixed[1].objective
    assert drawn[0].objective != drawn[1].objective
