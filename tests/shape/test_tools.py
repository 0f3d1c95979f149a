"""Lint, types and layers, held by tools and not by hope (house 4)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

TOOLS = {
    "ruff": ("ruff", "check", "."),
    "format": ("ruff", "format", "--check", "."),
    "mypy": ("mypy",),
    "mypy for Windows": ("mypy", "--platform", "win32", "--cache-dir", ".mypy_cache/win32"),
    "layers": ("lint-imports",),
}


PAGE = {
    "check": ("check", "--no-remote", "--no-npm"),
    "lint": ("lint",),
    "format": ("fmt", "--check"),
}
MODULES = sorted(str(path) for path in (ROOT / "venue" / "web").glob("*.js"))


def run(tool: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a tool of this environment at the root of the repository."""
    command = [Path(sys.executable).with_name(tool), *arguments]
    whole = {**os.environ, **environ}
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, env=whole)


def deno(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run deno by our settings; it fetches nothing and leaves nothing behind."""
    what, *more = arguments
    settings = ("--config", str(ROOT / "tests" / "shape" / "deno.json"))
    quiet = {"DENO_DIR": str(tmp_path / "deno"), "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}
    return run("deno", what, *settings, *more, **quiet)


@pytest.mark.parametrize("name", TOOLS)
def test_tool_is_content(name: str) -> None:
    """Each tool runs over the whole repository, by the settings in pyproject.toml, and has nothing to say."""
    done = run(*TOOLS[name])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", PAGE)
def test_the_page_is_typed_and_tidy(name: str, tmp_path: Path) -> None:
    """The types in the comments of the web inbox hold, in strict mode; and it is linted and formatted."""
    done = deno(tmp_path, *PAGE[name], *MODULES)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_wrong_type_in_the_page_is_found(tmp_path: Path) -> None:
    """So that silence means something."""
    wrong = tmp_path / "wrong.js"
    wrong.write_text("/** @param {number} n */\nexport const f = (n) => n.length;\n", encoding="utf-8")
    done = deno(tmp_path, *PAGE["check"], str(wrong))
    assert done.returncode != 0
    assert "TS2339" in done.stderr
