"""SQL as source: named statements in files, one text for every backend.

A file holds blocks that begin with `-- name: group.verb`. Parameters are written `:name`; a call that gives
one too many or one too few is a programming error and refused before the database sees it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

_BLOCK = re.compile(r"^-- name: (?P<name>[a-z_]+\.[a-z_]+)\s*$", re.MULTILINE)
_SKIPPED = re.compile(r"'(?:[^']|'')*'|--[^\n]*")
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)\b")


@dataclass(frozen=True, slots=True)
class Statement:
    """One named statement and the parameters that it takes."""

    name: str
    sql: str
    parameters: frozenset[str]

    def bind(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the values to bind, or raise TypeError when they are not exactly the statement's own."""
        if values.keys() != self.parameters:
            missing = sorted(self.parameters - values.keys())
            unknown = sorted(values.keys() - self.parameters)
            raise TypeError(f"{self.name}: missing parameters {missing}, unknown parameters {unknown}")
        return values


def parse(text: str) -> dict[str, Statement]:
    """Split the text of a statement file into its named statements."""
    marks = list(_BLOCK.finditer(text))
    statements: dict[str, Statement] = {}
    for index, mark in enumerate(marks):
        end = marks[index + 1].start() if index + 1 < len(marks) else len(text)
        name, sql = mark["name"], text[mark.end() : end].strip()
        if name in statements:
            raise ValueError(f"statement {name} is defined twice")
        bare = _SKIPPED.sub("", sql)
        statements[name] = Statement(name, sql, frozenset(_PARAMETER.findall(bare)))
    return statements


def load(sources: Iterable[tuple[str, str]]) -> dict[str, Statement]:
    """Read statement files, each named as (package, path inside it); a name may be defined once only."""
    statements: dict[str, Statement] = {}
    for package, path in sources:
        found = parse(files(package).joinpath(path).read_text(encoding="utf-8"))
        twice = statements.keys() & found.keys()
        if twice:
            raise ValueError(f"statements {sorted(twice)} are defined twice")
        statements |= found
    return statements
