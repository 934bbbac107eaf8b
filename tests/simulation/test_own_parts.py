"""Data, model, policy and fleet of one's own, named in a configuration: no edit of the package."""

from pathlib import Path

import numpy as np
import pytest

from support.own import SMALL, clouds, write_code, write_npz
from support.parts import need
from support.runs import records, repeatable
from wisefl import Fleet, InvalidInput
from wisefl.run.config import load_config
from wisefl.run.folder import RunFolder
from wisefl.simulation.federation import build
from wisefl.simulation.loop import run_folder

need("torch")

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data and code of one's own, in which a user works."""
    monkeypatch.chdir(tmp_path)
    write_npz(tmp_path / "my.npz")
    write_code(tmp_path / "mine.py")
    return tmp_path


OWN = (*SMALL, "data.name=my.npz", "training.model=mine.py:mlp", "training.learning_rate=0.2")


def test_own_data_model_and_policy_learn_and_go_on_after_a_stop_from_any_folder(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_config(changes=(*OWN, "policy.name=mine.py:Largest", "policy.options={clients = 4}"))
    whole = run_folder(place / "whole", config)
    assert whole.final_accuracy > 0.8
    assert whole.policy == "Largest"
    assert all(len(record.selected) == 4 for record in records(place / "whole"))
    folder = RunFolder.create(place / "cut", RunFolder.open(place / "whole").config)
    for record in records(place / "whole")[:3]:
        folder.append(record)  # killed before its first checkpoint
    (place / "elsewhere").mkdir()
    monkeypatch.chdir(place / "elsewhere")
    assert run_folder(place / "cut").weights_sha256 == whole.weights_sha256
    assert repeatable(place / "cut") == repeatable(place / "whole")


@pytest.mark.parametrize("policy", ["mine.py:everybody", "mine:Largest"])
@pytest.mark.parametrize("model", ["mine.py:Fixed", "mine:mlp"])
def test_functions_and_classes_with_and_without_arguments_will_do(place: Path, policy: str, model: str) -> None:
    changes = (*OWN, f"training.model={model}", f"policy.name={policy}", "data.name=mine:clouds", "rounds=1")
    run_folder(place / "run", load_config(changes=changes))
    assert len(records(place / "run")[0].selected) == (12 if "everybody" in policy else 3)


def test_files_in_a_toml_file_are_named_from_its_folder(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "run.toml").write_text('[data]\nname = "my.npz"\n[policy]\nname = "mine.py:Largest"\n')
    (place / "elsewhere").mkdir()
    monkeypatch.chdir(place / "elsewhere")
    config = load_config(file=Path("../run.toml"))
    assert config.data.name == str(place / "my.npz")
    assert config.policy.name == f"{place / 'mine.py'}:Largest"


def test_data_that_changed_is_noticed_when_a_run_goes_on(place: Path) -> None:
    config = load_config(changes=(*OWN, "rounds=1"))
    run_folder(place / "run", config)
    (place / "run" / "summary.json").unlink()
    x, y = clouds(seed=2)
    np.savez(place / "my.npz", x=x, y=y)
    with pytest.raises(InvalidInput, match="changed since the run began"):
        run_folder(place / "run")


def test_natural_clients_hold_their_own_samples(place: Path) -> None:
    federation = build(load_config(changes=(*OWN, "data.partition=natural")))
    assert federation.partition.sizes.sum() == len(federation.train)
    few = build(load_config(changes=(*OWN, "data.partition=natural", "data.clients=5")))
    assert few.clients == 5
    assert few.partition.sizes.sum() == len(few.train) < len(federation.train)
    with pytest.raises(InvalidInput, match="12 clients of its own, fewer than clients = 13"):
        build(load_config(changes=(*OWN, "data.partition=natural", "data.clients=13")))


def fleet_file(path: Path, clients: int = 9) -> Fleet:
    drawn = Fleet.random(clients, seed=3, samples=270, classes=3)
    fleet = Fleet(
        client=np.array([f"phone-{number}" for number in range(clients)]),
        **{name: value for name, value in vars(drawn).items() if name != "client"},
    )
    fleet.to_csv(path)
    return fleet


def test_a_fleet_from_a_file_with_the_partition_s_counts_or_its_own(place: Path) -> None:
    fleet = fleet_file(place / "fleet.csv")
    without = tuple(change for change in OWN if not change.startswith("data.clients"))
    spread = build(load_config(changes=(*without, "fleet.file=fleet.csv")))
    assert (spread.fleet.distance_m == fleet.distance_m).all()
    assert (spread.fleet.label_counts.sum(axis=1) == spread.partition.sizes).all()
    assert spread.fleet.samples.sum() == len(spread.train) > 270
    told = build(load_config(changes=(*without, "fleet.file=fleet.csv", "fleet.counts=file")))
    assert (told.fleet.label_counts == fleet.label_counts).all()
    assert len(told.train) == 270
    assert (told.problem(1).fleet.channel_gain == fleet.channel_gain).all()


def test_a_fleet_s_file_says_how_many_clients_there_are_whatever_the_preset_has(place: Path) -> None:
    fleet_file(place / "fleet.csv")
    assert load_config("demo").data.clients != 9
    assert load_config("demo", changes=("fleet.file=fleet.csv",)).data.clients == 9
    (place / "mine.toml").write_text('[fleet]\nfile = "fleet.csv"\n')
    assert load_config("demo", place / "mine.toml").data.clients == 9


@pytest.mark.parametrize("kind", ["training", "decisions"])
def test_records_call_the_clients_of_a_file_by_their_ids(place: Path, kind: str) -> None:
    fleet_file(place / "fleet.csv")
    without = tuple(change for change in OWN if not change.startswith("data.clients"))
    changes = (*without, f"kind={kind}", "fleet.file=fleet.csv", "fleet.fading=file", "rounds=2")
    run_folder(place / "run", load_config(changes=changes))
    chosen = {name for record in records(place / "run") for name in record.selected}
    assert chosen <= {f"phone-{number}" for number in range(9)}
    assert chosen
    if kind == "decisions":  # no draw differs between rounds: the file's own gains decide both
        first, second = records(place / "run")
        assert first.objective == second.objective


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (["data.name=no.npz"], "no.npz: no such file"),
        (["data.name=mine.py"], "there is no such dataset"),
        (["data.name=mine.py:nothing"], "has no 'nothing'; it has"),
        (["data.name=nowhere:data"], "there is no module 'nowhere'"),
        (["training.model=mlp"], "there is no such model"),
        (["training.model=mine.py:Largest"], "makes Largest, but a torch.nn.Module is needed"),
        (["training.model=mine.py:clouds"], "makes tuple, but a torch.nn.Module"),
        (["training.model=paper-cnn"], "paper-cnn takes images"),
        (["policy.name=mine.py:Largest", "policy.options={size = 3}"], "has no option 'size'; it has clients"),
        (["policy.name=mine.py:Largest", "policy.options={clients = 'x'}"], "must be a whole number, not 'x'"),
        (["policy.name=mine.py:everybody", "policy.options={clients = 1}"], "takes no options"),
        (["policy.name=broken.py:Mine"], "broken.py cannot be imported: NameError: name 'oops' is not defined"),
        (["fleet.counts=file"], "needs the file: set fleet.file"),
        (["fleet.file=fleet.csv", "data.clients=4"], "data.clients = 4, but"),
        (["fleet.file=fleet.csv", "data.clients=9", "fleet.frequency_unit_hz=1e6"], "is for drawn fleets"),
    ],
)
def test_what_is_wrong_with_own_parts_is_told_before_anything_starts(
    place: Path, changes: list[str], says: str
) -> None:
    (place / "broken.py").write_text("class Mine:\n    x = oops\n")
    fleet_file(place / "fleet.csv")
    with pytest.raises(InvalidInput, match=None) as told:
        run_folder(place / "run", load_config(changes=(*OWN, *changes)))
    assert says in str(told.value)
    assert "\n" not in str(told.value)
    assert not (place / "run").exists()


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return [0, 0]", "different positions from 0 to 11"),
        ("return [99]", "different positions from 0 to 11"),
        ("return []", "at least one"),
        ("return 'all'", "chose 'all'"),
        ("return problem.nothing", "failed with AttributeError"),
    ],
)
def test_a_policy_that_answers_nonsense_is_told_so(place: Path, body: str, says: str) -> None:
    name = f"bad{abs(hash(body))}.py"
    (place / name).write_text(f"def choose(problem, view):\n    {body}\n")
    with pytest.raises(InvalidInput) as told:
        run_folder(place / "run", load_config(changes=(*OWN, f"policy.name={name}:choose", "rounds=1")))
    assert says in str(told.value)
