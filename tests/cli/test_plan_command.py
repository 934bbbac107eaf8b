"""`wisefl plan`: the contract of its JSON, its files, its table, and how quickly and quietly it starts."""

import csv
import json
import math
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wisefl import Fleet, Limits, RoundProblem, solve
from wisefl.cli import main
from wisefl.cli.tables import show_decision

KEYS = [
    "solver",
    "status",
    "objective",
    "latency_s",
    "energy_j",
    "lower_bound",
    "gap",
    "seconds",
    "eligible",
    "fleet",
    "selected",
    "samples",
    "mixture_divergence",
    "share",
    "upload_j",
    "compute_j",
    "value",
    "bandwidth_price",
    "saved_per_percent_of_bandwidth",
    "limited_by",
    "upload_part",
    "violations",
    "assumptions",
    "clients",
]
CLIENT_KEYS = [
    "client",
    "share",
    "frequency_hz",
    "upload_s",
    "compute_s",
    "upload_j",
    "compute_j",
    "samples",
    "divergence",
]

HEAVY = ["torch", "cvxpy", "matplotlib", "sklearn", "pydantic", "pyscipopt", "scipy", "cffi", "yaml", "rich"]


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plan") / "fleet.csv"
    Fleet.random(clients=80, seed=0).to_csv(path)
    return path


