"""The base of every store: it owns every settle rule, a store owns only its rows (D27).

A settle is decided by one guarded write, which lands on a pending row or on nothing. Everything that can be
refused is refused before it; a write that found nothing pending is answered with the winner.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Literal, TypeAlias, TypedDict
from uuid import uuid4  # noqa: TID251 - a library has no composition root; `new_id` is where a product puts its own

from ..clock import Clock, millis, system_clock
from ..jsonvalue import Issue, json_copy, json_issues, text_issues, to_json
from ..schema import SchemaUnusable, Shape, check_against_json_schema, unchecked_keywords
from ..settle import Outcome, Standing, is_forgiven, standing
from .brief import snapshot_brief
from .errors import (
    GateAlreadyExists,
    GateAlreadySettled,
    GateArgumentInvalid,
    GateExpired,
    GateExpiryInvalid,
    GateNotFound,
    GatePayloadInvalid,
    GateSchemaInvalid,
)
from .model import (
    CANCELLED,
    EXPIRED,
    PENDING,
    RESOLVED,
    Allowance,
    Authorize,
    EvidencePolicy,
    GateRecord,
    Question,
    Resolver,
    Rule,
    instant_of,
    isotime,
)
from .policy import Policy, snapshot_evidence, snapshot_resolver, snapshot_rule
from .rows import Row, record_of
from .wait import Watch

Feature: TypeAlias = Literal["rule", "delegate", "brief", "evidence"]
"""What a table may lack because it was made before the library knew it."""


class StoreOptions(TypedDict, total=False):
    """The options that every store takes."""

    now: Clock
    """The instant that deadlines are judged by and times are stamped with. Default: the system's."""
    new_id: Callable[[], str]
    """The id of a gate opened without one. Default: a random UUID."""
    authorize: Authorize | None
    """The product's last word on a resolve. It can only refuse."""
    allowances: Iterable[Allowance | Mapping[str, Any]]
    """Exact answers to named steps that classes other than the owner's may give."""
    evidence_policy: EvidencePolicy | None
    """May admit a class other than the owner's on the evidence that its resolve carries."""
    require_brief: bool
    """Refuse to open a gate without a summary and an evidence_ref."""
    strict_schema: bool
    """Refuse to open a gate whose schema constrains more than the boundary can check."""


