"""Forward-only schema changes: numbered SQL files per component, applied under the writer's lock.

A component is a package with files `NNNN_what.sql` in a folder per backend. An empty database is created
whole; one that lacks a file, or that knows a file that we lack, is refused (D29).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from ..errors import SchemaMismatch


@dataclass(frozen=True, slots=True)
class Migration:
    """One file of a component: its number, and the statements in it."""

    component: str
    number: int
    name: str
    sql: str


def migrations(component: str, folder: str) -> tuple[Migration, ...]:
    """The files of a component in order; their numbers run 1, 2, 3 … without a gap."""
    found = []
    for entry in sorted(files(component).joinpath(folder).iterdir(), key=lambda item: item.name):
        if entry.name.endswith(".sql"):
            number = int(entry.name.split("_", 1)[0])
            found.append(Migration(component, number, entry.name, entry.read_text(encoding="utf-8")))
    if [item.number for item in found] != list(range(1, len(found) + 1)):
        raise ValueError(f"the migrations of {component} are not numbered 1 to {len(found)}")
    return tuple(found)


def missing(wanted: Sequence[Migration], applied: Sequence[tuple[str, int]]) -> tuple[Migration, ...]:
    """What is still to be applied; nothing at all was, for an empty database.

    Raises SchemaMismatch (`schema`) when the database was made by a newer version, or by an older one:
    serving never changes the schema of a database that holds something.
    """
    known = {(item.component, item.number) for item in wanted}
    strange = sorted(set(applied) - known)
    if strange:
        raise SchemaMismatch(f"the database was made by a newer version: it has {strange}")
    todo = tuple(item for item in wanted if (item.component, item.number) not in set(applied))
    if todo and applied:
        names = ", ".join(f"{item.component}/{item.name}" for item in todo)
        raise SchemaMismatch(f"the database was made by an older version and lacks {names}")
    return todo
