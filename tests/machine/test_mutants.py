"""The machine can fail: ten clauses of settle, consent and rules are broken in turn, and it notices each.

Mutants whose fault a second guard makes good are not among these; the law's checks catch them one by one
(`tests/mutants`).
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.test_mutants import MUTANTS, broken_copy

from .hunt import CAUGHT

NOTICED = (
    "the law is exclusive",
    "rules decide on what is closed",
    "rules forget the digest",
    "expired is rejected",
    "cancelled is expired",
    "the job is left parked",
    "the inbox does not hear",
    "the owner gets the token",
    "every offer is triggered",
    "what was offered is granted unasked",
)


@pytest.mark.parametrize("name", NOTICED)
def test_the_machine_notices(tmp_path: Path, name: str) -> None:
    """Some run comes by it, and a table says what the model does not."""
    broken_copy(tmp_path, MUTANTS[name], "tests/machine")
    command = [sys.executable, "-m", "tests.machine.hunt"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == CAUGHT, f"survived: {name}\n{done.stdout}\n{done.stderr}"
