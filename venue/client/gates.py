"""`VenueGateStore`: a gate as a request in a person's inbox (D27, D28).

The gate's row travels in the request, as a key of its first ask that the venue keeps and never interprets;
how it was settled follows from the request's job. The gate id is the idempotency key of the post, which is
how the request is found again by whoever has only the id.
"""

import hashlib
import json
import math
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from inbox.clock import Clock, system_clock
from inbox.gates import (
    GateAlreadyExists,
    GateArgumentInvalid,
    GateExpiryInvalid,
    GateNotFound,
    GateRecord,
    GateResolverRefused,
    GateRuleInvalid,
    GateStore,
    Resolver,
)
from inbox.gates.model import CANCELLED, EXPIRED, PENDING, RESOLVED, instant_of, isotime
from inbox.gates.rows import Row
from inbox.gates.store import Feature
from inbox.jsonvalue import Issue, to_json
from inbox.settle import Standing
from ucan.jwt import read

from . import asked, gateform
from .errors import Refused, VenueError
from .models import Answered
from .sync import Venue

_ROW = "gate"
_REQUEST = "v/ops/hitl/request"
_PARKED = "INPUT_REQUIRED"
_TITLE = 280
_BATCH = 4_000
"""How many gates one query asks about: what is said of each must fit the budget of an inspection."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class VenueGateStore(GateStore):
    """Gates that people answer in their inbox. Any thread may use it; so may any process of the same caller.

    `venue` is a client, or the address of a venue for a client of the store's own, which `close` closes;
    without one the environment says where and who. `to` is whose inbox, one's own user's when absent, and
    `ucans` the proofs that somebody else's needs. A caller's gates in one inbox are one gate space.

    What else can go wrong, beside the errors of gates, is a `VenueError`.
    """

    def __init__(
        self,
        venue: Venue | str | None = None,
        *,
        to: str | None = None,
        ucans: Sequence[str] = (),
        now: Clock = system_clock,
        new_id: Callable[[], str] = lambda: str(uuid4()),
        require_brief: bool = False,
        strict_schema: bool = False,
    ) -> None:
        super().__init__(now=now, new_id=new_id, require_brief=require_brief, strict_schema=strict_schema)
        self._owns = not isinstance(venue, Venue)
        self._venue = venue if isinstance(venue, Venue) else Venue(venue)
        self._to = to
        self._ucans = tuple(ucans)
        self._requests: dict[str, str] = {}

    def close(self) -> None:
        """Close the client if the store made it. Gates stay; waits on this store end with an error."""
        if self._owns:
            self._venue.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def resolve(
        self,
        id: str,
        payload: Any,  # noqa: ARG002 - the base's
        resolver: Resolver | Mapping[str, Any] | None = None,  # noqa: ARG002
        *,
        evidence: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> GateRecord:
        """Refused: who answers is the owner of the inbox, by how they sign in, and nobody's claim (D28).

        Raises `GateResolverRefused`; `GateNotFound`, `GateAlreadySettled`, `GateExpired` where they apply.
        """
        self._pending(id)
        raise GateResolverRefused(id, None, "only the person answers, in their inbox")

    def no_longer_pending(self, ids: Iterable[str]) -> list[str]:
        """Which of these gates are not pending, or not there. One query for up to 4,000."""
        asked_about = [*ids]
        settled: list[str] = []
        for start in range(0, len(asked_about), _BATCH):
            paths = {
                f"j/{self._requests.get(id, '-')}/status": id for id in asked_about[start : start + _BATCH]
            }
            data = {"paths": [*paths], "budget": 100_000}
            found = self._venue.run("v/ops/covia/inspect", data)["result"]
            settled += [id for path, id in paths.items() if found.get(path) != to_json(_PARKED)]
        return settled

    def check_can_wait(self, id: str) -> None:
        """There is no transaction to wait in."""

    @property
    def may_block(self) -> bool:
        """The venue may be slow or away; any thread may ask it."""
        return True

    # -- rows ----------------------------------------------------------------------------------------

    def _unit(self) -> AbstractContextManager[object]:
        return nullcontext()  # each call of the venue is a transaction of its own

    def _standing(self, gate: GateRecord, now: datetime) -> Standing:  # noqa: ARG002 - the venue's clock judges
        return Standing.OPEN if gate.status == PENDING else Standing.SETTLED

    def _expire(self, ids: Iterable[str]) -> None:
        """The venue does that."""

    def _require(self, gate_id: str, feature: Feature, needed: bool) -> None:
        if needed and feature in ("rule", "delegate"):
            problem = "an inbox lets in its owner and nobody else; it keeps no rule"
            raise GateRuleInvalid(gate_id, [Issue("rule", problem)])

    def _read(self, id: str) -> Row | None:
        request = self._requests.get(id) or self._found(id)
        if request is None:
            return None
        try:
            row = self._row(self._venue.job(request))
        except Refused as error:
            if error.code != "not_found":
                raise
            row = None
        if row is None:
            self._requests.pop(id, None)
        else:
            self._requests[id] = request
        return row

    def _read_pending(self) -> list[Row]:
        rows = [row for job in self._open_jobs() if (row := self._row(job)) and row["status"] == PENDING]
        return sorted(rows, key=lambda row: (str(row["created_at"]), str(row["id"])))

    def _insert(self, row: Row) -> None:
        gate_id, prompt = str(row["id"]), str(row["prompt"])
        title = _title(gate_id, row.get("summary") or prompt)
        asks = gateform.asks_of(gate_id, _schema(row), title)
        # The mark tells this post from every other under the key, but not from its own repetitions.
        asks[0][_ROW] = {**row, "mark": secrets.token_hex(8)}
        said = {
            "title": title,
            "description": _description(row, title),
            "asks": asks,
            "timeout": self._timeout(gate_id, row.get("expires_at")),
            "user": self._to,
        }
        data = {name: value for name, value in said.items() if value is not None}
        try:
            job = self._venue.invoke(_REQUEST, data, ucans=self._ucans, key=self._key(gate_id))
        except Refused as error:
            if error.code == "idempotency_conflict":
                raise GateAlreadyExists(gate_id) from None
            if error.status == 400:
                raise GateArgumentInvalid(gate_id, [Issue("request", error.message)]) from error
            raise
        self._requests[gate_id] = str(job["id"])

    def _update_pending(self, id: str, changes: Row) -> bool:
        """Only a cancel comes here. One that was too late finds the job as it was, and did not land."""
        reason = changes.get("reason")
        request = self._requests[id]
        try:
            self._venue.cancel(request, reason)
            job = self._venue.job(request)
        except Refused as error:
            if error.code == "not_found":
                raise GateNotFound(id) from None
            raise
        return job["status"] == "CANCELLED" and job.get("error") == (reason or asked.CANCELLED)

    # -- requests ------------------------------------------------------------------------------------

    def _key(self, gate_id: str) -> str:
        space = to_json([self._to, gate_id])
        return f"gate-{hashlib.sha256(space.encode()).hexdigest()}"

    def _found(self, gate_id: str) -> str | None:
        """The request of a gate that this store has not seen: an empty post under its key is refused either
        way, and the refusal says whether there is one.
        """
        try:
            self._venue.invoke(_REQUEST, {}, key=self._key(gate_id))
        except Refused as error:
            if error.code == "idempotency_conflict":
                return str(error.details["job"])
            if error.status == 400:
                return None
            raise
        raise VenueError("This venue took an empty request")

    def _open_jobs(self) -> Iterator[dict[str, Any]]:
        if self._to is None:
            mine = [item.id for item in self._venue.inbox("open") if item.from_ == self._venue.caller]
        else:
            mine = [*self._parked()]
        for request in mine:
            yield self._venue.job(request)

    def _parked(self) -> Iterator[str]:
        """Requests in somebody else's inbox are seen through one's own jobs, and only there."""
        offset = 0
        while True:
            data = {"path": "j", "fields": ["status"], "offset": offset, "limit": 1_000}
            page = self._venue.run("v/ops/covia/list", data)
            for key in page["keys"]:
                if page["values"][key]["status"]["value"] == _PARKED:
                    yield key
            offset += len(page["keys"])
            if offset >= page["count"] or not page["keys"]:
                return

    def _row(self, job: Mapping[str, Any]) -> Row | None:
        """The gate that a job is, as it stands; None for a job that is no gate of this store."""
        said = job.get("input")
        asks = said.get("asks") if isinstance(said, dict) else None
        kept = asks[0].get(_ROW) if asks and isinstance(asks[0], dict) else None
        ours = job.get("actor", job["caller"]) == self._venue.caller and said and said.get("user") == self._to
        if (
            not ours
            or not isinstance(kept, dict)
            or not {"id", "prompt", "status", "created_at"} <= kept.keys()
        ):
            return None
        row: Row = {name: text for name, text in kept.items() if isinstance(text, str) and name != "mark"}
        self._requests[str(row["id"])] = str(job["id"])
        return row if job["status"] not in asked.ENDED else {**row, **self._settled(job, row)}

    def _settled(self, job: Mapping[str, Any], row: Row) -> Row:
        at = isotime(_EPOCH + timedelta(milliseconds=job["updated"]))
        error = str(job.get("error", ""))
        if job["status"] == "COMPLETE":
            answers = Answered.model_validate(job["output"]).answers
            payload = to_json(gateform.payload_of(_schema(row), answers))
            return {"status": RESOLVED, "payload": payload, "resolved_at": at, "resolved_by": self._who(job)}
        if job["status"] == "CANCELLED":
            reason = None if error == asked.CANCELLED else error
            return {"status": CANCELLED, "reason": reason, "resolved_at": at}
        if error == asked.EXPIRED:
            return {"status": EXPIRED, "resolved_at": row.get("expires_at", at)}
        if not error.startswith(asked.REJECTED):
            return {"status": CANCELLED, "reason": error, "resolved_at": at}
        reason = error.removeprefix(asked.REJECTED).removeprefix(": ") or None
        return {"status": CANCELLED, "reason": reason, "resolved_at": at, "resolved_by": self._who(job)}

    def _who(self, job: Mapping[str, Any]) -> str:
        """Who answered, and through what, by the venue's receipt."""
        claims = read(self._venue.receipt(str(job["id"]))).claims
        who = Resolver("owner-remote", str(claims.get("responder", "")), str(claims.get("channel", "")))
        return to_json(who.as_json())

    def _timeout(self, gate_id: str, expires_at: str | None) -> int | None:
        """Whole seconds until a deadline, rounded up: an inbox never expires a gate before its time."""
        if expires_at is None:
            return None
        seconds = math.ceil((instant_of(expires_at) - self.instant()).total_seconds())
        if seconds < 1:
            raise GateExpiryInvalid(gate_id, [Issue("expires_at", "has passed: nobody could answer in time")])
        return seconds


def _schema(row: Row) -> dict[str, Any] | None:
    text = row.get("schema")
    return None if text is None else json.loads(text)


def _title(gate_id: str, text: str) -> str:
    lines = text.strip().splitlines()
    if not lines:
        raise GateArgumentInvalid(gate_id, [Issue("prompt", "must not be blank: a person reads it")])
    return lines[0] if len(lines[0]) <= _TITLE else f"{lines[0][: _TITLE - 1]}…"


def _description(row: Row, title: str) -> str | None:
    """What a person reads beside the title: the prompt where it says more, the evidence, the questions."""
    parts = [str(row["prompt"])] if row["prompt"] != title else []
    if row.get("evidence_ref"):
        parts.append(f"Evidence: {row['evidence_ref']}")
    for question in json.loads(row.get("questions") or "[]"):
        options = [
            f"- {each['label']}{' (recommended)' if each.get('recommended') else ''}"
            for each in question["options"]
        ]
        parts.append("\n".join([question["question"], *options]))
    return "\n\n".join(parts) or None
