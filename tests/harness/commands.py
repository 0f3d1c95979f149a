"""The command line as a process: `venue …` with a data directory, its status and what it printed."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from venue.cli import app

from .served import ROOT


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What it printed, as JSON."""
        return json.loads(self.out)

    def ok(self) -> str:
        """What a command that must succeed printed, without the last line's end."""
        assert self.status == 0, (self.status, self.err)
        return self.out.rstrip("\n")


def venue(
    *words: str, data: Path | None = None, given: str = "", environ: dict[str, str] | None = None
) -> Done:
    """Run `venue` with these words; `given` is its standard input. Never a traceback."""
    where = [] if data is None else ["--data", str(data)]
    done = subprocess.run(
        [sys.executable, "-m", "venue", *words, *where],
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200", **(environ or {})},
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Done(done.returncode, done.stdout, done.stderr)


def inside(
    *words: str, data: Path | None = None, given: str = "", environ: dict[str, str] | None = None
) -> Done:
    """The same command in this process, which is quick: for the many variants of what `venue` showed."""
    where = [] if data is None else ["--data", str(data)]
    done = CliRunner().invoke(app, [*words, *where], input=given, env=environ)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return Done(done.exit_code, done.stdout, done.stderr)
