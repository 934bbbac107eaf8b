"""Data of one's own: arrays, an `.npz` file, a folder of images per class, or what a function returns."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Ints
from wisefl.data.dataset import Dataset, Inputs
from wisefl.data.shakespeare import NAME as SHAKESPEARE
from wisefl.errors import InvalidInput, MissingExtra
from wisefl.plugins import announced, call, is_reference, refer

ENTRY_POINTS = "wisefl.datasets"
FORMS = "an .npz file, a folder of images per class, or module:function"
PARTS = ("x_train", "y_train", "x_test", "y_test")
WHOLE = ("x", "y")
TEST_EVERY = 5
"""Where no test set is given, every fifth sample of each class is for testing."""
_PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")


def is_own(name: str) -> bool:
    """Whether a name stands for data that a user brings: by its form, or because a package announces it."""
    return (
        name == SHAKESPEARE
        or name.endswith(".npz")
        or is_reference(name)
        or Path(name).is_absolute()
        or name in announced(ENTRY_POINTS)
    )


def load_own(name: str) -> Dataset:
    """The dataset that a name of one's own stands for."""
    if name.endswith(".npz"):
        return dataset_of(_npz(Path(name)), name)
    if is_reference(name) or name in announced(ENTRY_POINTS):
        return dataset_of(call(name, refer(announced(ENTRY_POINTS).get(name, name))), name)
    return dataset_of(_folder(Path(name)), name)


def dataset_of(given: Any, name: str = "own") -> Dataset:
    """A dataset from (x, y), (x_train, y_train, x_test, y_test), or a mapping with these names.

    Samples go along the first axis. uint8 are pixels, [N, H, W] or [N, C, H, W]; floating-point numbers are taken as
    they are; other whole numbers are tokens. Labels are whole numbers from 0, or words. A mapping may also hold
    `client`, whose sample each one for training is, and `classes`, the names of the labels.
    """
    if isinstance(given, Dataset):
        return given
    parts = _parts(given, name)
    extra = {key: np.asarray(parts.pop(key)) for key in ("client", "classes") if key in parts}
    if set(parts) == set(WHOLE):
        parts = {"x_train": parts["x"], "y_train": parts["y"]}
    arrays = {key: _inputs(parts[key], f"{name}: {key}") for key in parts if key in PARTS[::2]}
    labels, classes = _labels(parts, name)
    for side in ("train", "test"):
        if f"x_{side}" in arrays and len(arrays[f"x_{side}"]) != labels[side].size:
            raise InvalidInput(
                f"{name}: x_{side} holds {len(arrays[f'x_{side}'])} samples, y_{side} {labels[side].size} labels"
            )
    client = _clients(extra.get("client"), labels["train"].size, name)
    named = tuple(map(str, extra["classes"].ravel())) if "classes" in extra else classes
    if len(named) < len(classes):
        raise InvalidInput(f"{name}: classes names {len(named)} labels, there are {len(classes)}")
    bits = 8 * np.asarray(parts["x_train"]).dtype.itemsize if arrays["x_train"].dtype == np.int64 else None
    if "x_test" not in arrays:
        arrays, labels, client = _with_test(arrays["x_train"], labels["train"], client)
    return _dataset(name, arrays, labels, named, client, bits)


def _dataset(
    name: str,
    arrays: dict[str, Inputs],
    labels: dict[str, Ints],
    classes: tuple[str, ...],
    client: Ints | None,
    bits: int | None,
) -> Dataset:
    train, test = arrays["x_train"], arrays["x_test"]
    if train.dtype != test.dtype or train.shape[1:] != test.shape[1:]:
        raise InvalidInput(
            f"{name}: samples for training are {train.dtype} of shape {train.shape[1:]}, for testing {test.dtype} of "
            f"shape {test.shape[1:]}: both have to be alike"
        )
    mean: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()
    if train.dtype == np.uint8:
        channels = train.transpose(1, 0, 2, 3).reshape(train.shape[1], -1)
        mean = tuple(float(channel.mean() / 255.0) for channel in channels)
        deviation = tuple(float(channel.std() / 255.0) or 1.0 for channel in channels)
    for array in (train, test, labels["train"], labels["test"]):
        array.flags.writeable = False
    return Dataset(
        name,
        train,
        labels["train"],
        test,
        labels["test"],
        classes=classes,
        mean=mean,
        std=deviation,
        client=client,
        bits_per_element=bits or 8 * train.dtype.itemsize,
    )


def _parts(given: Any, name: str) -> dict[str, Any]:
    if isinstance(given, Mapping):
        parts = {str(key): value for key, value in given.items()}
        known = {*PARTS, *WHOLE, "client", "classes"}
        if not parts.keys() <= known or not ({*PARTS} <= parts.keys() or {*WHOLE} <= parts.keys()):
            have = ", ".join(parts) or "nothing"
            raise InvalidInput(f"{name} holds {have}; it needs {', '.join(PARTS)}, or x and y, and may hold client")
        return parts
    if isinstance(given, tuple | list) and len(given) in (2, 4):
        return dict(zip(WHOLE if len(given) == 2 else PARTS, given, strict=True))
    raise InvalidInput(
        f"{name} is {type(given).__name__}, but data is (x, y), ({', '.join(PARTS)}), or a mapping with these names"
    )


