"""Roles of plays as natural clients, on a play of our own in the form of the real ones."""

from pathlib import Path

import numpy as np
import pytest

from support.parts import need
from wisefl import InvalidInput
from wisefl.data import load
from wisefl.data.shakespeare import ALPHABET, WINDOW

WORDS = (
    "the quick brown fox jumps over the lazy dog, and what says the dog; nothing at all! why not? 'tis a fox-hunt: "
)


def write_play(folder: Path, roles: int = 6) -> Path:
    """A play whose roles all say the same, each a little more than the one before; one says too little."""
    speeches = [
        f"<A NAME=speech{number}><b>ROLE {number}</b></a>\n<blockquote>\n"
        + "".join(f"<A NAME=1.1.{line}>{WORDS}</A><br>\n" for line in range(20 + number))
        + "</blockquote>\n"
        for number in range(roles)
    ]
    short = "<A NAME=speech99><b>PAGE</b></a>\n<blockquote>\n<A NAME=1.2.1>Ay &amp; no.</A><br>\n</blockquote>\n"
    (folder / "play").mkdir(parents=True)
    (folder / "play" / "full.html").write_text("<h3>ACT I</h3>\n" + "".join(speeches) + short)
    return folder


def test_everybody_who_says_enough_is_a_client_and_labels_are_the_next_characters(tmp_path: Path) -> None:
    data = load("shakespeare", write_play(tmp_path))
    assert np.unique(data.client).size == 6
    assert data.shape == (WINDOW,)
    text = " ".join([WORDS.strip()] * 20)
    first = "".join(ALPHABET[token] for token in data.train_images[0])
    assert first == text[:WINDOW]
    assert ALPHABET[data.train_labels[0]] == text[WINDOW]
    sizes = np.bincount(data.client)
    assert (np.diff(sizes) > 0).all()


def test_an_lstm_learns_the_next_character_of_roles(tmp_path: Path) -> None:
    need("torch")
    from wisefl.run.config import load_config
    from wisefl.simulation.loop import run_folder

    write_play(tmp_path / "texts")
    changes = ("rounds=6", "data.clients=6", "limits.min_samples=200", "limits.max_divergence=inf")
    changes += (f"data.folder={tmp_path / 'texts'}", "evaluation.every=6", "training.learning_rate=2.0")
    summary = run_folder(tmp_path / "run", load_config("shakespeare", changes=changes))
    # Of roles that did not train this round; always a space, the most frequent character, would be right in 0.2.
    assert summary.held_out_accuracy > 0.3


def test_without_the_texts_the_way_to_them_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="needs its texts: git clone"):
        load("shakespeare")
    with pytest.raises(InvalidInput, match=r"holds no play as PLAY/full\.html"):
        load("shakespeare", tmp_path)
