"""docs/api.md against the code: every operation, route and code, and nothing beside them."""

import re
from typing import Any

import pytest

from ops.model import Kind, Operation
from ops.registry import schema_of
from tests.conftest import ROOT
from venue.app import OPERATIONS, ROUTERS
from venue.openapi import ROUTES, routes
from venue.problems import STATUS

TEXT = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
BEARER = {True: "yes", None: "for what is yours", False: "ignored"}


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading."""
    section = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def names(cell: str) -> set[str]:
    """What stands between backticks."""
    return set(re.findall(r"`([^`]+)`", cell))


def fields(operation: Operation, side: str) -> set[str]:
    """The fields of an input or output, those that may be absent with a question mark."""
    model: Any = getattr(operation, side)
    required = {field.alias or name for name, field in model.model_fields.items() if field.is_required()}
    known = schema_of(operation, side).get("properties", {})
    return {name if name in required else f"{name}?" for name in known}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.adapter)
def test_operation_is_documented_as_it_is(operation: Operation) -> None:
    """Its callers, its input, its output, and what the catalogue says that it does."""
    found = [row for row in rows("Operations") if row[0] == f"`{operation.path}`"]
    assert len(found) == 1
    _, who, taken, given, does = found[0]
    assert who.split(", ") == [kind.value for kind in Kind if kind in operation.callers]
    assert (names(taken), names(given)) == (fields(operation, "input"), fields(operation, "output"))
    assert does == operation.description


def test_no_other_operation_is_documented() -> None:
    """What the page promises is there."""
    assert {name for row in rows("Operations") for name in names(row[0])} == {op.path for op in OPERATIONS}


def test_routes_are_documented_as_they_are() -> None:
    """Every route with its words and its bearer, here and for machines; besides them, only that document."""
    found = {row[0].strip("`"): row[1:] for row in rows("Routes")}
    found.pop("GET /openapi.json")
    there = dict(routes(ROUTERS))
    assert found.keys() == there.keys() == ROUTES.keys()
    for key, route in there.items():
        said = (route.endpoint.__doc__ or "").strip().splitlines()[0]
        assert found[key] == [BEARER[ROUTES[key].bearer], said], key


def test_codes_are_documented_with_their_status() -> None:
    """The one table of refusals, whole."""
    found = {row[0].strip("`"): int(row[1]) for row in rows("Codes")}
    assert found == STATUS
    assert all(row[2] for row in rows("Codes"))


def test_settings_are_one_link_away() -> None:
    """The limits that refusals name are listed where the page points."""
    assert "[operate.md](operate.md)" in TEXT
    assert "docs/api.md" in (ROOT / "README.md").read_text(encoding="utf-8")
