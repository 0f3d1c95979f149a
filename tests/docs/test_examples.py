"""The examples of the README run as they stand there, against a served venue."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.harness.served import Served

_EXAMPLES = ROOT / "docs" / "examples"


@pytest.fixture
def venue(tmp_path: Path) -> Iterator[Served]:
    """A venue of its own."""
    with Served(tmp_path / "data") as served:
        yield served


def _environment(venue: Served) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "VENUE_URL": venue.url,
        "VENUE_PASSPHRASE": "correct horse",
        "VENUE_TOKEN_FILE": "helper.token",
    }


def _run(venue: Served, cwd: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env=_environment(venue),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_agent_and_owner_of_the_readme_meet(venue: Served, tmp_path: Path) -> None:
    """Ada makes a key and enrols her agent; it asks and waits; she approves."""
    _run(venue, tmp_path, "-m", "venue", "key", "new", "ada.pem")
    _run(venue, tmp_path, str(_EXAMPLES / "owner.py"), "enrol")
    with subprocess.Popen(
        [sys.executable, str(_EXAMPLES / "agent.py")],
        cwd=tmp_path,
        env=_environment(venue),
        stdout=subprocess.PIPE,
        text=True,
    ) as agent:
        told = ""
        for _ in range(100):
            told = _run(venue, tmp_path, str(_EXAMPLES / "owner.py"))
            if told:
                break
        printed, _ = agent.communicate(timeout=60)
    assert ":g:helper asks: Ship 1.4.0?" in told
    assert printed.startswith("ship=True [{'can': 'crud/write', 'lifetime': 3600, 'with': 'w/releases/'}]")
