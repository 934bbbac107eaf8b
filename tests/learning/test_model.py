import numpy as np
import pytest
import torch
from torch import nn

from wisefl.errors import InvalidInput
from wisefl.learning.model import initial_model, load_vector, parameter_count, to_vector


@pytest.mark.parametrize(("shape", "parameters"), [((1, 28, 28), 44_426), ((3, 32, 32), 62_006)])
def test_the_paper_cnn_has_the_papers_number_of_parameters(shape: tuple[int, int, int], parameters: int) -> None:
    model = initial_model("paper-cnn", shape, seed=0)
    assert parameter_count(model) == parameters
    assert to_vector(model).shape == (parameters,)
    assert model(torch.zeros(2, *shape)).shape == (2, 10)


def test_the_initial_model_depends_on_the_seed_alone() -> None:
    first = to_vector(initial_model("paper-cnn", (1, 28, 28), seed=3))
    torch.rand(7)
    state = torch.get_rng_state()
    assert np.array_equal(first, to_vector(initial_model("paper-cnn", (1, 28, 28), seed=3)))
    assert torch.equal(state, torch.get_rng_state())
    assert not np.array_equal(first, to_vector(initial_model("paper-cnn", (1, 28, 28), seed=4)))


def test_the_vector_holds_parameters_then_running_statistics_in_pytorchs_order() -> None:
    model = nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1))
    load_vector(model, np.arange(7, dtype=np.float32))
    assert model[0].weight.tolist() == [[0.0, 1.0]]
    assert model[0].bias.tolist() == [2.0]
    assert [model[1].weight.item(), model[1].bias.item()] == [3.0, 4.0]
    assert [model[1].running_mean.item(), model[1].running_var.item()] == [5.0, 6.0]
    assert to_vector(model).tolist() == list(range(7))


def test_a_vector_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(InvalidInput, match="44426"):
        load_vector(initial_model("paper-cnn", (1, 28, 28), seed=0), np.zeros(5, dtype=np.float32))


def test_unknown_models_and_images_too_small_are_refused() -> None:
    with pytest.raises(InvalidInput, match="paper-cnn"):
        initial_model("resnet", (1, 28, 28), seed=0)
    with pytest.raises(InvalidInput, match="16 x 16"):
        initial_model("paper-cnn", (1, 8, 8), seed=0)
