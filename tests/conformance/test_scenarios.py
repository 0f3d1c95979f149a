"""Every scenario of the catalogue, against a real venue over HTTP."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from . import catalogue
from .runner import play
from .stage import Stage, Workshop


@pytest.mark.cases("scenarios")
def test_scenario(scenario: Mapping[str, Any], workshop: Workshop, directory: Path) -> None:
    """The venue does what the scenario says."""
    with Stage(workshop, directory, scenario, catalogue.scenarios()) as stage:
        play(stage, scenario)