def _inputs(given: Any, what: str) -> Inputs:
    array: NDArray[Any] = np.array(given)  # a copy of our own, which nobody changes afterwards
    if array.ndim < 2 or len(array) == 0:
        raise InvalidInput(f"{what} has shape {array.shape}, but one row per sample is needed, with something in it")
    if array.dtype == np.uint8 and array.ndim in (3, 4):
        return array[:, None] if array.ndim == 3 else array
    if array.dtype == np.uint8:
        return (array / np.float32(255)).astype(np.float32)
    if np.issubdtype(array.dtype, np.integer):
        return array.astype(np.int64)
    if not (np.issubdtype(array.dtype, np.floating) or array.dtype == np.bool_):
        raise InvalidInput(f"{what} is of type {array.dtype}, but numbers are needed")
    numbers = array.astype(np.float32)
    if not np.isfinite(numbers).all():
        row = int(np.argmax(~np.isfinite(numbers).reshape(len(numbers), -1).all(axis=1)))
        raise InvalidInput(f"{what}: sample {row} holds a number that is not finite")
    return numbers


def _labels(parts: Mapping[str, Any], name: str) -> tuple[dict[str, Ints], tuple[str, ...]]:
    """Labels as numbers from 0 by side, and the classes' names."""
    sides = {
        side: _column(parts[f"y_{side}"], f"{name}: y_{side}") for side in ("train", "test") if f"y_{side}" in parts
    }
    together = np.concatenate(list(sides.values()))
    if np.issubdtype(together.dtype, np.floating) and (together == np.rint(together)).all():
        together = together.astype(np.int64)
    if np.issubdtype(together.dtype, np.integer):
        if together.min() < 0:
            raise InvalidInput(f"{name}: labels start at 0, but the smallest is {together.min()}")
        numbers = together.astype(np.int64)
        classes = tuple(map(str, range(int(numbers.max()) + 1)))
        if len(classes) > 10 * together.size:
            raise InvalidInput(f"{name}: labels go up to {numbers.max()}: number the classes from 0 without gaps")
    elif np.issubdtype(together.dtype, np.floating) or together.dtype == np.object_:
        raise InvalidInput(f"{name}: labels are {together.dtype}, but whole numbers from 0 or words are needed")
    else:
        words, numbers = np.unique(together, return_inverse=True)
        classes = tuple(map(str, words))
    cut = sides["train"].size
    both = {"train": numbers[:cut].astype(np.int64), "test": numbers[cut:].astype(np.int64)}
    return {side: both[side] for side in sides}, classes


def _column(given: Any, what: str) -> NDArray[Any]:
    array = np.asarray(given)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or array.size == 0:
        raise InvalidInput(
            f"{what} has shape {array.shape}, but one label per sample is needed (of one-hot rows, argmax)"
        )
    return array


def _clients(given: NDArray[Any] | None, samples: int, name: str) -> Ints | None:
    """Numbers from 0 in the order of the ids."""
    if given is None:
        return None
    if given.shape != (samples,):
        raise InvalidInput(
            f"{name}: client has shape {given.shape}, but one id for each of {samples} samples is needed"
        )
    return np.unique(given, return_inverse=True)[1].astype(np.int64)


def _with_test(
    inputs: Inputs, labels: Ints, client: Ints | None
) -> tuple[dict[str, Inputs], dict[str, Ints], Ints | None]:
    """Every fifth sample of each class for testing, as with the embedded digits."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], labels[order])
    test = np.zeros(labels.size, dtype=bool)
    test[order] = (np.arange(labels.size) - starts) % TEST_EVERY == TEST_EVERY - 1
    if not test.any():
        raise InvalidInput(f"no class has {TEST_EVERY} samples, of which one could be for testing: give a test set")
    return (
        {"x_train": inputs[~test], "x_test": inputs[test]},
        {"train": labels[~test], "test": labels[test]},
        None if client is None else np.unique(client[~test], return_inverse=True)[1].astype(np.int64),
    )


def _npz(path: Path) -> dict[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except FileNotFoundError:
        raise InvalidInput(f"{path}: no such file") from None
    except (OSError, ValueError, EOFError, BadZipFile, AttributeError) as error:
        raise InvalidInput(f"{path}: not an .npz file of plain arrays ({' '.join(str(error).split())})") from None


def _folder(path: Path) -> dict[str, Any]:
    """A folder per class, holding its images; or two such folders, train and test."""
    if not path.is_dir():
        raise InvalidInput(f"{path}: no such folder; data is {FORMS}")
    sides = [path / "train", path / "test"]
    if all(side.is_dir() for side in sides):
        (x, y), (x_test, y_test) = (_pictures(side) for side in sides)
        return dict(zip(PARTS, (x, y, x_test, y_test), strict=True))
    return dict(zip(WHOLE, _pictures(path), strict=True))


def _pictures(path: Path) -> tuple[Inputs, NDArray[np.str_]]:
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise MissingExtra("Pillow, which reads images,", "learning") from None
    files = [file for file in sorted(path.glob("*/*")) if file.suffix.lower() in _PICTURES]
    if not files:
        raise InvalidInput(f"{path} holds no folder with images, one folder per class")
    arrays = []
    for file in files:
        try:
            with Image.open(file) as image:
                arrays.append(np.asarray(image.convert("L" if image.mode in ("L", "1") else "RGB")))
        except (OSError, UnidentifiedImageError):
            raise InvalidInput(f"{file}: not an image that can be read") from None
        if arrays[-1].shape != arrays[0].shape:
            raise InvalidInput(
                f"{file} is {_size(arrays[-1])}, {files[0].name} is {_size(arrays[0])}: all images have to be alike"
            )
    stacked = np.stack(arrays)
    return stacked.transpose(0, 3, 1, 2) if stacked.ndim == 4 else stacked, np.array(
        [file.parent.name for file in files]
    )


def _size(array: NDArray[np.uint8]) -> str:
    return f"{array.shape[1]} x {array.shape[0]} {'grey' if array.ndim == 2 else 'in colour'}"
