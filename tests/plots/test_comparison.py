"""The picture of a comparison."""

from pathlib import Path

import pytest

from support.parts import need
from support.runs import make_run
from wisefl import InvalidInput
from wisefl.plots.comparison import default_title, plot_comparison
from wisefl.results.comparison import Comparison, compare, find_runs, load_runs

PNG = b"\x89PNG\r\n\x1a\n"


need("matplotlib")


def comparison_of(folder: Path) -> Comparison:
    return compare(load_runs(find_runs([folder])))


@pytest.mark.parametrize(("seeds", "around"), [(3, "each of them"), (4, "its 95% interval")])
def test_lines_and_bands_are_drawn(tmp_path: Path, seeds: int, around: str) -> None:
    for seed in range(seeds):
        make_run(tmp_path / f"a{seed}", [0.1 + 0.008 * step for step in range(70)], f"seed={seed}")
    make_run(tmp_path / "b", (0.2, 0.3), "policy.name=full", energy_j=9000.0)
    make_run(tmp_path / "c", (), "policy.name=pow", finished=False)
    comparison = comparison_of(tmp_path)
    plot_comparison(comparison, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(PNG)
    assert default_title(comparison) == (
        f"Test accuracy on digits: mean over {seeds} seeds and {around}, running mean of 5 evaluations"
    )


def test_one_round_is_enough(tmp_path: Path) -> None:
    make_run(tmp_path / "run", (0.5,))
    plot_comparison(comparison_of(tmp_path), tmp_path / "picture.png")
    assert (tmp_path / "picture.png").exists()


def test_nothing_evaluated_is_nothing_to_draw(tmp_path: Path) -> None:
    make_run(tmp_path / "run", (None, None))
    with pytest.raises(InvalidInput, match="no round was evaluated"):
        plot_comparison(comparison_of(tmp_path), tmp_path / "picture.png")
