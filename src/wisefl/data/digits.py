"""scikit-learn's handwritten digits, enlarged so that the same models serve: the dataset that is always there."""

import numpy as np
from numpy.typing import NDArray

from wisefl.data.dataset import Arrays, Images
from wisefl.errors import MissingExtra

_TEST_EVERY = 5


def digits_arrays() -> Arrays:
    """1,442 training and 355 test images of 28x28 pixels.

    Every fifth sample of each class, in the published order, is for testing: the same split everywhere. The
    published order goes from writer to writer, so taking the end for testing would test on strangers only.
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise MissingExtra("scikit-learn, which holds the digits,", "learning") from None
    raw = load_digits()
    labels = np.asarray(raw.target, dtype=np.int64)
    images = enlarge(np.asarray(raw.images).astype(np.int64))
    rank_in_class = np.empty(labels.size, dtype=np.int64)
    for label in range(10):
        members = np.flatnonzero(labels == label)
        rank_in_class[members] = np.arange(members.size)
    test = rank_in_class % _TEST_EVERY == _TEST_EVERY - 1
    return Arrays(images[~test], labels[~test], images[test], labels[test])


def enlarge(images: NDArray[np.int64]) -> Images:
    """8x8 images of 0..16 to 28x28 of 0..255: three times by linear interpolation, then a margin of two.

    In whole numbers from end to end, so that every machine makes the same bytes.
    """
    ninths = _three_times(_three_times(images, axis=1), axis=2)
    largest = 16 * 9
    pixels = (ninths * 255 + largest // 2) // largest
    return np.pad(pixels.astype(np.uint8), ((0, 0), (2, 2), (2, 2)))[:, None]


def _three_times(images: NDArray[np.int64], axis: int) -> NDArray[np.int64]:
    """Each pixel becomes three, the outer two leaning a third towards the neighbour; results are in thirds."""
    lines = np.moveaxis(images, axis, -1)
    around = np.pad(lines, [(0, 0)] * (lines.ndim - 1) + [(1, 1)])
    before, after = around[..., :-2], around[..., 2:]
    thirds = np.stack([2 * lines + before, 3 * lines, 2 * lines + after], axis=-1)
    return np.moveaxis(thirds.reshape(*lines.shape[:-1], 3 * lines.shape[-1]), -1, axis)
