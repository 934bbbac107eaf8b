"""`wisefl fleet` writes the random fleet it says it writes."""

from pathlib import Path

import numpy as np
import pytest

from wisefl import Fleet
from wisefl.cli import main


def test_it_writes_the_fleet_of_that_seed_and_says_what_is_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "fleet.csv"
    assert main(["fleet", "--clients", "80", "--seed", "0", "-o", str(path)]) == 0
    written, expected = Fleet.from_csv(path), Fleet.random(80, 0)
    assert np.array_equal(written.distance_m, expected.distance_m)
    assert np.array_equal(written.label_counts, expected.label_counts)
    assert np.array_equal(written.channel_gain, expected.channel_gain)
    said = capsys.readouterr().out
    assert said.startswith("80 clients with 60000 samples of 10 classes, 8 of them within divergence 0.2")
    assert said.endswith(f"written to {path}\n")


def test_every_option_reaches_the_fleet(tmp_path: Path) -> None:
    path = tmp_path / "fleet.csv"
    shape = ["--clients", "12", "--seed", "3", "--samples", "999", "--classes", "4"]
    assert main(["fleet", *shape, "--mean-gain", "0.25", "--clock", "mhz", "-o", str(path)]) == 0
    expected = Fleet.random(12, 3, samples=999, classes=4, mean_gain=0.25, frequency_unit_hz=1e6)
    written = Fleet.from_csv(path)
    assert np.array_equal(written.label_counts, expected.label_counts)
    assert np.array_equal(written.max_frequency_hz, expected.max_frequency_hz)
    assert np.array_equal(written.channel_gain, expected.channel_gain)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--clients 0", "at least one client"),
        ("--clients 80 --samples 5", "5 samples cannot be shared among 80 clients"),
        ("--seed -1", "--seed must be at least 0"),
        ("--mean-gain 0", "--mean-gain must be"),
        ("--clock thz", "'thz' is not one of 'ghz', 'mhz'"),
        ("--clients many", "'many' is not a valid integer"),
    ],
)
def test_an_impossible_fleet_is_one_sentence_and_no_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: str, says: str
) -> None:
    path = tmp_path / "fleet.csv"
    assert main(["fleet", *arguments.split(), "-o", str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert says in said.err
    assert said.err.startswith("wisefl: error: ")
    assert said.err.count("\n") == 1
    assert not path.exists()


def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fleet", "--clients", "1000000000", "-o", str(tmp_path / "no" / "fleet.csv")]) == 2
    assert "cannot be written (there is no folder" in capsys.readouterr().err
