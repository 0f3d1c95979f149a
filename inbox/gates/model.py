"""What a gate is made of: frozen values and the one vocabulary of who may settle (D27, D28)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from ..clock import millis

Status: TypeAlias = Literal["pending", "resolved", "cancelled", "expired"]

PENDING: Status = "pending"
RESOLVED: Status = "resolved"
CANCELLED: Status = "cancelled"
EXPIRED: Status = "expired"
STATUSES: tuple[Status, ...] = (PENDING, RESOLVED, CANCELLED, EXPIRED)

RESOLVER_CLASSES = ("owner-terminal", "owner-remote")
"""The classes that may resolve: the owner, at a terminal or from elsewhere."""

DELEGATE_CLASSES = ("coordinator",)
"""The classes that a rule may name as delegates."""

REFUSED_CLASSES = ("agent", "automation", "coordinator")
"""The classes that may not resolve in their own right."""

ACTOR_CLASSES = (*RESOLVER_CLASSES, *REFUSED_CLASSES)
"""Every class that a resolver may claim."""


@dataclass(frozen=True)
class Resolver:
    """Who resolves: a class from `ACTOR_CLASSES`, an id, a channel, and the event that confirmed it, if any.

    A claim. The library checks and records it and cannot prove it.
    """

    actor_class: str
    id: str
    channel: str
    confirm_event: str | None = None

    def as_json(self) -> dict[str, Any]:
        """The claim under the names of its column."""
        named = {"class": self.actor_class, "id": self.id, "channel": self.channel}
        return named if self.confirm_event is None else {**named, "confirm_event": self.confirm_event}


@dataclass(frozen=True)
class Rule:
    """A rule of the product that binds a gate: which table, version and rule, and which classes it admits."""

    table: str
    version: str
    rule_id: str
    resolvers: tuple[str, ...]
    delegates: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The rule under the names of its column."""
        named = {"table": self.table, "version": self.version, "rule_id": self.rule_id}
        lists = {"resolvers": [*self.resolvers], "delegates": [*self.delegates]}
        return {**named, **{name: classes for name, classes in lists.items() if classes}}


@dataclass(frozen=True)
class Option:
    """One answer that a question suggests."""

    id: str
    label: str
    recommended: bool = False

    def as_json(self) -> dict[str, Any]:
        """The option under the names of its column; `recommended` only where it is true."""
        named: dict[str, Any] = {"id": self.id, "label": self.label}
        return {**named, "recommended": True} if self.recommended else named


@dataclass(frozen=True)
class Question:
    """What the owner is asked, with 2-4 options. Questions present; the schema decides."""

    id: str
    question: str
    options: tuple[Option, ...]

    def as_json(self) -> dict[str, Any]:
        """The question under the names of its column."""
        return {
            "id": self.id,
            "question": self.question,
            "options": [each.as_json() for each in self.options],
        }


@dataclass(frozen=True)
class Brief:
    """What the owner reads before answering, each part optional unless the store requires it."""

    summary: str | None = None
    evidence_ref: str | None = None
    questions: tuple[Question, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The parts that are set."""
        parts: dict[str, Any] = {"summary": self.summary, "evidence_ref": self.evidence_ref}
        parts["questions"] = [each.as_json() for each in self.questions] or None
        return {name: part for name, part in parts.items() if part is not None}


@dataclass(frozen=True)
class Allowance:
    """One exact answer to one step that a class other than the owner's may give."""

    resolver_class: str
    step_id: str
    payload: Any


@dataclass(frozen=True)
class GateRecord:
    """A gate as it stood when it was read. Nothing done to it, or to what is inside, reaches the store.

    Times are aware and in UTC. `payload`, `schema` and `resolved_evidence` are JSON values. `resolved_at` is
    when the gate settled, whatever the status; for an expired gate it is the deadline.
    """

    id: str
    prompt: str
    status: Status
    created_at: datetime
    schema: dict[str, Any] | None = None
    expires_at: datetime | None = None
    payload: Any = None
    reason: str | None = None
    resolved_at: datetime | None = None
    resolved_by: Resolver | None = None
    resolved_evidence: dict[str, Any] | None = None
    rule: Rule | None = None
    summary: str | None = None
    evidence_ref: str | None = None
    questions: tuple[Question, ...] = ()

    @property
    def deadline(self) -> int | None:
        """`expires_at` in whole milliseconds since the epoch, which is how deadlines are judged."""
        return None if self.expires_at is None else millis(self.expires_at)

    def as_json(self) -> dict[str, Any]:
        """The record as a JSON object: times as ISO 8601, what is unset left out."""
        fields: dict[str, Any] = {
            "id": self.id,
            "prompt": self.prompt,
            "status": self.status,
            "created_at": isotime(self.created_at),
            "schema": self.schema,
            "expires_at": self.expires_at and isotime(self.expires_at),
            "reason": self.reason,
            "resolved_at": self.resolved_at and isotime(self.resolved_at),
            "resolved_by": self.resolved_by and self.resolved_by.as_json(),
            "resolved_evidence": self.resolved_evidence,
            "rule": self.rule and self.rule.as_json(),
            **Brief(self.summary, self.evidence_ref, self.questions).as_json(),
        }
        settled = {"payload": self.payload} if self.status == RESOLVED else {}
        return {name: value for name, value in fields.items() if value is not None} | settled


def isotime(instant: datetime) -> str:
    """An aware instant as a store writes it: ISO 8601 in UTC, of one width, so that text order is time order.

    Raises `ValueError` for a naive one, which names no instant.
    """
    if instant.utcoffset() is None:
        raise ValueError("a time without a zone is no instant")
    return f"{instant.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def instant_of(text: str) -> datetime:
    """The instant that an ISO 8601 text names, in UTC.

    Raises `ValueError` when it names none, `OverflowError` when it lies outside the calendar in UTC.
    """
    instant = datetime.fromisoformat(text)
    if instant.utcoffset() is None:
        raise ValueError("a time without a zone is no instant")
    return instant.astimezone(UTC)


Authorize: TypeAlias = Callable[[GateRecord, Resolver], Mapping[str, Any]]
"""Store option: `(pending gate, resolver) -> {"allowed": bool, "reason"?: str}`, synchronously."""

EvidencePolicy: TypeAlias = Callable[[GateRecord, Resolver, Any, dict[str, Any]], bool]
"""Store option: `(pending gate, resolver, payload, evidence) -> True` to admit, pure and synchronous."""
