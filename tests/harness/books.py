"""What a venue's database file says, read with plain SQL and held against itself.

`Books.of` takes one snapshot of the file; `check` asserts everything that a settle promises to be true
together (D16, D21, D23, D25, D26): one settlement for each request that is no longer open, and record, job,
state chain, feed, audit and ledger that tell the same story about it.
"""

import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from inbox.audit import AuditLine, verify
from ucan.jwt import read, token_hash

Row = dict[str, Any]

ENDS = {
    "open": "INPUT_REQUIRED",
    "answered": "COMPLETE",
    "rejected": "FAILED",
    "expired": "FAILED",
    "cancelled": "CANCELLED",
}
"""How the job of a request stands, by how the request does."""

_SETTLED = {f"request.{status}": status for status in ENDS if status != "open"}


@dataclass(frozen=True)
class Story:
    """How one request stands, as every table agrees: who settled it, when, and the token that came of it."""

    status: str
    owner: str | None
    resolver: str | None
    at: int | None
    error: str | None
    token: str | None
    deleted: bool


@dataclass(frozen=True)
class Books:
    """One snapshot of a venue's tables."""

    requests: Mapping[str, Row]
    jobs: Mapping[str, Row]
    states: Mapping[str, Sequence[Row]]
    feeds: Mapping[str, int]
    events: Mapping[str, Sequence[Row]]
    audit: Mapping[str, Sequence[AuditLine]]
    mints: Mapping[str, Row]
    receipts: Mapping[str, str]

    @classmethod
    def of(cls, path: Path) -> "Books":
        """Read the file in one snapshot, whether or not a server has it open."""
        with closing(connect(path)) as db:
            db.execute("BEGIN")
            audit = _grouped(db, "SELECT * FROM audit ORDER BY inbox, seq", "inbox")
            return cls(
                requests={row["id"]: row for row in _rows(db, "SELECT * FROM request")},
                jobs={row["id"]: row for row in _rows(db, "SELECT * FROM job")},
                states=_grouped(db, "SELECT * FROM job_state ORDER BY job, seq", "job"),
                feeds={row["feed"]: row["version"] for row in _rows(db, "SELECT * FROM feed")},
                events=_grouped(db, "SELECT * FROM event ORDER BY feed, version", "feed"),
                audit={
                    inbox: [AuditLine(row["seq"], row["line"], row["hash"]) for row in rows]
                    for inbox, rows in audit.items()
                },
                mints={row["hash"]: row for row in _rows(db, "SELECT * FROM mint")},
                receipts={row["request"]: row["receipt"] for row in _rows(db, "SELECT * FROM receipt")},
            )

    @cached_property
    def lines(self) -> Sequence[Row]:
        """Every audit line of every inbox, decoded."""
        return [json.loads(entry.line) for lines in self.audit.values() for entry in lines]

    def said(self, kind: str) -> Sequence[Row]:
        """Every audit line of one kind, in all inboxes."""
        return self._lines_by_kind[kind]

    def check(self) -> dict[str, Story]:
        """Assert that all tables agree; returns how each request that was ever posted stands, by its id."""
        self._check_chains()
        self._check_feeds()
        settled = self._settlements()
        asked = {name: job for name, job in self.jobs.items() if job["adapter"] == "hitl:request"}
        assert self.requests.keys() <= asked.keys(), "a record without a job"
        stories = {name: self._story(job, settled.get(name)) for name, job in asked.items()}
        minted = {row["request"]: row["hash"] for row in self.mints.values() if row["request"] is not None}
        assert minted == {name: token_hash(story.token) for name, story in stories.items() if story.token}
        return stories

    @cached_property
    def _lines_by_kind(self) -> Mapping[str, Sequence[Row]]:
        return _by(self.lines, "kind")

    @cached_property
    def _deletions(self) -> Sequence[str]:
        return [line["request"] for line in self.said("request.deleted")]

    @cached_property
    def _told(self) -> Mapping[tuple[str, str], Sequence[str]]:
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for feed, events in self.events.items():
            for event in events:
                found[feed, event["subject"]].append(event["kind"])
        return found

    def _check_chains(self) -> None:
        for inbox, lines in self.audit.items():
            assert verify(lines, inbox) is None, (inbox, verify(lines, inbox))
        for name, job in self.jobs.items():
            before = "0" * 64
            for place, state in enumerate(self.states[name], start=1):
                said = json.loads(state["record"])
                assert (state["seq"], said["seq"], said["before"]) == (place, place, before), name
                before = hashlib.sha256(state["record"].encode()).hexdigest()
                assert state["hash"] == before, name
            assert said["status"] == job["status"], name
            assert len(self.states[name]) <= 2, (name, "a job parks and ends, or is born finished")

    def _check_feeds(self) -> None:
        assert self.feeds.keys() == self.events.keys()
        for feed, events in self.events.items():
            assert [event["version"] for event in events] == list(range(1, self.feeds[feed] + 1)), feed

    def _settlements(self) -> dict[str, Row]:
        found: dict[str, Row] = {}
        for line in self.lines:
            if line["kind"] in _SETTLED:
                assert line["request"] not in found, f"{line['request']} was settled twice"
                found[line["request"]] = line
        return found

    def _story(self, job: Row, line: Row | None) -> Story:
        name = job["id"]
        record = self.requests.get(name)
        status = "open" if line is None else _SETTLED[line["kind"]]
        gone = self._deletions.count(name)
        assert gone == (record is None), (name, "a record goes by one delete and not otherwise")
        assert job["status"] == ENDS[status], (name, status, job["status"])
        if record is not None:
            assert (record["status"], record["settled"]) == (status, line and line["at"]), name
            assert record["resolver"] == (line or {}).get("resolver"), name
        output = json.loads(job["output"]) if job["output"] else {}
        assert bool(output) == (status == "answered"), name
        assert ("token" in output) == bool(output.get("grants")), (
            name,
            "a token for what was echoed, and only so",
        )
        assert (line is not None and line.get("resolver") is not None) == (
            status not in ("open", "expired")
        ), name
        owner = line["inbox"] if line else record and record["owner"]
        self._check_told(job, owner, status, deleted=bool(gone))
        self._check_receipt(name, line)
        if "token" in output:
            self._check_minted(job, str(owner), output["token"])
        return Story(
            status,
            owner,
            (line or {}).get("resolver"),
            (line or {}).get("at"),
            job["error"],
            output.get("token"),
            bool(gone),
        )

    def _check_told(self, job: Row, owner: Any, status: str, *, deleted: bool) -> None:
        """The inbox heard of the request, the job's owner of the job; each step once and in order."""
        wanted = ["request.open"] + ([f"request.{status}"] if status != "open" else [])
        wanted += ["request.deleted"] if deleted else []
        assert self._kinds(owner, "request.", job["id"]) == wanted, job["id"]
        wanted = ["job.input_required"] + ([f"job.{ENDS[status].lower()}"] if status != "open" else [])
        assert self._kinds(job["owner"], "job.", job["id"]) == wanted, job["id"]

    def _check_receipt(self, request: str, line: Row | None) -> None:
        """A settled request has one receipt, over the very line of the audit that says so."""
        assert (request in self.receipts) == (line is not None), request
        if line is not None:
            said = read(self.receipts[request]).claims
            entry = self.audit[line["inbox"]][line["seq"] - 1]
            assert said["audit"] == {"seq": entry.seq, "hash": entry.hash}, request
            assert (said["outcome"], said["at"]) == (_SETTLED[line["kind"]], line["at"]), request
            assert (said.get("responder"), said["digest"]) == (line.get("resolver"), line["digest"]), request

    def _kinds(self, feed: str, prefix: str, subject: str) -> list[str]:
        return [kind for kind in self._told[feed, subject] if kind.startswith(prefix)]

    def _check_minted(self, job: Row, owner: str, token: str) -> None:
        row = self.mints[token_hash(token)]
        assert (row["grantor"], row["audience"], row["request"]) == (owner, job["maker"], job["id"])
        lines = [line for line in self.said("token.minted") if line.get("request") == job["id"]]
        assert [(line["inbox"], line["token"]) for line in lines] == [(owner, row["hash"])]


def connect(path: Path) -> sqlite3.Connection:
    """A connection of one's own to a database file, as the `sqlite3` shell would have it."""
    db = sqlite3.connect(path, isolation_level=None, timeout=10)
    db.row_factory = sqlite3.Row
    return db


def dump(path: Path) -> list[str]:
    """Every row of every table, as SQL; two files that say the same dump the same."""
    with closing(connect(path)) as db:
        return list(db.iterdump())


def _rows(db: sqlite3.Connection, sql: str) -> list[Row]:
    return [dict(row) for row in db.execute(sql)]


def _grouped(db: sqlite3.Connection, sql: str, key: str) -> dict[str, list[Row]]:
    return _by(_rows(db, sql), key)


def _by(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[key]].append(row)
    return found
