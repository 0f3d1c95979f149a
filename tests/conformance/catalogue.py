"""The scenarios: where they are, and which our decisions overrule."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parent.parent / "data"
SCENARIOS = DATA / "scenarios.json"
REQUIREMENTS = DATA / "requirements.json"

OVERRULED: Mapping[str, str] = {
    "FD-03": "D23: a job lives at the venue that was asked; this one relays nothing and mirrors nothing",
    "FD-07": "D2: this venue calls no other venue, so there is nothing to filter and no bearer to forward",
    "FD-08": "D2: who calls follows from the bearer alone; there is no relay instruction to honour",
}
"""Scenarios that a decision of the design overrules, each with a counterpart in counterparts.json."""


def scenarios(path: Path = SCENARIOS) -> Sequence[Mapping[str, Any]]:
    """Every scenario of a file."""
    found: Sequence[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def played(path: Path = SCENARIOS) -> Sequence[Mapping[str, Any]]:
    """The scenarios of a file that are played: all but those that are overruled."""
    return [one for one in scenarios(path) if one["id"] not in OVERRULED]
