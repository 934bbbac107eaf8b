"""`wisefl data` as a person uses it."""

import pytest
from typer.testing import CliRunner

from wisefl import InvalidInput
from wisefl.cli.data import app

PNG = b"\x89PNG\r\n\x1a\n"


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_list_says_what_is_here(own_cache):
    result = run("list")

    assert result.exit_code == 0
    for word in ("fashion-mnist", "cifar10", "not fetched", "embedded", "folder, cache, download, package"):
        assert word in " ".join(result.stdout.split())


def test_fetch_prints_the_sources_as_it_tries_them(fashion_folder, own_cache):
    result = run("fetch", "fashion-mnist", "--folder", fashion_folder, "--source", "cache,folder")

    assert result.exit_code == 0
    assert (
        result.stderr.index("trying cache")
        < result.stderr.index("cache failed")
        < result.stderr.index("trying folder")
    )
    assert "fashion-mnist: verified" in result.stdout
    assert "cached, 55 MB" in run("list").stdout


def test_verify_tells_sound_from_damaged(fashion_folder, own_cache):
    run("fetch", "fashion-mnist", "--folder", fashion_folder)
    assert run("verify", "fashion-mnist").stdout.count(" ok\n") == 4

    with open(own_cache / "fashion-mnist.npz", "r+b") as file:
        file.seek(1_000_000)
        file.write(b"damage")

    error = run("verify", "fashion-mnist").exception
    assert isinstance(error, InvalidInput)
    assert "is damaged" in str(error)


@pytest.mark.parametrize("split", ["hybrid", "shards"])
def test_show_draws_who_holds_what(tmp_path, split):
    picture = tmp_path / "who.png"

    result = run("show", "digits", "--clients", 20, "--split", split, "--out", picture)

    assert result.exit_code == 0, result.exception
    assert picture.read_bytes().startswith(PNG)
    assert "samples per client" in result.stdout


def test_show_copes_with_more_clients_than_pixels(tmp_path):
    picture = tmp_path / "many.png"

    assert run("show", "digits", "--clients", 1_442, "--out", picture).exit_code == 0
    assert picture.read_bytes().startswith(PNG)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("show", "digits", "--split", "magic"), "choose one of hybrid"),
        (("show", "digits", "--clients", "5000"), "1442 samples cannot be shared among 5000 clients"),
        (("show", "digits", "--out", "/no/such/folder/x.png"), "x.png: cannot be written"),
        (("fetch", "mnist"), "choose one of fashion-mnist"),
    ],
)
def test_mistakes_reach_the_caller_by_name(words, sentence):
    error = run(*words).exception

    assert isinstance(error, InvalidInput)
    assert sentence in str(error)
