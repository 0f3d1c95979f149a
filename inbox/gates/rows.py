"""A gate's record <-> its row: every column is text or nothing, so all stores keep the same thing."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar, get_args

from ..jsonvalue import Issue, IssuesError, json_issues
from .brief import snapshot_brief
from .errors import GateInvalid, GateRowInvalid
from .model import GateRecord, Question, Resolver, Rule, Status, instant_of
from .policy import snapshot_rule

V = TypeVar("V")

Row: TypeAlias = dict[str, str | None]


def record_of(row: Row) -> GateRecord:
    """The record that a row holds. Columns that the row lacks are unset.

    Raises `GateRowInvalid` naming each column that no store would have written so.
    """
    gate_id = str(row["id"])
    issues: list[Issue] = []

    def read(column: str, parse: Callable[[str], V]) -> V | None:
        text = row.get(column)
        if text is None:
            return None
        try:
            return parse(text)
        except GateInvalid as error:
            issues.extend(Issue(column, str(issue)) for issue in error.issues)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            issues.append(Issue(column, str(error)))
        return None

    status, created_at = read("status", _status), read("created_at", instant_of)
    if status is None or created_at is None:
        raise GateRowInvalid(gate_id, issues or [Issue("status, created_at", "must be set")])
    gate = GateRecord(
        id=gate_id,
        prompt=str(row["prompt"]),
        status=status,
        created_at=created_at,
        schema=read("schema", _json_object),
        expires_at=read("expires_at", instant_of),
        payload=read("payload", _json),
        reason=row.get("reason"),
        resolved_at=read("resolved_at", instant_of),
        resolved_by=read("resolved_by", _resolver),
        resolved_evidence=read("resolved_evidence", _json_object),
        rule=read("rule", lambda text: _rule(gate_id, text)),
        summary=row.get("summary"),
        evidence_ref=row.get("evidence_ref"),
        questions=read("questions", lambda text: _questions(gate_id, text)) or (),
    )
    if issues:
        raise GateRowInvalid(gate_id, issues)
    return gate


def _status(text: str) -> Status:
    for status in get_args(Status):
        if text == status:
            known: Status = status
            return known
    raise ValueError(f"{text!r} is no status")


def _json(text: str) -> Any:
    value = json.loads(text)
    if issues := [*json_issues(value)]:
        raise IssuesError(issues)
    return value


def _json_object(text: str) -> dict[str, Any]:
    value = _json(text)
    if not isinstance(value, dict):
        raise TypeError("must be a JSON object")
    return value


def _resolver(text: str) -> Resolver:
    """Any class is read back: on a gate without a rule the database takes any (the class is a claim)."""
    claim: Mapping[str, Any] = _json_object(text)
    confirm_event = claim.get("confirm_event")
    return Resolver(
        str(claim.get("class", "")),
        str(claim.get("id", "")),
        str(claim.get("channel", "")),
        None if confirm_event is None else str(confirm_event),
    )


def _rule(gate_id: str, text: str) -> Rule | None:
    return snapshot_rule(gate_id, _json_object(text))


def _questions(gate_id: str, text: str) -> tuple[Question, ...]:
    return snapshot_brief(gate_id, {"questions": _json(text)}).questions
