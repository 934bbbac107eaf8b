"""Shakespeare's roles as natural clients: everybody who speaks in a play is one, and the task is the next character.

The texts are those of the repository TheMITTech/shakespeare, one file `PLAY/full.html` per play, which a user brings
in a folder. A sample is a window of a role's speech and its label the character that follows: the classes are
characters, and a client's label counts are how often it says each. Rare letters are missing from small roles, whose
divergence is then infinite as printed: a run sets `limits.smoothing` to a pseudo-sample or more.
"""

import html
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wisefl.arrays import Ints
from wisefl.data.dataset import Dataset
from wisefl.errors import InvalidInput

NAME = "shakespeare"
ALPHABET = " abcdefghijklmnopqrstuvwxyz',.;:?!-"
"""Characters that are told apart; capitals are small letters, and anything else is a space."""
WINDOW = 40
"""Characters that the next one is told from."""
STRIDE = 10
"""Characters between two samples for training."""
TEST_STRIDE = 100
"""Between two for testing, which are many enough."""
LEAST = 1000
"""Characters that a role needs to be a client."""
TEST_PART = 0.2
"""The end of every role's text is for testing."""

_PLACES = {letter: place for place, letter in enumerate(ALPHABET)}
_SPEECH = re.compile(
    r"<A NAME=speech\d+><b>(.*?)</b></a>\s*<blockquote>(.*?)</blockquote>", re.DOTALL | re.IGNORECASE
)
_LINE = re.compile(r"<A NAME=[\d.]+>(.*?)</A>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<.*?>", re.DOTALL)


def load_roles(folder: str | Path | None) -> Dataset:
    """Every role with enough to say, from a checkout of the texts."""
    texts = _texts(folder)
    parts = [_windows(text) for text in texts.values()]
    x_train, y_train, x_test, y_test = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    client = np.repeat(np.arange(len(parts)), [len(labels) for _, labels, _, _ in parts]).astype(np.int64)
    return Dataset(NAME, x_train, y_train, x_test, y_test, classes=tuple(ALPHABET), client=client, bits_per_element=8)


def _texts(folder: str | Path | None) -> dict[tuple[str, str], str]:
    """(play, role) -> all that it says, in order."""
    where = f"git clone https://github.com/TheMITTech/{NAME} brings them, data.folder is where they are"
    if folder is None:
        raise InvalidInput(f"{NAME} needs its texts: {where}")
    plays = sorted(Path(folder).glob("*/full.html"))
    said: dict[tuple[str, str], list[str]] = {}
    for play in plays:
        for role, speech in _SPEECH.findall(play.read_text(encoding="latin-1")):
            lines = [html.unescape(_TAG.sub("", line)) for line in _LINE.findall(speech)]
            said.setdefault((play.parent.name, " ".join(role.split())), []).extend(lines)
    texts = {who: " ".join(" ".join(lines).split()).lower() for who, lines in said.items()}
    large = {who: text for who, text in texts.items() if len(text) >= LEAST}
    if not large:
        raise InvalidInput(f"{folder} holds no play as PLAY/full.html: {where}")
    return large


def _windows(text: str) -> tuple[Ints, Ints, Ints, Ints]:
    """Windows and the characters after them: for training from the beginning, for testing from the end."""
    letters = np.array([_PLACES.get(letter, 0) for letter in text], dtype=np.int64)
    cut = int(len(letters) * (1.0 - TEST_PART))
    return (*_cut(letters[:cut], STRIDE), *_cut(letters[cut:], TEST_STRIDE))


def _cut(letters: NDArray[np.int64], stride: int) -> tuple[Ints, Ints]:
    starts = np.arange(0, len(letters) - WINDOW, stride)
    return letters[starts[:, None] + np.arange(WINDOW)], letters[starts + WINDOW]
