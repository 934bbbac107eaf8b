"""What a program or a notebook calls: plan, simulate, compare, with frames of any library."""

import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wisefl
from support.own import clouds
from support.parts import need
from wisefl import Fleet, InvalidInput
from wisefl.frames import columns_of
from wisefl.run.folder import RunFolder


@pytest.fixture
def fleet() -> Fleet:
    return Fleet.random(clients=30, seed=2, samples=9000, classes=3)


def test_one_call_plans_a_round_as_the_parts_do(fleet: Fleet) -> None:
    plan = wisefl.plan(fleet, min_samples=1500, bandwidth_hz=4e6, max_gap=1e-4)
    limits = wisefl.Limits(min_samples=1500, bandwidth_hz=4e6)
    same = wisefl.solve(wisefl.RoundProblem.build(fleet, limits=limits), max_gap=1e-4)
    assert plan.objective == same.objective
    assert plan.violations() == {}
    assert "1.422e+06 bits per upload" in plan.summary().replace("1.42163e+06", "1.422e+06")
    assert f"{plan.latency_s:.4g} s" in repr(plan)
    assert len(repr(plan)) < 100
    assert "<p>" in plan._repr_html_()


def test_who_is_not_selected_has_no_times(fleet: Fleet) -> None:
    plan = wisefl.plan(fleet)
    columns = plan.columns()
    assert [not math.isnan(value) for value in columns["upload_s"]] == plan.selected.tolist()
    assert len(columns["client"]) == 30


def test_a_path_a_mapping_and_lists_are_fleets_too(tmp_path: Path, fleet: Fleet) -> None:
    fleet.to_csv(tmp_path / "fleet.csv")
    whole = wisefl.plan(fleet).objective
    assert wisefl.plan(str(tmp_path / "fleet.csv")).objective == whole
    lists = Fleet(
        client=list(range(30)),
        label_counts=fleet.label_counts.tolist(),
        **{name: getattr(fleet, name).tolist() for name in vars(fleet) if name not in ("client", "label_counts")},
    )
    assert wisefl.plan(lists).objective == whole
    assert lists.client.tolist() == fleet.client.tolist()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_any_library_go_in_and_come_out(
    library: str, fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(library)
    monkeypatch.setattr("wisefl.frames._LIBRARIES", (library,))
    frame = fleet.to_frame()
    assert type(frame).__module__.startswith(library)
    back = Fleet.from_frame(frame)
    assert wisefl.plan(frame).objective == wisefl.plan(fleet).objective
    assert all((getattr(back, name) == getattr(fleet, name)).all() for name in vars(fleet))
    told = columns_of(wisefl.plan(fleet).to_frame())
    assert sum(told["selected"]) == int(wisefl.plan(fleet).selected.sum())


def test_a_mistake_in_a_frame_is_told_with_its_row_and_column(fleet: Fleet) -> None:
    columns = {name: getattr(fleet, name).tolist() for name in vars(fleet) if name != "label_counts"}
    columns |= {f"count_{label}": fleet.label_counts[:, label].tolist() for label in range(3)}
    assert wisefl.plan(columns).objective == wisefl.plan(fleet).objective
    columns["distance_m"][3] = -1.0
    with pytest.raises(InvalidInput, match="row 4, column 'distance_m': -1 must be greater than 0"):
        wisefl.plan(columns)
    del columns["distance_m"]
    with pytest.raises(InvalidInput, match="column 'distance_m' is missing"):
        wisefl.plan(columns)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"fleet": 3}, "the fleet is int, but a data frame or a mapping of columns is needed"),
        ({"min_samples": "many"}, "min_samples must be a number, not 'many'"),
        ({"min_sample": 3}, "has no option 'min_sample'"),
        ({"solver": None}, "solver is NoneType, but a name is needed"),
        ({"solver": "best"}, "unknown policy 'best'"),
        ({"channel_gain": [1.0, 2.0]}, "channel_gain needs one number greater than 0 for every client"),
        ({"divergence": "mean"}, "divergence must be client or mixture, not 'mean'"),
    ],
)
def test_a_wrong_argument_gets_one_clear_sentence(fleet: Fleet, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput) as told:
        wisefl.plan(**{"fleet": fleet, **arguments})
    assert says in str(told.value)
    with pytest.raises(InvalidInput, match=r"problem is Fleet, but a RoundProblem is needed"):
        wisefl.solve(fleet)


