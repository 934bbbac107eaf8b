import numpy as np
import pytest
from torch import nn

from wisefl.errors import InvalidInput
from wisefl.learning import LocalTraining, Samples, client_losses, evaluate
from wisefl.learning.general import GeneralEngine
from wisefl.learning.model import load_vector, to_vector

LABELS = np.array([0, 0, 1])


def two_pixel_model() -> tuple[GeneralEngine, np.ndarray, Samples]:
    """Logits are the two pixels themselves."""
    model = nn.Sequential(nn.Flatten(), nn.Linear(2, 2, bias=False))
    load_vector(model, np.array([1, 0, 0, 1], dtype=np.float32))
    images = np.array([[[2, 0]], [[0, 1]], [[0, 3]]], dtype=np.float32)
    return GeneralEngine(model), to_vector(model), Samples(images, LABELS)


def test_accuracy_and_loss_by_hand() -> None:
    engine, weights, samples = two_pixel_model()
    losses = [np.log(1 + np.exp(-2)), np.log(1 + np.exp(1)), np.log(1 + np.exp(-3))]
    result = evaluate(engine, weights, samples)
    assert result.accuracy == pytest.approx(2 / 3)
    assert result.loss == pytest.approx(np.mean(losses))
    assert result.samples == 3
    assert evaluate(engine, weights, samples, np.array([1])).accuracy == 0
    by_client = client_losses(engine, weights, samples, [np.array([2, 0]), np.array([], dtype=int), np.array([1])])
    assert by_client[[0, 2]] == pytest.approx([(losses[0] + losses[2]) / 2, losses[1]])
    assert np.isnan(by_client[1])


def test_nothing_to_evaluate_is_not_a_number() -> None:
    engine, weights, samples = two_pixel_model()
    nothing = evaluate(engine, weights, samples, np.zeros(0, dtype=np.int64))
    assert nothing.samples == 0
    assert np.isnan([nothing.accuracy, nothing.loss]).all()
    assert client_losses(engine, weights, samples, []).size == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [("epochs", 0), ("batch_size", 0), ("learning_rate", 0.0), ("proximal", -1.0), ("local_work", "all")],
)
def test_settings_out_of_range_name_the_field(field: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=field):
        LocalTraining(**{field: value})


def test_samples_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(InvalidInput, match="labels"):
        Samples(np.zeros((3, 4, 4), dtype=np.uint8), np.zeros(2, dtype=np.int64))
    with pytest.raises(InvalidInput, match="float64"):
        Samples(np.zeros((3, 4, 4)), np.zeros(3, dtype=np.int64))
    with pytest.raises(InvalidInput, match="-1"):
        Samples(np.zeros((1, 4, 4), dtype=np.uint8), np.array([-1]))
