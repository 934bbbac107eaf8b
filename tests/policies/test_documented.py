"""The page of policies names every policy and every option there is, and none that there is not."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from wisefl.policies.training import TRAINING_POLICIES

PAGE = (Path(__file__).parents[2] / "docs" / "policies.md").read_text(encoding="utf-8")
SHARED = {"count_of", "count_reading", "clients", "allocation"}
"""Told once for all."""


@pytest.mark.parametrize("name", TRAINING_POLICIES)
def test_every_policy_is_listed_with_its_own_options(name):
    (row,) = re.findall(rf"^\| `{re.escape(name)}` \|.*$", PAGE, flags=re.MULTILINE)
    told = set(re.findall(r"`(\w+)`", row.split("|")[4]))
    assert told == {item.name for item in fields(TRAINING_POLICIES[name])} - SHARED
    assert all(f"`{option}`" in PAGE or f".{option} =" in PAGE for option in SHARED)
