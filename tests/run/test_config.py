import tomllib
from pathlib import Path

import pytest

from wisefl import InvalidInput
from wisefl.run.config import PRESETS, check, explain, load_config, to_toml


@pytest.mark.parametrize("preset", PRESETS)
def test_a_resolved_configuration_reads_back_as_itself(preset: str) -> None:
    config = load_config(preset, changes=("limits.max_divergence=inf", "policy.options={max_gap = 1e-2}"))
    assert check(tomllib.loads(to_toml(config))) == config


def test_later_settings_win(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("rounds = 7\n[policy]\nname = 'pow'\n")
    config = load_config("paper-fashion-mnist", file, ("policy.name=sae", "training.learning_rate=1"))
    assert (config.rounds, config.policy.name, config.data.name) == (7, "sae", "fashion-mnist")
    assert config.training.learning_rate == 1.0


def test_every_field_is_documented() -> None:
    assert [name for name, _, meaning in explain() if not meaning] == []


def test_epochs_bits_and_model_size_follow_from_the_training(tmp_path: Path) -> None:
    limits = load_config(changes=("training.epochs=3", "limits.min_samples=9")).round_limits(100.0, 2000.0)
    assert (limits.epochs, limits.bits_per_sample, limits.model_bits, limits.min_samples) == (3, 100.0, 2000.0, 9)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("policy.nme=pow", "there is no field 'policy.nme'; there are policy.name"),
        ("polcy.name=pow", "there is no field 'polcy'; there are kind, seed, rounds, data"),
        ("rounds=many", "rounds = 'many': input should be a valid integer"),
        ("rounds=2.5", "rounds = 2.5"),
        ("data.candidates=1.5", "data.candidates = 1.5: input should be less than or equal to 1"),
        ("failures.dropout=-0.1", "failures.dropout = -0.1"),
        ("limits.bandwidth_hz=0", "bandwidth_hz must be greater than 0"),
        ("data.name=mnist", "data.name = 'mnist'"),
        ("nothing", "'nothing' is not of the form key=value"),
    ],
)
def test_a_mistake_is_one_sentence_with_field_and_value(change: str, said: str) -> None:
    with pytest.raises(InvalidInput) as error:
        load_config("demo", changes=(change,))
    assert said in str(error.value)


def test_a_missing_or_broken_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file"):
        load_config(file=tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("rounds = = 3")
    with pytest.raises(InvalidInput, match="not valid TOML"):
        load_config(file=tmp_path / "bad.toml")
