"""Statement files: what is a name, what is a parameter, and what only looks like one."""

import sqlite3

import pytest

from inbox.store.migrate import migrations
from inbox.store.sqlfile import load, parse
from inbox.store.sqlite import _split


def test_a_file_is_its_named_statements() -> None:
    """A block runs from its name to the next; what stands before the first name belongs to nobody."""
    found = parse("-- a file\n-- name: a.one\nSELECT 1\n\n-- name: b.two\n-- why\nSELECT :x\n")
    assert {name: one.sql for name, one in found.items()} == {
        "a.one": "SELECT 1",
        "b.two": "-- why\nSELECT :x",
    }
    assert found["b.two"].parameters == {"x"}


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [
        ("SELECT :a, :b_c, :a", {"a", "b_c"}),
        ("SELECT x::text, :a", {"a"}),
        ("SELECT ':no', 'it''s :not', :a", {"a"}),
        ("SELECT :a -- and :not this", {"a"}),
        ("-- :not 'this\nSELECT :a", {"a"}),
        ("SELECT '--', :a", {"a"}),
        ("SELECT 1", set()),
    ],
)
def test_a_parameter_is_a_colon_and_a_name(sql: str, parameters: set[str]) -> None:
    """Casts, strings and comments hold none."""
    assert parse(f"-- name: a.b\n{sql}")["a.b"].parameters == parameters


def test_a_name_is_defined_once() -> None:
    """In a file, and over all files."""
    with pytest.raises(ValueError, match=r"a\.b"):
        parse("-- name: a.b\nSELECT 1\n-- name: a.b\nSELECT 2")
    with pytest.raises(ValueError, match=r"request\.get"):
        load((("inbox", "sql/inbox.sql"), ("inbox", "sql/inbox.sql")))


def test_binding_takes_exactly_the_parameters() -> None:
    """Neither fewer nor more."""
    statement = parse("-- name: a.b\nSELECT :x, :y")["a.b"]
    assert statement.bind({"x": 1, "y": None}) == {"x": 1, "y": None}
    for wrong in ({"x": 1}, {"x": 1, "y": 2, "z": 3}, {}):
        with pytest.raises(TypeError):
            statement.bind(wrong)


def test_every_statement_of_the_venue_is_understood() -> None:
    """Against the schema as the migrations make it: tables, columns and parameters are there."""
    with sqlite3.connect(":memory:") as db:
        for migration in (*migrations("inbox", "sql/sqlite"), *migrations("ops", "sql/sqlite")):
            for statement in _split(migration.sql):
                db.execute(statement)
        for statement in load((("inbox", "sql/inbox.sql"), ("ops", "sql/ops.sql"))).values():
            db.execute(f"EXPLAIN {statement.sql}", dict.fromkeys(statement.parameters))
    db.close()


def test_migrations_are_numbered_without_a_gap() -> None:
    """Those of each component begin at 1."""
    for component in ("inbox", "ops"):
        numbers = [migration.number for migration in migrations(component, "sql/sqlite")]
        assert numbers == list(range(1, len(numbers) + 1)) != []
