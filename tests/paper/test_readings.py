"""Readings of the paper beside each other: every setting can be run, and what is measured is the runs' own."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from wisefl.paper.plan import once
from wisefl.paper.readings import points as reading_list
from wisefl.paper.readings.points import READINGS
from wisefl.paper.readings.reading import Reading, read_readings, reading_cells, write_readings
from wisefl.paper.reproduce import run_cell
from wisefl.paper.scale import QUICK
from wisefl.policies.training import training_policy

NOTES = (
    *(f"U{number}" for number in range(1, 7)),
    *(f"D{number}" for number in range(1, 4)),
    *(f"O{number}" for number in range(1, 8)),
    *(f"B{number}" for number in range(1, 7)),
    *(f"L{number}" for number in range(1, 6)),
)
SCALE = QUICK.with_seeds(2)


def keep(monkeypatch: pytest.MonkeyPatch, readings: Sequence[Reading]) -> None:
    monkeypatch.setattr(reading_list, "READINGS", tuple(readings))


def test_every_point_is_there_once() -> None:
    assert list(dict.fromkeys(reading.note.split(",")[0] for reading in READINGS)) == list(NOTES)
    assert len({reading.note for reading in READINGS}) == len(READINGS)


@pytest.mark.parametrize(
    "reading", [one for one in READINGS if one.measures and not one.counts], ids=lambda one: one.note
)
def test_both_sides_are_valid_and_differ(reading: Reading, tmp_path: Path) -> None:
    ours, other = (reading.cell(side, 0, tmp_path) for side in ("ours", "other"))  # type: ignore[arg-type]
    assert ours.config != other.config
    for cell in (ours, other):
        policy = cell.config.policy
        training_policy(policy.name, allocation=policy.allocation, options=policy.options)


def test_a_clock_in_mhz_is_measured_as_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(monkeypatch, [one for one in READINGS if one.note in ("U1", "D1", "L4", "U5")])
    for cell in once(reading_cells(SCALE, tmp_path)):
        run_cell(cell.path, cell.config)
    write_readings(SCALE, tmp_path)
    told = read_readings(tmp_path)
    latency, energy = told["U1"]
    assert float(latency.other.split()[0]) > 50.0 * float(latency.ours.split()[0])
    assert latency.ours.endswith(" s")
    assert energy.words == "energy of a round"
    assert told["U5"] == []
    assert told["L4"][0].ours == "100 %"


def test_without_a_table_nothing_is_told(tmp_path: Path) -> None:
    assert not any(read_readings(tmp_path).values())
