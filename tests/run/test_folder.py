"""A run on disk: started once, read whole, cut back to its checkpoint."""

from pathlib import Path

import numpy as np
import pytest

from support.runs import record, summary
from wisefl import InvalidInput
from wisefl.run.config import load_config
from wisefl.run.folder import CHECKPOINT, CONFIG, ROUNDS, SUMMARY, RunFolder
from wisefl.run.state import State


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", load_config(changes=("rounds=8", "seed=5")))


def state_after(round: int) -> State:
    return State(round, np.full((1, 3), round, dtype=np.float32), np.zeros(2, dtype=np.int64), 2.0 * round)


def rounds(folder: RunFolder) -> list[int]:
    return [record.round for record in folder.records()]


def test_a_folder_opens_with_the_configuration_it_was_made_with(run: RunFolder) -> None:
    assert RunFolder.open(run.path).config == run.config
    with pytest.raises(InvalidInput, match="already holds a run: continue it with --resume"):
        RunFolder.create(run.path, run.config)


def test_records_come_back_in_order_and_a_line_cut_short_is_none(run: RunFolder) -> None:
    written = [record(number) for number in (1, 2)]
    for one in written:
        run.append(one)
    with open(run.path / ROUNDS, "a") as file:
        file.write(record(3).to_json()[:40])
    assert list(run.records()) == written


def test_records_beyond_the_checkpoint_are_cut_off(run: RunFolder) -> None:
    for number in (1, 2, 3):
        run.append(record(number))
        if number == 2:
            run.save(state_after(2).arrays())
    stored = RunFolder.open(run.path).load()
    assert stored is not None
    assert State.from_arrays(stored).latency_s == 4.0
    assert rounds(run) == [1, 2]


def test_without_a_checkpoint_the_run_starts_anew(run: RunFolder) -> None:
    run.append(record(1))
    assert run.load() is None
    assert rounds(run) == []


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 nonsense", b"nonsense"])
def test_a_damaged_checkpoint_is_named(run: RunFolder, content: bytes) -> None:
    run.append(record(1))
    (run.path / CHECKPOINT).write_bytes(content)
    with pytest.raises(InvalidInput, match="npz: not a checkpoint; without it the run starts from its first round"):
        run.load()
    assert rounds(run) == [1]


def test_a_damaged_line_is_named_by_its_number(run: RunFolder) -> None:
    run.append(record(1))
    with open(run.path / ROUNDS, "a") as file:
        file.write("{}\n")
    with pytest.raises(InvalidInput, match=r"rounds\.jsonl, line 2: the record has no field"):
        list(run.records())


def test_a_run_is_finished_when_its_summary_is_there(run: RunFolder) -> None:
    run.append(record(1))
    assert not run.finished
    run.finish(summary(run.records()))
    assert run.finished
    assert run.summary().rounds == 1
    (run.path / SUMMARY).write_text('{"accuracy": 1}')
    with pytest.raises(InvalidInput, match=r"summary\.json: not the summary"):
        run.summary()


def test_a_folder_of_another_format_is_refused_with_what_to_do(run: RunFolder) -> None:
    text = (run.path / CONFIG).read_text()
    assert text.startswith("format = ")
    (run.path / CONFIG).write_text(text.partition("\n")[2])
    with pytest.raises(InvalidInput, match=r"another version of WiseFL \(format 1, .* run it again in"):
        RunFolder.open(run.path)


def test_a_record_is_one_line_whatever_it_says(run: RunFolder) -> None:
    odd = record(1, left_out={"cam\nera": "dead\r\nline"}, policy="ä\u2028")
    run.append(odd)
    assert list(run.records()) == [odd]
