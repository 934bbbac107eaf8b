"""Readings of the paper beside each other: every setting can be run, and what is measured is the runs' own."""

from pathlib import Path

import pytest

from wisefl.errors import InvalidInput
from wisefl.paper.plan import once
from wisefl.paper.readings import READINGS, Reading, ReadingStudy, read_effects
from wisefl.paper.readings.reading import SIDES
from wisefl.paper.reproduction import run_cell
from wisefl.paper.scale import QUICK
from wisefl.policies.training import training_policy

NOTES = (
    *(f"U{number}" for number in range(1, 7)),
    *(f"D{number}" for number in range(1, 4)),
    *(f"O{number}" for number in range(1, 8)),
    *(f"B{number}" for number in range(1, 7)),
    *(f"L{number}" for number in range(1, 6)),
)


def test_every_point_is_there_once() -> None:
    assert list(dict.fromkeys(reading.note.split(",")[0] for reading in READINGS)) == list(NOTES)
    assert len({reading.note for reading in READINGS}) == len(READINGS)


@pytest.mark.parametrize(
    "reading", [one for one in READINGS if one.measures and not one.counts], ids=lambda one: one.note
)
def test_both_sides_are_valid_and_differ(reading: Reading, tmp_path: Path) -> None:
    ours, other = (reading.cell(side, 0, tmp_path) for side in SIDES)
    assert ours.config != other.config
    for cell in (ours, other):
        policy = cell.config.policy
        training_policy(policy.name, allocation=policy.allocation, options=policy.options)


def test_a_clock_in_mhz_is_measured_as_slow(tmp_path: Path) -> None:
    kept = [one for one in READINGS if one.note in ("U1", "D1", "L4", "U5")]
    study = ReadingStudy(QUICK.with_seeds(2), tmp_path, kept)
    for cell in once(study.cells):
        run_cell(cell.path, cell.config)
    study.write()
    effects = read_effects(tmp_path)
    assert effects is not None
    latency, energy = effects["U1"]
    assert latency.other.mean > 50.0 * latency.ours.mean
    assert latency.measure.unit == "s"
    assert energy.measure.words == "energy of a round"
    assert effects["U5"] == []
    assert effects["L4"][0].ours.mean == 100.0


def test_without_a_table_nothing_was_compared(tmp_path: Path) -> None:
    assert read_effects(tmp_path) is None


def test_another_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "readings.csv").write_text("note,value\nU1,much\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"readings\.csv: not a table with the columns note, measure"):
        read_effects(tmp_path)
