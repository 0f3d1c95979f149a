# ruff: noqa: S608 - the only thing put into a statement is the table's quoted name
"""The triggers by which the gate table defends itself, against every writer, old and raw ones included.

Three things make them hold. They run BEFORE the write: REPLACE deletes its victim without firing delete
triggers, unless `recursive_triggers` is on. They watch whole rows, not single columns. And the table is
WITHOUT ROWID, so that `id` is the only thing that a REPLACE can collide on.
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass

from .model import PENDING, RESOLVED, STATUSES
from .statements import quoted

UNKNOWN_STATUS = f"hitl: status must be one of {', '.join(STATUSES)}"
RESOLVER_REQUIRED = "hitl: resolvedBy required"
OUTSIDE_RULE = "hitl: resolver outside the gate rule"
NOT_REPLACEABLE = "hitl: a pending rule-bound gate cannot be replaced"

WITH_DELEGATES = "resolve by rule or delegate"
"""The trigger by which one knows that a table admits delegates."""

_STATUSES = ", ".join(f"'{status}'" for status in STATUSES)
_IS_RESOLVE = f"NEW.status = '{RESOLVED}'"
# An edit of a row that was resolved already, by the same resolver, is no resolve.
_BECOMES_RESOLVED = (
    f"{_IS_RESOLVE} AND (OLD.status <> '{RESOLVED}' OR NEW.resolved_by IS NOT OLD.resolved_by)"
)


@dataclass(frozen=True)
class Trigger:
    """Refuses with `message` every `event` (INSERT, UPDATE, DELETE) on the table for which `when` holds."""

    name: str
    event: str
    when: str
    message: str

    def ddl(self, table: str) -> str:
        """The statement that creates it."""
        return (
            f"CREATE TRIGGER {quoted(own_name(table, self.name))} BEFORE {self.event} ON {quoted(table)} "
            f"WHEN {self.when} BEGIN SELECT RAISE(ABORT, '{self.message}'); END"
        )


def own_name(table: str, name: str) -> str:
    """The name of a trigger or index of the table. Such names are unique in a database, without case."""
    return f"{table.lower()}: {name}"


def triggers(table: str, columns: Set[str], *, delegates: bool) -> Iterator[Trigger]:
    """Every trigger that a table with these columns calls for."""
    unknown = f"NEW.status IS NULL OR NEW.status NOT IN ({_STATUSES})"
    yield Trigger("status of a new row", "INSERT", unknown, UNKNOWN_STATUS)
    yield Trigger("status of a row", "UPDATE", unknown, UNKNOWN_STATUS)
    if "resolved_by" in columns:
        nobody = f"{_CLASS} IS NULL"
        yield Trigger("resolver of a new row", "INSERT", f"{_IS_RESOLVE} AND {nobody}", RESOLVER_REQUIRED)
        yield Trigger("resolver", "UPDATE", f"{_BECOMES_RESOLVED} AND {nobody}", RESOLVER_REQUIRED)
    if "rule" in columns:
        yield from _rule_triggers(table, has_resolver="resolved_by" in columns, delegates=delegates)


# The class of the resolver that a row names, or NULL when it names nobody.
_CLASS = """(CASE WHEN typeof(NEW.resolved_by) = 'text' AND json_valid(NEW.resolved_by)
    THEN CASE json_type(NEW.resolved_by, '$.class') WHEN 'text'
        THEN nullif(trim(json_extract(NEW.resolved_by, '$.class')), '') END END)"""


def _rule_triggers(table: str, *, has_resolver: bool, delegates: bool) -> Iterator[Trigger]:
    def outside(rule: str) -> str:
        """The rule is there and does not admit whoever resolves."""
        if not has_resolver:
            return f"{rule} IS NOT NULL"
        lists = ("resolvers", "delegates") if delegates else ("resolvers",)
        admitted = " OR ".join(_named_in(rule, each) for each in lists)
        return f"{rule} IS NOT NULL AND NOT ({admitted})"

    def bound(row: str) -> str:
        return f"{row}.status = '{PENDING}' AND {row}.rule IS NOT NULL"

    becomes_resolved = _BECOMES_RESOLVED if has_resolver else _IS_RESOLVE
    taken = f"EXISTS (SELECT 1 FROM {quoted(table)} AS held WHERE held.id = NEW.id AND {bound('held')})"
    moved = f"NEW.id IS NOT OLD.id AND ({bound('OLD')} OR {taken})"
    resolve = WITH_DELEGATES if delegates else "resolve by rule"
    yield Trigger("change of the rule", "UPDATE", "NEW.rule IS NOT OLD.rule", OUTSIDE_RULE)
    yield Trigger(resolve, "UPDATE", f"{becomes_resolved} AND {outside('OLD.rule')}", OUTSIDE_RULE)
    yield Trigger("new row resolved", "INSERT", f"{_IS_RESOLVE} AND {outside('NEW.rule')}", OUTSIDE_RULE)
    yield Trigger("insert over a bound row", "INSERT", taken, NOT_REPLACEABLE)
    yield Trigger("move of or over a bound row", "UPDATE", moved, NOT_REPLACEABLE)
    yield Trigger("delete of a bound row", "DELETE", bound("OLD"), NOT_REPLACEABLE)


def _named_in(rule: str, classes: str) -> str:
    # A rule that is no JSON admits nobody.
    members = f"json_each(CASE WHEN json_valid({rule}) THEN {rule} ELSE '{{}}' END, '$.{classes}')"
    return (
        f"EXISTS (SELECT 1 FROM {members} AS listed WHERE listed.type = 'text' AND listed.value = {_CLASS})"
    )