def test_own_model_data_fleet_and_policy_in_a_few_lines(tmp_path: Path) -> None:
    need("torch", "matplotlib")
    from torch import nn

    class Nearest:
        def choose(self, problem: Any, view: Any) -> Any:
            return np.argsort(problem.fleet.distance_m)[:3]

    def run(out: Path, policy: Any, seed: int = 0) -> wisefl.Result:
        net = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 3))
        settings = {"min_samples": 60, "max_divergence": math.inf, "learning_rate": 0.2, "seed": seed}
        fleet = Fleet.random(10, seed=5, samples=300, classes=3)
        return wisefl.simulate(model=net, data=clouds(), fleet=fleet, policy=policy, rounds=8, out=out, **settings)

    result = run(tmp_path / "mine", Nearest)
    assert result.summary.final_accuracy > 0.7
    assert result.finished
    assert len({record.selected for record in result.records}) == 1
    assert "Nearest" in repr(result)
    again = run(tmp_path / "mine", Nearest)  # the same call returns the finished run
    assert again.summary == result.summary
    table = wisefl.compare([result, run(tmp_path / "csra", "csra")], target=0.5)
    assert table.target == 0.5
    assert table.columns()["name"] == ["mine", "csra"]
    assert "final_accuracy" in repr(table)
    assert "<table>" in table._repr_html_()
    assert table.plot()._repr_png_().startswith(b"\x89PNG")
    result.plot().save(tmp_path / "mine.png")
    assert (tmp_path / "mine.png").stat().st_size > 5000
    assert wisefl.plan(Fleet.random(10, seed=5), max_divergence=math.inf).plot()._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(InvalidInput, match="another configuration"):
        run(tmp_path / "mine", "csra")


def test_a_run_of_a_program_cannot_be_resumed_without_it_and_notices_other_data(tmp_path: Path) -> None:
    need("torch")
    from wisefl.simulation.loop import run_folder

    settings = {"min_samples": 60, "max_divergence": math.inf, "clients": 10, "rounds": 2, "out": tmp_path / "run"}
    from torch import nn

    wisefl.simulate(model=nn.Linear(12, 3), data=clouds(), **settings)
    (tmp_path / "run" / "summary.json").unlink()
    with pytest.raises(InvalidInput, match=r"data\.name is .own., from the program"):
        run_folder(tmp_path / "run")
    with pytest.raises(InvalidInput, match="changed since the run began"):
        wisefl.simulate(model=nn.Linear(12, 3), data=clouds(seed=9), **settings)
    assert wisefl.simulate(model=nn.Linear(12, 3), data=clouds(), **settings).finished


def test_natural_clients_come_with_the_data(tmp_path: Path) -> None:
    need("torch")
    from torch import nn

    x, y = clouds()
    data = {"x": x, "y": y, "client": np.arange(600) % 7}
    result = wisefl.simulate(
        model=nn.Linear(12, 3), data=data, rounds=1, out=tmp_path, min_samples=60, max_divergence=math.inf
    )
    config = RunFolder.open(tmp_path).config
    assert (config.data.partition, config.data.clients) == ("natural", 7)
    assert result.records[0].samples >= 60


def test_a_record_is_a_row_of_a_frame(tmp_path: Path) -> None:
    need("pandas", "torch")
    result = wisefl.simulate(preset="demo", rounds=2, epochs=1, out=tmp_path)
    frame = result.frame()
    assert frame["round"].tolist() == [1, 2]
    assert frame["latency_s"].sum() == pytest.approx(result.summary.cumulative_latency_s)
    assert wisefl.open_run(tmp_path).summary == result.summary


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"speed": 3}, "there is no setting 'speed'"),
        ({"model": 3}, "model is int, but a torch.nn.Module or a name is needed"),
        ({"data": 3}, "data is int, but data is (x, y)"),
        ({"policy": 3}, "policy 'int' is int: it has no choose(problem, view)"),
        ({"rounds": "ten"}, "rounds = 'ten': input should be a valid integer"),
        ({"preset": "big"}, "unknown preset 'big'"),
        ({"fleet": 3}, "the fleet is int"),
    ],
)
def test_a_wrong_setting_gets_one_clear_sentence(tmp_path: Path, arguments: dict[str, Any], says: str) -> None:
    need("torch")
    with pytest.raises(InvalidInput) as told:
        wisefl.simulate(out=tmp_path / "run", **arguments)
    assert says in str(told.value)
    assert not (tmp_path / "run").exists()


def test_importing_wisefl_brings_nothing_heavy() -> None:
    heavy = "torch, pandas, polars, narwhals, matplotlib, scipy, pydantic, rich, numba"
    program = (
        "import sys, numpy; before = set(sys.modules); import wisefl; "
        f"print([name for name in '{heavy}, numpy.random'.split(', ') if name in sys.modules.keys() - before])"
    )
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert time.perf_counter() - start < 5.0  # 0.2 s where nobody else works
