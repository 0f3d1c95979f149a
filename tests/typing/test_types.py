"""The types of gates and of the client, as mypy and pyright see them: each wrong line is found, no other."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
MISTAKES = {"gates": 11, "client": 15}
"""How many wrong lines there are of each."""

CHECKERS = {
    "mypy": ["mypy", "--strict", "--config-file", str(PROJECT / "pyproject.toml"), "--no-incremental"],
    "pyright": ["pyright"],
}


def check(checker: str, file: Path) -> tuple[int, set[int]]:
    """The checker's exit status, and the lines that it complains about."""
    command = [sys.executable, "-m", *CHECKERS[checker], str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=PROJECT, timeout=240)
    return ran.returncode, {int(line) for line in re.findall(rf"{file.name}:(\d+):.*error", ran.stdout)}


def wrong_lines(file: Path) -> set[int]:
    lines = enumerate(file.read_text().splitlines(), start=1)
    return {number for number, line in lines if line.endswith("# wrong")}


@pytest.mark.parametrize("face", MISTAKES)
@pytest.mark.parametrize("checker", CHECKERS)
def test_right_lines_pass(checker: str, face: str) -> None:
    assert check(checker, HERE / f"{face}_typed.py") == (0, set())


@pytest.mark.parametrize("face", MISTAKES)
@pytest.mark.parametrize("checker", CHECKERS)
def test_each_wrong_line_is_found(checker: str, face: str) -> None:
    file = HERE / f"{face}_wrong.py"
    assert len(wrong_lines(file)) == MISTAKES[face]
    assert check(checker, file) == (1, wrong_lines(file))
