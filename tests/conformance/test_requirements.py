"""Every requirement is tied to scenarios that exist."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from . import catalogue

REQUIREMENTS: Sequence[Mapping[str, Any]] = json.loads(catalogue.REQUIREMENTS.read_text(encoding="utf-8"))


def test_there_are_118() -> None:
    """None is lost, and none stands twice."""
    assert len({one["id"] for one in REQUIREMENTS}) == len(REQUIREMENTS) == 118


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=lambda one: one["id"])
def test_its_scenarios_exist(requirement: Mapping[str, Any]) -> None:
    """Each names at least one scenario, and only ones that there are."""
    known = {one["id"] for one in catalogue.scenarios()}
    assert requirement["scenarios"]
    assert set(requirement["scenarios"]) <= known
