"""The types of the gate library, as mypy and pyright see them: right lines pass, each wrong line fails."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
TYPED, WRONG = HERE / "gates_typed.py", HERE / "gates_wrong.py"

CHECKERS = {
    "mypy": ["mypy", "--strict", "--config-file", str(PROJECT / "pyproject.toml"), "--no-incremental"],
    "pyright": ["pyright"],
}


def check(checker: str, file: Path) -> tuple[int, set[int]]:
    """The checker's exit status, and the lines that it complains about."""
    command = [sys.executable, "-m", *CHECKERS[checker], str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=PROJECT, timeout=240)
    return ran.returncode, {int(line) for line in re.findall(rf"{file.name}:(\d+):.*error", ran.stdout)}


def wrong_lines() -> set[int]:
    lines = enumerate(WRONG.read_text().splitlines(), start=1)
    return {number for number, line in lines if line.endswith("# wrong")}


@pytest.mark.parametrize("checker", CHECKERS)
def test_right_lines_pass(checker: str) -> None:
    assert check(checker, TYPED) == (0, set())


@pytest.mark.parametrize("checker", CHECKERS)
def test_each_wrong_line_is_found(checker: str) -> None:
    assert len(wrong_lines()) == 11
    assert check(checker, WRONG) == (1, wrong_lines())
