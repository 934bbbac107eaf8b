"""What a planner asks `wisefl plan`, on the example fleet of phones, cameras and gateways."""

import json
from pathlib import Path
from typing import Any

import pytest

from wisefl import Fleet, InfeasibleProblem, Limits, RoundProblem, solve
from wisefl.cli import main

FLEET = Path(__file__).parents[2] / "examples" / "planner" / "fleet.csv"
ROUND = ("--epochs", "5", "--bits-per-sample", "98304", "--min-samples", "5000")
LIMITS = Limits(epochs=5, bits_per_sample=98304.0, min_samples=5000, deadline_s=1.0)


def told(capsys: pytest.CaptureFixture[str], *options: str, code: int = 0) -> str:
    assert main(["plan", str(FLEET), *ROUND, *options]) == code
    out, err = capsys.readouterr()
    return " ".join((out if code == 0 else err).split())


def asked(capsys: pytest.CaptureFixture[str], *options: str) -> Any:
    assert main(["plan", str(FLEET), *ROUND, *options, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_blanks_of_the_example_ask_for_nothing() -> None:
    fleet = Fleet.from_csv(FLEET)
    phones = [str(name).startswith("phone") for name in fleet.client]
    assert (fleet.max_energy_j[phones] == 3.0).all()
    assert (fleet.value == 0.0).all()


def test_why_says_what_forcing_a_client_out_costs(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "--deadline-s", "1", "--why", "gateway-3")
    assert found["selected"]
    assert found["outside"]["objective"] > found["decision"]["objective"]
    assert "gateway-3 takes part" in told(capsys, "--deadline-s", "1", "--why", "gateway-3")


def test_a_value_as_high_as_why_says_brings_a_client_in(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "--deadline-s", "1", "--why", "phone-12", "--max-gap", "1e-6")
    assert not found["selected"]
    assert found["barred"] is None
    extra = found["inside"]["objective"] - found["decision"]["objective"]
    fleet = Fleet.from_csv(FLEET)
    at = fleet.client.tolist().index("phone-12")
    for part, joins in ((0.99, False), (1.01, True)):
        fleet.value[at] = part * extra
        assert solve(RoundProblem.build(fleet, None, LIMITS), max_gap=1e-6).selected[at] == joins


def test_why_names_the_limit_that_bars_a_client(capsys: pytest.CaptureFixture[str]) -> None:
    text = told(capsys, "--deadline-s", "1", "--why", "phone-10")
    assert "does not finish within deadline_s = 1 with its max_energy_j = 3" in text
    assert "it is forbidden" in told(capsys, "--forbid", "gateway-2", "--why", "gateway-2")
    assert "there is no client 'nobody'" in told(capsys, "--why", "nobody", code=2)


@pytest.mark.parametrize("limit", ["bandwidth_hz", "deadline_s", "energy_budget_j"])
def test_the_least_value_will_do_and_less_will_not(limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "--deadline-s", "1", "--least", limit)
    assert found["bound"] <= found["value"] <= 1.00001 * found["bound"]
    option = f"--{limit.replace('_', '-')}"
    others = [] if limit == "deadline_s" else ["--deadline-s", "1"]
    assert asked(capsys, *others, option, str(found["value"]))["status"] == "certified"
    with pytest.raises(InfeasibleProblem):
        solve(RoundProblem.build(Fleet.from_csv(FLEET), None, _with(limit, 0.9999 * found["bound"])))


def _with(limit: str, value: float) -> Limits:
    from dataclasses import replace

    return replace(LIMITS, **{limit: value})


def test_varied_limits_are_decided_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "varied.svg"
    wishes = ("--vary", "bandwidth_hz=2e6,4e6", "--vary", "deadline_s=0.3,1")
    found = asked(capsys, *wishes, "--picture", str(picture))
    assert [one["values"] for one in found] == [
        {"bandwidth_hz": band, "deadline_s": deadline} for band in (2e6, 4e6) for deadline in (0.3, 1.0)
    ]
    assert "raise deadline_s to at least" in found[0]["error"]
    assert found[3]["objective"] < found[1]["objective"]
    assert picture.read_text().startswith("<?xml")
    text = told(capsys, *wishes)
    assert "who trains 1234" in text
    assert "gateway-1 -█-█" in text


def test_a_range_is_eight_values(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "--vary", "bandwidth_hz=1e6..8e6")
    assert [one["values"]["bandwidth_hz"] for one in found] == pytest.approx([1e6 * step for step in range(1, 9)])


def test_the_picture_of_a_round(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "round.png"
    text = told(capsys, "--deadline-s", "1", "--picture", str(picture))
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "█ computing ▒ uploading · slack" in text


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--require", "x"), "required: there is no client 'x' in the fleet"),
        (("--require", "camera-1", "--forbid", "camera-1"), "is both required and forbidden"),
        (("--deadline-s", "0"), "--deadline-s must be greater than 0, not 0"),
        (("--min-clients", "40"), "lower --min-clients to at most 22"),
        (("--max-clients", "2"), "raise --max-clients to at least 5"),
        (("--min-clients", "5", "--max-clients", "4"), "--max-clients 4 must be at least --min-clients 5"),
        (("--least", "colour"), "--least must be one of"),
        (("--least", "bandwidth_hz"), "any band will do for a round of any length"),
        (("--vary", "colour=3"), "give one of"),
        (("--vary", "epochs=1.5,2"), "--epochs takes whole numbers"),
        (("--vary", "deadline_s=soon"), "'soon' is neither numbers like 0.5,1,2 nor a range"),
        (("--why", "camera-1", "--least", "deadline_s"), "--why and --least are two questions"),
        (("--why", "camera-1", "--solver", "brute"), "works with certified, not with brute"),
        (("--picture", "round.bmp"), "--picture must end in .png or .svg"),
        (("--deadline-s", "1", "--solver", "dc"), "solver dc knows nothing of --deadline-s"),
    ],
)
def test_a_mistake_is_one_sentence(
    options: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["plan", str(FLEET), *ROUND, *options])
    out, err = capsys.readouterr()
    assert code in (2, 3)
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1
