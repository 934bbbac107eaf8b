"""Flower is an extra: nothing but `wisefl.flower` needs it, and that says what to install."""

import subprocess
import sys

HIDDEN = """
import sys, pkgutil, importlib
sys.modules["flwr"] = None
import wisefl
import wisefl.cli, wisefl.policies.training, wisefl.simulation.loop
try:
    import wisefl.flower
except wisefl.MissingExtra as error:
    print(error)
print(sorted(name for name in sys.modules if name.startswith("flwr.")))
"""


def test_the_core_works_without_flower_and_names_the_extra() -> None:
    done = subprocess.run([sys.executable, "-c", HIDDEN], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    said, imported = done.stdout.splitlines()
    assert said.startswith("Flower is not installed: pip install '.[flower]'")
    assert imported == "[]"
