import logging

import pytest
from torch import nn

from wisefl.errors import InvalidInput
from wisefl.learning import selection
from wisefl.learning.fast.lanes import vector_lanes
from wisefl.learning.model import PaperCNN
from wisefl.learning.selection import select_engine


@pytest.mark.skipif(vector_lanes() is None, reason="needs AVX-512, or AVX2 and FMA")
@pytest.mark.parametrize("shape", [(1, 28, 28), (3, 32, 32)])
def test_the_paper_cnn_gets_the_fast_engine(shape: tuple[int, int, int], caplog: pytest.LogCaptureFixture) -> None:
    assert select_engine(PaperCNN(shape)).name == "fast"
    assert select_engine(PaperCNN(shape), "general").name == "general"
    assert not caplog.records


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (nn.Sequential(nn.Flatten(), nn.Linear(784, 10)), "Sequential"),
        (PaperCNN((1, 30, 28)), "30 x 28"),
        (PaperCNN((1, 28, 30)), "28 x 30"),
        (PaperCNN((1, 28, 28), classes=62), "62"),
    ],
)
def test_any_other_model_gets_the_general_engine_and_one_line_says_why(
    model: nn.Module, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="wisefl"):
        assert select_engine(model).name == "general"
    assert len(caplog.records) == 1
    assert reason in caplog.text
    with pytest.raises(InvalidInput, match=reason):
        select_engine(model, "fast")


def test_a_cpu_without_wide_vectors_gets_the_general_engine(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(selection, "vector_lanes", lambda: None)
    assert select_engine(PaperCNN((1, 28, 28))).name == "general"
    assert len(caplog.records) == 1
    assert "AVX2" in caplog.text


def test_unknown_engines_are_refused() -> None:
    with pytest.raises(InvalidInput, match="'gpu'"):
        select_engine(PaperCNN((1, 28, 28)), "gpu")  # type: ignore[arg-type]
