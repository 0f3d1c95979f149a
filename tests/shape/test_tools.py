"""Lint, types and layers, held by tools and not by hope (house 4)."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

TOOLS = {
    "ruff": ("ruff", "check", "."),
    "format": ("ruff", "format", "--check", "."),
    "mypy": ("mypy",),
    "layers": ("lint-imports",),
}


@pytest.mark.parametrize("name", TOOLS)
def test_tool_is_content(name: str) -> None:
    """Each tool runs over the whole repository, by the settings in pyproject.toml, and has nothing to say."""
    tool, *arguments = TOOLS[name]
    script = Path(sys.executable).with_name(tool)
    done = subprocess.run([script, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