def plan_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    assert main(["plan", *map(str, arguments), "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return json.loads(said.out)


def test_json_is_the_contract(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = plan_json(capsys, fleet)
    decision = solve(RoundProblem.build(Fleet.from_csv(fleet)))
    assert list(plan) == KEYS
    assert [list(client) for client in plan["clients"]] == [CLIENT_KEYS] * len(plan["clients"])
    assert plan["solver"] == "certified"
    assert plan["status"] == "certified"
    assert plan["objective"] == decision.objective
    assert plan["gap"] == decision.gap <= 1e-3 * (1 + 1e-6)
    assert (plan["eligible"], plan["fleet"], plan["selected"]) == (8, 80, len(plan["clients"]))
    assert plan["energy_j"] == pytest.approx(plan["upload_j"] + plan["compute_j"])
    assert plan["samples"] == sum(client["samples"] for client in plan["clients"])
    assert plan["violations"] == {}
    assert [client["client"] for client in plan["clients"]] == decision.problem.fleet.client[
        decision.selected
    ].tolist()
    assert sum(client["samples"] for client in plan["clients"]) >= 2000
    assert sum(client["share"] for client in plan["clients"]) == pytest.approx(1.0)
    upload, compute = plan["clients"][0]["upload_s"], plan["clients"][0]["compute_s"]
    assert upload + compute == pytest.approx(plan["latency_s"])


def test_json_tells_what_was_assumed_and_what_limits_the_round(
    fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_json(capsys, fleet, "--model-bits", "5e7", "--bandwidth-hz", "3e6")
    assert set(plan["assumptions"]) == {*(item.name for item in fields(Limits)), "fading"}
    assert (plan["assumptions"]["model_bits"], plan["assumptions"]["epochs"]) == (5e7, 10)
    assert plan["assumptions"]["fading"] is True
    assert plan["limited_by"] == "radio"
    assert plan["upload_part"] > 0.55
    more = plan_json(capsys, fleet, "--model-bits", "5e7", "--bandwidth-hz", "3.003e6")
    saved = plan["objective"] - more["objective"]
    assert saved == pytest.approx(0.1 * plan["saved_per_percent_of_bandwidth"], rel=5e-3)
    assert plan["saved_per_percent_of_bandwidth"] < 0.01 * plan["bandwidth_price"]
    replace(Fleet.from_csv(fleet), channel_gain=np.ones(80)).to_csv(tmp_path / "still.csv")
    still = plan_json(capsys, tmp_path / "still.csv", "--model-bits", "1e4")
    assert (still["limited_by"], still["assumptions"]["fading"]) == ("cpu", False)


def test_without_a_proof_bound_and_gap_are_null(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = plan_json(capsys, fleet, "--solver", "best-channel+equal")
    assert plan["lower_bound"] is None
    assert plan["gap"] is None


def test_an_infinite_divergence_is_null_so_that_the_json_stays_strict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Fleet.random(clients=12, seed=1).to_csv(tmp_path / "fleet.csv")
    plan = plan_json(capsys, tmp_path / "fleet.csv", "--max-divergence", "inf", "--min-samples", 9000)
    assert len(plan["clients"]) == 12
    assert all(client["divergence"] is None or client["divergence"] >= 0 for client in plan["clients"])


def test_the_defaults_are_the_papers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--help"]) == 0
    page = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    page = " ".join(page.replace("│", " ").split())
    defaults = {
        "bandwidth-hz": "2e6",
        "noise-dbm-hz": "-174",
        "carrier-hz": "2.4e9",
        "path-loss-exponent": "2.7",
        "capacitance": "1e-27",
        "epochs": "10",
        "bits-per-sample": "6272",
        "model-bits": "1421632",
        "max-divergence": "0.2",
        "min-samples": "2000",
        "latency-weight": "1",
        "energy-weight": "1",
        "smoothing": "0",
        "solver": "certified",
        "max-gap": "0.001",
    }
    assert re.search(r"--divergence \[client\|mixture\] .*?\[default: client\]", page)
    for option, default in defaults.items():
        assert re.search(rf"--{option} [^[]*\[default: {re.escape(default)}\]", page), option


def test_a_limit_on_the_mixture_lets_everybody_be_chosen(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = plan_json(capsys, fleet, "--divergence", "mixture")
    assert plan["status"] == "certified"
    assert plan["eligible"] == 80
    assert plan["objective"] < plan_json(capsys, fleet)["objective"]
    assert main(["plan", str(fleet), "--divergence", "mixture"]) == 0
    assert "(at most 0.2)" in " ".join(capsys.readouterr().out.split())


WISHES = {
    "deadline_s": 1.5,
    "energy_budget_j": 9.0,
    "required": ("3",),
    "forbidden": ("4",),
    "min_clients": 4,
    "max_clients": 7,
}


def options_for(limits: Limits) -> list[str]:
    """What to type for limits that are not the defaults."""
    changed = {item: getattr(limits, item.name) for item in fields(Limits)}
    return [
        f"{item.metadata.get('option', '--' + item.name.replace('_', '-'))}={one}"
        for item, value in changed.items()
        if value != item.default
        for one in (value if isinstance(value, tuple) else (value,))
    ]


def test_every_wish_reaches_the_decision(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Limits(max_divergence=math.inf, **WISHES)
    options = options_for(asked)
    assert len(options) == 1 + len(WISHES)
    plan = plan_json(capsys, fleet, *options)
    decision = solve(RoundProblem.build(Fleet.from_csv(fleet), limits=asked))
    assert decision.violations() == {}
    assert plan["objective"] == decision.objective


def test_every_limit_reaches_the_decision(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed = Limits(
        bandwidth_hz=5e6,
        noise_dbm_hz=-170.0,
        carrier_hz=1e9,
        path_loss_exponent=2.5,
        capacitance=2e-27,
        epochs=3,
        bits_per_sample=1000.0,
        model_bits=1e6,
        max_divergence=0.5,
        divergence="mixture",
        min_samples=5000,
        latency_weight=2.0,
        energy_weight=0.5,
        smoothing=1.0,
    )
    options = options_for(changed)
    assert len(options) == len(fields(Limits)) - len(WISHES)
    plan = plan_json(capsys, fleet, *options)
    assert plan["objective"] == solve(RoundProblem.build(Fleet.from_csv(fleet), limits=changed)).objective


def test_out_holds_the_selected_clients_as_json_does(
    fleet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_json(capsys, fleet, "--out", tmp_path / "decision.csv")
    with open(tmp_path / "decision.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == CLIENT_KEYS
    assert [{key: str(value) for key, value in client.items()} for client in plan["clients"]] == rows
    assert [path.name for path in tmp_path.iterdir()] == ["decision.csv"]


def test_the_table_tells_who_what_it_costs_and_what_limits_the_round(
    fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", str(fleet)]) == 0
    page = capsys.readouterr().out
    assert "3 of 8 eligible clients train (80 in the fleet)" in page
    assert "proved" in page
    assert "lower bound" in page
    assert "% of their time on upload" in page
    assert "1% more bandwidth would save about" in page
    assert "100.0% of 2 MHz used" in page
    assert "assumed     1421632 bits per upload (--model-bits), 6272 per sample" in page
    assert "the fleet's channel gains" in page
    assert "\x1b" not in page


def test_a_long_table_shows_thirty_clients_and_says_how_many_more(
    fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--max-divergence", "inf", "--min-samples", "55000"]
    plan = plan_json(capsys, fleet, *arguments)
    assert main(["plan", str(fleet), *arguments]) == 0
    page = capsys.readouterr().out
    assert f"... and {len(plan['clients']) - 30} more; --out decision.csv writes all of them" in page
    assert len(page.splitlines()) < 45


def test_methods_side_by_side(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    methods = ["certified", "brute", "ga-greedy", "best-channel+equal", "random-k+random"]
    rows = plan_json(capsys, fleet, "--compare", ",".join(methods))
    assert [row["solver"] for row in rows] == methods
    best = max(row["lower_bound"] for row in rows if row["lower_bound"] is not None)
    for row in rows:
        assert row["ratio"] == pytest.approx(row["objective"] / best)
        assert row["violations"] == {}
        assert row["ratio"] >= 1.0 - 1e-12
        assert row["samples"] >= 2000
        assert row["clients"] >= 3
    assert main(["plan", str(fleet), "--compare", ",".join(methods)]) == 0
    page = capsys.readouterr().out
    assert all(method in page for method in methods)
    assert max(map(len, page.splitlines())) <= 120


def test_a_method_that_cannot_decide_does_not_spoil_the_comparison(
    fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = plan_json(capsys, fleet, "--compare", "certified,brute", "--max-divergence", "inf")
    assert rows[0]["status"] == "certified"
    assert rows[1]["status"] == "failed"
    assert rows[1]["error"]
    assert main(["plan", str(fleet), "--compare", "certified,brute", "--max-divergence", "inf"]) == 0
    assert f"brute: {rows[1]['error']}" in capsys.readouterr().out


def test_the_papers_algorithms_have_three_levels(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for solver in ("dc", "cs-greedy"):
        plans = [
            plan_json(capsys, fleet, "--max-divergence", "2", "--solver", solver, "--reading", level)
            for level in ("printed", "repaired", "strong")
        ]
        assert [plan["status"] for plan in plans] == ["feasible"] * 3
        default = plan_json(capsys, fleet, "--max-divergence", "2", "--solver", solver)
        assert default["objective"] == plans[1]["objective"]
        assert plans[1]["objective"] < plans[0]["objective"]


def test_a_decision_is_shown_with_what_it_violates(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decision = solve(RoundProblem.build(Fleet.from_csv(fleet)), "dc", reading="printed", rho=10.0)
    show_decision(decision)
    said = capsys.readouterr().out
    assert "this decision cannot be carried out" in said
    assert "bandwidth" in said


def test_a_seed_makes_a_random_method_repeatable(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def objective(seed: int) -> float:
        return float(plan_json(capsys, fleet, "--solver", "random-k+random", "--seed", seed)["objective"])

    assert objective(1) == objective(1)
    assert len({objective(seed) for seed in range(4)}) > 1


def test_a_time_limit_returns_an_honest_gap(fleet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = plan_json(
        capsys, fleet, "--time-limit", 1e-9, "--max-gap", 0, "--max-divergence", "inf", "--min-samples", 12000
    )
    assert plan["status"] in ("stopped early", "certified")
    assert 0.0 <= plan["gap"] < 1.0
    assert plan["lower_bound"] <= plan["objective"]


def test_planning_imports_nothing_heavy_beside_numba(fleet: Path) -> None:
    script = (
        "import sys\n"
        "from wisefl.cli import main\n"
        "code = main(sys.argv[1:])\n"
        f"loaded = [name for name in {HEAVY} if name in sys.modules]\n"
        "sys.exit(f'imported {loaded}' if loaded else code)\n"
    )
    for extra in ([], ["--json"]):
        done = subprocess.run(
            [sys.executable, "-c", script, "plan", str(fleet), *extra], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""


@pytest.mark.parametrize("extra", ["", "--json"])
def test_it_stays_quiet_when_its_reader_leaves(fleet: Path, extra: str) -> None:
    program = f"{sys.executable} -m wisefl.cli plan {fleet} {extra}"
    done = subprocess.run(
        ["bash", "-c", f"{program} | true; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout == "141\n"
