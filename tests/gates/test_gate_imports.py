"""What `import inbox.gates` loads: pydantic and the standard library, and of that not the costly parts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent.parent
FORBIDDEN = {
    *("sqlite3", "asyncio", "fastapi", "starlette", "httpx"),
    *("ucan", "ops", "venue", "cryptography", "multiformats"),
}


def loaded_by(statement: str) -> set[str]:
    command = [sys.executable, "-c", f"{statement}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"]
    out = subprocess.run(command, capture_output=True, check=True, text=True, cwd=PROJECT, timeout=60).stdout
    return set(json.loads(out))


def test_the_root_loads_no_driver_no_token_no_server_and_no_event_loop() -> None:
    loaded = {name.partition(".")[0] for name in loaded_by("import inbox.gates")}
    assert not loaded & FORBIDDEN


def test_what_it_adds_to_pydantic_is_known() -> None:
    """A new import here is a decision: it is paid by everybody who opens a gate."""
    added = loaded_by("import inbox.gates") - loaded_by("from pydantic import BaseModel, TypeAdapter")
    ours = {name for name in added if name.partition(".")[0] == "inbox"}
    assert added - ours <= {
        "json",
        "json.decoder",
        "json.encoder",
        "json.scanner",
        "_json",
        "unicodedata",
        "uuid",
        "_uuid",
    }
    assert {"inbox.gates.sqlite", "inbox.gates.migrations", "inbox.gates.aio"}.isdisjoint(ours)


@pytest.mark.parametrize("package", ["", ".clock", ".jsonvalue", ".settle"])
def test_what_is_shared_with_requests_needs_nothing(package: str) -> None:
    loaded = {name.partition(".")[0] for name in loaded_by(f"import inbox{package}")}
    assert not loaded & (FORBIDDEN | {"pydantic"})


def test_the_store_on_sqlite_needs_sqlite_and_nothing_else() -> None:
    loaded = {name.partition(".")[0] for name in loaded_by("import inbox.gates.sqlite")}
    assert loaded & FORBIDDEN == {"sqlite3"}
