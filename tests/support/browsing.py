"""A real browser for tests of pages."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
