from pathlib import Path

import numpy as np
import pytest

from support.own import clouds, write_npz
from support.parts import need
from wisefl import InvalidInput
from wisefl.data import by_counts, dataset_of, is_own, load, natural


def test_without_a_test_set_every_fifth_sample_of_each_class_is_for_testing() -> None:
    x, y = clouds()
    data = dataset_of((x, y))
    assert data.train_labels.size + data.test_labels.size == 600
    assert np.bincount(data.test_labels).tolist() == (np.bincount(y) // 5).tolist()
    assert data.train_images.dtype == np.float32
    assert data.bits_per_sample == 12 * 32


def test_words_are_labels_too_and_keep_their_names() -> None:
    x, y = clouds()
    data = dataset_of({"x": x, "y": np.array(["ant", "bee", "cat"])[y]})
    assert data.classes == ("ant", "bee", "cat")
    assert data.train_labels.max() == 2


def test_pixels_are_normalised_by_channel_and_tokens_stay_as_they_are() -> None:
    draw = np.random.default_rng(0)
    pixels = draw.integers(0, 256, (50, 3, 8, 8), dtype=np.uint8)
    data = dataset_of((pixels, np.arange(50) % 5, pixels, np.arange(50) % 5))
    seen = data.normalised(data.train_images)
    assert seen.mean(axis=(0, 2, 3)) == pytest.approx(0.0, abs=1e-5)
    assert seen.std(axis=(0, 2, 3)) == pytest.approx(1.0, abs=1e-4)
    tokens = dataset_of((draw.integers(0, 90, (50, 7), dtype=np.int16), np.arange(50) % 5))
    assert tokens.normalised(tokens.train_images).dtype == np.int64
    assert tokens.bits_per_sample == 7 * 16


def test_an_npz_file_gives_data_and_natural_clients(tmp_path: Path) -> None:
    data = load(str(write_npz(tmp_path / "my.npz")))
    assert is_own(data.name)
    samples, partition = natural(data.client, 12)
    assert samples.size == data.train_labels.size
    for client in range(12):
        assert (data.client[samples[partition[client]]] == client).all()


@pytest.mark.parametrize("both", [True, False])
def test_a_folder_of_images_per_class(tmp_path: Path, both: bool) -> None:
    need("PIL")
    from PIL import Image

    draw = np.random.default_rng(0)
    for side in ("train", "test") if both else (".",):
        for name in ("cat", "dog"):
            folder = tmp_path / side / name
            folder.mkdir(parents=True)
            for number in range(10):
                Image.fromarray(draw.integers(0, 256, (16, 20, 3), dtype=np.uint8)).save(folder / f"{number}.png")
    data = load(str(tmp_path))
    assert data.classes == ("cat", "dog")
    assert data.shape == (3, 16, 20)
    assert (data.train_labels.size, data.test_labels.size) == ((20, 20) if both else (16, 4))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (np.zeros(3), "is ndarray, but data is (x, y)"),
        ((np.zeros(3), np.zeros(3)), "one row per sample"),
        ((np.zeros((3, 2)), np.zeros(4)), "holds 3 samples, y_train 4 labels"),
        ((np.full((9, 2), np.nan), np.zeros(9)), "sample 0 holds a number that is not finite"),
        ((np.zeros((9, 2)), np.full(9, 0.5)), "whole numbers from 0 or words"),
        ((np.zeros((9, 2)), np.eye(9)), "of one-hot rows, argmax"),
        ((np.zeros((9, 2)), np.arange(9) - 1), "labels start at 0, but the smallest is -1"),
        ((np.array([["a", "b"]] * 9), np.zeros(9)), "but numbers are needed"),
        ((np.zeros((3, 2)), np.arange(3)), "no class has 5 samples"),
        ({"x": np.zeros((9, 2))}, "it needs x_train, y_train, x_test, y_test, or x and y"),
        ({"x": np.zeros((9, 2)), "y": np.zeros(9), "client": np.zeros(3)}, "one id for each of 9 samples"),
        (
            (np.zeros((9, 2)), np.zeros(9, int), np.zeros((9, 3)), np.zeros(9, int)),
            "samples for training are float32 of shape (2,), for testing float32 of shape (3,)",
        ),
    ],
)
def test_arrays_that_are_no_dataset(given: object, says: str) -> None:
    with pytest.raises(InvalidInput) as told:
        dataset_of(given)
    assert says in str(told.value)


def test_files_that_are_no_dataset(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(InvalidInput, match=r"not an \.npz file of plain arrays"):
        load(str(tmp_path / "text.npz"))
    with pytest.raises(InvalidInput, match="holds no folder with images"):
        load(str(tmp_path))


def test_a_partition_by_counts_gives_everybody_what_the_counts_say() -> None:
    _, labels = clouds()
    counts = np.array([[3, 0, 9], [50, 60, 0], [1, 1, 1]])
    samples, partition = by_counts(labels, counts, seed=4)
    assert (partition.counts(labels[samples], 3) == counts).all()
    assert np.unique(samples).size == counts.sum()
    with pytest.raises(InvalidInput, match="hold 1000 samples of class 1, but the data has only"):
        by_counts(labels, np.array([[0, 1000, 0]]))
