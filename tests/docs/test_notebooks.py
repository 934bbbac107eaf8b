"""The notebooks of examples/ run from their first cell to their last."""

from pathlib import Path

import pytest

from support.parts import need

NOTEBOOKS = Path(__file__).parents[2] / "examples" / "notebooks"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    need("nbclient", "nbformat", "ipykernel", "matplotlib", "torch", "pandas")
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=500, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in shown) or (tmp_path / "decision.png").exists()


def test_there_is_one_for_each_kind_of_user() -> None:
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == {"planner", "researcher", "engineer"}