class GateStore(ABC):
    """Gates kept somewhere. Both stores of this package behave alike; one suite says so.

    `watch` holds everybody who waits on this store in this process.
    """

    def __init__(
        self,
        *,
        now: Clock = system_clock,
        new_id: Callable[[], str] = lambda: str(uuid4()),
        authorize: Authorize | None = None,
        allowances: Iterable[Allowance | Mapping[str, Any]] = (),
        evidence_policy: EvidencePolicy | None = None,
        require_brief: bool = False,
        strict_schema: bool = False,
    ) -> None:
        self._now = now
        self.watch = Watch(self)
        self._new_id = new_id
        self._policy = Policy(authorize=authorize, allowances=allowances, evidence_policy=evidence_policy)
        self._require_brief = require_brief
        self._strict_schema = strict_schema

    # -- what a product calls ----------------------------------------------------------------------

    def create(
        self,
        *,
        prompt: str,
        id: str | None = None,
        schema: Any = None,
        expires_at: datetime | str | None = None,
        rule: Rule | Mapping[str, Any] | None = None,
        summary: str | None = None,
        evidence_ref: str | None = None,
        questions: Sequence[Question | Mapping[str, Any]] | None = None,
    ) -> GateRecord:
        """Write a pending gate. `expires_at` is an aware datetime or an ISO 8601 text with a zone.

        Raises, and writes nothing: `GateAlreadyExists`; `GateArgumentInvalid`, `GateSchemaInvalid`,
        `GateExpiryInvalid`, `GateRuleInvalid`, `GateBriefInvalid`, each naming every problem; and
        `GateStoreSchemaOutdated` when the table cannot hold what was given.
        """
        gate_id = self._new_id() if id is None else id
        _check_texts(gate_id, id=gate_id, prompt=prompt)
        json_schema = self._schema(gate_id, schema)
        kept_rule = snapshot_rule(gate_id, rule)
        given = {"summary": summary, "evidence_ref": evidence_ref, "questions": questions}
        brief = snapshot_brief(gate_id, given, required=self._require_brief).as_json()
        self._require(gate_id, "rule", bool(kept_rule))
        self._require(gate_id, "delegate", bool(kept_rule and kept_rule.delegates))
        self._require(gate_id, "brief", bool(brief))
        row: Row = {
            "id": gate_id,
            "prompt": prompt,
            "status": PENDING,
            "schema": None if json_schema is None else to_json(json_schema),
            "created_at": isotime(self.instant()),
            "expires_at": _expiry(gate_id, expires_at),
            "rule": None if kept_rule is None else to_json(kept_rule.as_json()),
            "summary": brief.get("summary"),
            "evidence_ref": brief.get("evidence_ref"),
            "questions": to_json(brief["questions"]) if "questions" in brief else None,
        }
        with self._unit():
            if self._read(gate_id) is not None:
                raise GateAlreadyExists(gate_id)
            self._insert({column: text for column, text in row.items() if text is not None})
        return record_of(row)

    def get(self, id: str) -> GateRecord | None:
        """The gate as it stands now, or None. A read that finds the deadline passed writes so.

        Raises `GateRowInvalid` when somebody edited the row into something that no store writes.
        """
        if any(text_issues(id, "id")):
            return None  # no store can hold such an id
        row = self._read(id)
        if row is None:
            return None
        gate = record_of(row)
        if self._standing(gate, self.instant()) is not Standing.DUE:
            return gate
        with self._unit():
            self._expire([id])
            row = self._read(id)
        return None if row is None else record_of(row)

    def list_pending(self) -> list[GateRecord]:
        """The pending gates, oldest first."""
        gates = [record_of(row) for row in self._read_pending()]
        now = self.instant()
        due = {gate.id for gate in gates if self._standing(gate, now) is Standing.DUE}
        if due:
            with self._unit():
                self._expire(due)
        return [gate for gate in gates if gate.id not in due]

    def resolve(
        self,
        id: str,
        payload: Any,
        resolver: Resolver | Mapping[str, Any] | None = None,
        *,
        evidence: dict[str, Any] | None = None,
    ) -> GateRecord:
        """Answer a pending gate with a JSON value, and return it settled.

        Raises, and leaves the gate as it is: `GateNotFound`, `GateAlreadySettled`, `GateExpired`;
        `GateResolverRefused`, `GateAuthorizeInvalid`; `GatePayloadInvalid`, `GateEvidenceInvalid`;
        `GateStoreSchemaOutdated` when the table cannot hold the evidence.
        """
        kept_evidence = snapshot_evidence(id, evidence)
        kept_resolver = snapshot_resolver(id, resolver)
        if issues := [*json_issues(payload)]:
            raise GatePayloadInvalid(id, issues)
        kept_payload = json_copy(payload)
        gate = self._pending(id)
        self._policy.admit(gate, kept_resolver, kept_payload, kept_evidence)
        if issues := [*check_against_json_schema(gate.schema or {}, kept_payload)]:
            raise GatePayloadInvalid(id, issues)
        self._policy.authorize(gate, kept_resolver)
        self._require(id, "evidence", kept_evidence is not None)
        self._require(id, "delegate", bool(gate.rule and kept_resolver.actor_class in gate.rule.delegates))
        changes: Row = {"payload": to_json(kept_payload), "resolved_by": to_json(kept_resolver.as_json())}
        if kept_evidence is not None:
            changes["resolved_evidence"] = to_json(kept_evidence)
        return self._settle(gate, Outcome(RESOLVED, payload=kept_payload), changes)

    def cancel(self, id: str, reason: str | None = None) -> GateRecord:
        """Withdraw a pending gate, and return it settled. Needs no resolver.

        Raises `GateNotFound`, `GateAlreadySettled`, `GateExpired`; `GateArgumentInvalid` for a reason that is
        no text.
        """
        if reason is not None:
            _check_texts(id, reason=reason)
        changes: Row = {} if reason is None else {"reason": reason}
        return self._settle(self._pending(id), Outcome(CANCELLED, reason=reason), changes)

    def instant(self) -> datetime:
        """The store's now.

        Raises `ValueError` when its clock shows no zone: read as local time, that would move every deadline.
        """
        now = self._now()
        if now.utcoffset() is None:
            raise ValueError("the clock of a gate store must return an aware time, with a zone")
        return now

    # -- the settle rules --------------------------------------------------------------------------

    def _pending(self, id: str) -> GateRecord:
        gate = self.get(id)
        if gate is None:
            raise GateNotFound(id)
        if gate.status != PENDING:
            raise _too_late(gate)
        return gate

    def _settle(self, read: GateRecord, wanted: Outcome, changes: Row) -> GateRecord:
        """The one write that settles `read`, which was read as pending."""
        with self._unit():
            # Judged anew where nobody else can write: the deadline may have passed since the read.
            now = self.instant()
            in_time = self._standing(read, now) is Standing.OPEN
            if in_time:
                stamp: Row = {"status": wanted.status, "resolved_at": isotime(now)}
                landed = self._update_pending(read.id, changes | stamp)
            else:
                landed = False
                self._expire([read.id])
            row = self._read(read.id)
        if row is None:
            raise GateNotFound(read.id)
        gate = record_of(row)
        won = Outcome(gate.status, gate.payload, gate.reason)
        if landed or is_forgiven(read_open=True, wanted=wanted, won=won):
            return gate
        raise _too_late(gate)

    def _standing(self, gate: GateRecord, now: datetime) -> Standing:
        return standing(gate.status == PENDING, millis(now), gate.deadline)

    def _schema(self, gate_id: str, schema: Any) -> dict[str, Any] | None:
        try:
            shape = schema if isinstance(schema, Shape) else Shape[Any](schema)
            json_schema = shape.json_schema()
        except SchemaUnusable as error:
            raise GateSchemaInvalid(gate_id, error.issues) from error
        if self._strict_schema and (issues := [*unchecked_keywords(json_schema or {})]):
            raise GateSchemaInvalid(gate_id, issues)
        return json_schema

    # -- what a store provides ---------------------------------------------------------------------

    @abstractmethod
    def _unit(self) -> AbstractContextManager[object]:
        """A unit of work: while it is open nobody else writes; an exception undoes what it wrote."""

    @abstractmethod
    def _read(self, id: str) -> Row | None:
        """The row, as it is."""

    @abstractmethod
    def _read_pending(self) -> list[Row]:
        """The rows whose status is pending, oldest first, then by id."""

    @abstractmethod
    def _insert(self, row: Row) -> None:
        """Write a new row, inside a unit of work in which its id was not there."""

    @abstractmethod
    def _update_pending(self, id: str, changes: Row) -> bool:
        """Change the row if its status is pending; whether it was."""

    @abstractmethod
    def _expire(self, ids: Iterable[str]) -> None:
        """Write those of the rows that are pending as expired, at their own deadline."""

    @abstractmethod
    def _require(self, gate_id: str, feature: Feature, needed: bool) -> None:
        """Raise `GateStoreSchemaOutdated` when a feature is needed that the table lacks."""

    @abstractmethod
    def no_longer_pending(self, ids: Iterable[str]) -> list[str]:
        """Which of these gates are not pending, or not there. One query, however many are asked for."""

    @abstractmethod
    def check_can_wait(self, id: str) -> None:
        """Raise `GateWaitInTransaction` when a wait on this pending gate could never end."""

    @property
    def may_block(self) -> bool:
        """Whether a read may block for long and may run in any thread: an event loop is then spared it."""
        return False


def _too_late(gate: GateRecord) -> GateExpired | GateAlreadySettled:
    return GateExpired(gate.id) if gate.status == EXPIRED else GateAlreadySettled(gate.id, gate.status)


def _check_texts(gate_id: object, **texts: object) -> None:
    issues = []
    for name, text in texts.items():
        if not isinstance(text, str):
            issues.append(Issue(name, "must be a string"))
        elif not text and name == "id":
            issues.append(Issue(name, "must not be empty"))
        else:
            issues += text_issues(text, name)
            if "\0" in text:
                issues.append(Issue(name, "must not contain NUL"))
    if issues:
        raise GateArgumentInvalid(str(gate_id), issues)


def _expiry(gate_id: str, raw: datetime | str | None) -> str | None:
    if raw is None:
        return None
    try:
        if isinstance(raw, datetime):
            return isotime(raw)
        if isinstance(raw, str):
            return isotime(instant_of(raw))
    except (ValueError, OverflowError) as error:
        raise GateExpiryInvalid(gate_id, [Issue("expires_at", str(error))]) from error
    raise GateExpiryInvalid(gate_id, [Issue("expires_at", "must be a datetime or an ISO 8601 text")])
