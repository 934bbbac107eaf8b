"""A real browser for tests of pages."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest

from support.parts import need


@contextmanager
def chromium() -> Iterator[Any]:
    """Chromium through Playwright; skips where there is none, but fails on a CI machine."""
    need("playwright")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        message = "no Chromium on this machine: python tools/setup_browser.py"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    quiet = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    arguments = [*quiet, "--disable-component-update", "--disable-sync"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments, chromium_sandbox=False)
        yield browser
        browser.close()


@dataclass
class Opened:
    """A page with what it complained of and what it asked for."""

    page: Any
    complaints: list[str]
    requests: list[str]


Kind = TypeVar("Kind", bound=Opened)


def open_at(kind: type[Kind], browser: Any, address: str, width: int, height: int, **options: Any) -> Kind:
    """A page of its own at this address; `options` are those of the browser's context."""
    page = browser.new_context(viewport={"width": width, "height": height}, **options).new_page()
    page.set_default_timeout(120_000)
    opened = kind(page, [], [])
    page.on("console", lambda message: opened.complaints.append(message.text))
    page.on("pageerror", lambda error: opened.complaints.append(str(error)))
    page.on("request", lambda request: opened.requests.append(request.url))
    page.goto(address)
    return opened
