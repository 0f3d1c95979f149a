"""The copies are the originals; everything is played or listed; what is overruled has a counterpart."""

from pathlib import Path

import pytest

from tests.conftest import SHARED

from . import catalogue
from .runner import play
from .stage import Stage, Workshop

COUNTERPARTS = catalogue.DATA / "counterparts.json"
ORIGINALS = SHARED / "conformance"


@pytest.mark.parametrize("copy", [catalogue.SCENARIOS, catalogue.REQUIREMENTS], ids=lambda copy: copy.name)
def test_our_copy_is_the_original(copy: Path) -> None:
    """Where the originals are at hand, ours are the same bytes."""
    if not ORIGINALS.exists():
        assert copy.stat().st_size > 0
        return
    assert copy.read_bytes() == (ORIGINALS / copy.name).read_bytes()


def test_nothing_else_is_left_out() -> None:
    """Three scenarios are overruled; the other 304 of 307 are played."""
    assert sorted(catalogue.OVERRULED) == ["FD-03", "FD-07", "FD-08"]
    assert all(reason[0] == "D" and ": " in reason for reason in catalogue.OVERRULED.values())
    everything = [one["id"] for one in catalogue.scenarios()]
    assert len(everything) == len(set(everything)) == 307
    assert {one["id"] for one in catalogue.played()} == set(everything) - catalogue.OVERRULED.keys()


def test_each_overruled_scenario_has_a_counterpart() -> None:
    """What we do instead is written down for each."""
    assert [one["id"] for one in catalogue.scenarios(COUNTERPARTS)] == sorted(catalogue.OVERRULED)


@pytest.mark.parametrize("counterpart", catalogue.scenarios(COUNTERPARTS), ids=lambda one: one["id"])
def test_counterpart(counterpart: dict[str, object], workshop: Workshop, directory: Path) -> None:
    """The venue does what our decision says instead."""
    with Stage(workshop, directory, counterpart) as stage:
        play(stage, counterpart)
