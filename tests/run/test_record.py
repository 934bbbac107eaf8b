"""The record of a round: what it says, what it refuses to read, and that nothing else spells it."""

import ast
from dataclasses import fields, replace
from pathlib import Path

import pytest

import wisefl
from support.runs import record
from wisefl import InvalidInput
from wisefl.run.record import (
    CLIENTS_USED,
    ENERGY,
    EVENNESS,
    Announcement,
    Clock,
    Participations,
    RoundRecord,
    Scores,
    Stage,
    Summary,
)

ITS_OWN = {item.name for item in fields(RoundRecord)} - {
    # Words of the domain that a decision, a cost or a fleet has too.
    *("round", "policy", "selected", "share", "frequency_hz", "samples", "latency_s", "energy_j", "metrics"),
    *(
        "objective",
        "lower_bound",
        "gap",
        "band",
        "violations",
        "dropped",
        "rejected",
        "attempts",
        "groups",
        "metrics",
    ),
}


def literals(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_no_other_module_spells_a_field_of_a_record() -> None:
    root = Path(wisefl.__file__).parent
    spelled = {
        str(path.relative_to(root)): ITS_OWN & literals(path)
        for path in root.rglob("*.py")
        if path != root / "run" / "record.py"
    }
    assert {place: names for place, names in spelled.items() if names} == {}


def test_participation_adds_up_over_rounds() -> None:
    took = Participations()
    assert took.evenness is None
    for selected, joules in (((0, 2), (1.0, 2.0)), ((0,), (4.0,))):
        took.add(record(selected=selected, client_energy_j=joules, fleet_size=4))
    assert took.rounds == {0: 2, 2: 1}
    assert took.energy_j == {0: 5.0, 2: 2.0}
    assert took.evenness == 9 / (4 * 5)
    assert EVENNESS.course([record(selected=(0,), fleet_size=2), record(selected=(1,), fleet_size=2)]) == [0.5, 1.0]


def test_a_record_reads_back_as_it_was() -> None:
    made = record(3, left_out={"camera-3": "no answer in time"}, dropped=("camera-3",), violations={"band": 0.5})
    assert RoundRecord.from_json(made.to_json()) == made


def test_what_is_infinite_is_null() -> None:
    assert RoundRecord.from_json(replace(record(), gap=float("inf")).to_json()).gap is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (record().to_json().replace('"samples"', '"pieces"'), "unknown field 'pieces'"),
        (record().to_json().replace('"groups": 1, ', ""), "no field 'groups'"),
        (record().to_json().replace('"selected": [0, 2]', '"selected": 5'), "selected is not a list"),
        ("[]", "not the record of a round"),
        ("", "not JSON"),
    ],
)
def test_a_line_of_another_version_is_refused_whole(line: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        RoundRecord.from_json(line)


def test_two_runs_share_all_but_the_clock() -> None:
    slow = replace(record(), training_wall_s=99.0, round_wall_s=100.0)
    assert slow.repeatable() == record().repeatable()
    assert slow.wall_s == 100.0
    assert record().wall_s == pytest.approx(0.13)


def test_a_clock_adds_up_the_pieces_of_a_stage_and_covers_the_round() -> None:
    clock = Clock()
    for stage in (Stage.CHANNEL, Stage.DECISION, Stage.CHANNEL, Stage.ROUND):
        clock.mark(stage)
    parts = clock.marks[Stage.CHANNEL] + clock.marks[Stage.DECISION]
    assert 0.0 <= parts <= clock.marks[Stage.ROUND]
    assert set(clock.fields()) <= {item.name for item in fields(RoundRecord)}
    assert {item.name for item in fields(Scores)} <= {item.name for item in fields(RoundRecord)}


def test_clients_are_counted_once_however_often_they_train() -> None:
    rounds = [record(1, selected=(0, 2)), record(2, selected=(2, 5)), record(3, selected=(0,))]
    assert CLIENTS_USED.course(rounds) == [2.0, 3.0, 3.0]
    assert ENERGY.course(rounds) == [3.0, 3.0, 3.0]


def test_a_summary_ends_with_the_second_half_and_keeps_the_last_and_the_best() -> None:
    course = (0.9, 0.1, 0.4, 0.2, None)
    rounds = [record(at, test_accuracy=value, test_loss=at) for at, value in enumerate(course, start=1)]
    found = Summary.of(rounds, "abc", 2.0)
    assert (found.rounds, found.final_accuracy) == (5, pytest.approx(0.3))
    assert (found.last_accuracy, found.best_accuracy, found.final_loss) == (0.2, 0.9, 4)
    assert found.cumulative_energy_j == 15.0
    assert Summary.from_json(found.to_json()) == found
    with pytest.raises(InvalidInput, match="not the summary"):
        Summary.from_json('{"rounds": 3}')


def test_an_announcement_that_makes_no_sense_is_none() -> None:
    now = Announcement(2, (1, 2), (0.25, 0.75), 1.5)
    assert Announcement.from_json(now.to_json()) == now
    assert Announcement.from_json("{}") is None
    assert Announcement.from_json("not JSON") is None
