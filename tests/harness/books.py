"""What a venue's database file says, read with plain SQL and held against itself.

`Books.of` takes one snapshot of the file; `check` asserts everything that a settle promises to be true
together (D11, D12, D16, D18, D21, D23, D25, D26): one settlement for each request that is no longer open, and
record, job, state chain, feed, audit and ledger that tell the same story about it; blocks and revocations as
the audit tells of them.
"""

import hashlib
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from inbox.audit import AuditLine, verify
from ucan.did import owner_of
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
    """How one request stands, as every table agrees: who settled it, when, and the tokens that came of it.

    `deleted` is its record, `forgotten` its job; what the job held is not known any more.
    """

    status: str
    owner: str
    resolver: str | None
    at: int | None
    error: str | None
    token: str | None
    tokens: Mapping[str, str]
    deleted: bool
    forgotten: bool


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
    revocations: Mapping[str, Row]
    blocks: Set[tuple[str, str]]

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
                revocations={row["hash"]: row for row in _rows(db, "SELECT * FROM revocation")},
                blocks={(row["owner"], row["requester"]) for row in _rows(db, "SELECT * FROM block")},
            )

    @cached_property
    def lines(self) -> Sequence[Row]:
        """Every audit line of every inbox, decoded."""
        return [json.loads(entry.line) for lines in self.audit.values() for entry in lines]

    def said(self, kind: str) -> Sequence[Row]:
        """Every audit line of one kind, in all inboxes."""
        return self._lines_by_kind[kind]

    def check(self) -> dict[str, Story]:
        """Assert that all tables agree; returns how each request that was ever posted stands, by its id.

        One of which neither record nor job is left is known by its settlement.
        """
        self._check_chains()
        self._check_feeds()
        self._check_ledger()
        self._check_revocations()
        self._check_blocks()
        settled = self._settlements()
        asked = {name for name, job in self.jobs.items() if job["adapter"] == "hitl:request"}
        names = asked | self.requests.keys() | settled.keys()
        stories = {name: self._story(name, settled.get(name)) for name in sorted(names)}
        minted = {row["request"]: row["hash"] for row in self.mints.values() if row["request"] in asked}
        assert minted == {name: token_hash(story.token) for name, story in stories.items() if story.token}
        self._check_replies(stories)
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
            assert (said["status"], said.get("error")) == (job["status"], job["error"]), name
            assert said.get("output") == _by_hash(_plain(job["output"])), name
            assert len(self.states[name]) <= 2, (name, "a job parks and ends, or is born finished")

    def _check_feeds(self) -> None:
        assert self.feeds.keys() == self.events.keys()
        for feed, events in self.events.items():
            assert [event["version"] for event in events] == list(range(1, self.feeds[feed] + 1)), feed

    def _check_ledger(self) -> None:
        """What was minted stands in the ledger and in its grantor's audit, and says the same in both."""
        fields = ("audience", "exp", "request")
        assert {
            line["token"]: (line["inbox"], line["grants"], *map(line.get, fields))
            for line in self.said("token.minted")
        } == {
            name: (row["grantor"], json.loads(row["grants"]), *map(row.get, fields))
            for name, row in self.mints.items()
        }

    def _check_revocations(self) -> None:
        """Each has its line and its event, or is of an agent that was; what was minted on it fell as well."""
        fell = {name: line for line in self.said("token.revoked") for name in line["fell"]}
        assert fell.keys() <= self.revocations.keys()
        for name, line in fell.items():
            row = self.revocations[name]
            assert (row["revoker"], row["at"]) == (line["inbox"], line["at"]), name
        fired = {line["agent"] for line in self.said("agent.revoked")}
        assert {self.mints[name]["audience"] for name in self.revocations.keys() - fell.keys()} <= fired
        for name, row in self.mints.items():
            assert name in self.revocations or self.revocations.keys().isdisjoint(json.loads(row["proofs"]))
        self._check_events("token.revoked", "token")

    def _check_blocks(self) -> None:
        """Whoever is blocked was blocked, as the audit tells, and not unblocked since."""
        standing: set[tuple[str, str]] = set()
        for line in self.lines:
            if line["kind"] == "requester.blocked":
                standing.add((line["inbox"], line["requester"]))
            elif line["kind"] == "requester.unblocked":
                standing.remove((line["inbox"], line["requester"]))
        assert standing == self.blocks
        self._check_events("requester.blocked", "requester")
        self._check_events("requester.unblocked", "requester")

    def _check_events(self, kind: str, subject: str) -> None:
        """A feed heard of each such line of the audit, once."""
        written = Counter((line["inbox"], line[subject]) for line in self.said(kind))
        heard = {place: kinds.count(kind) for place, kinds in self._told.items() if kind in kinds}
        assert heard == written, kind

    def _check_replies(self, stories: Mapping[str, Story]) -> None:
        """Whoever was told that they settled a request settled it, and nobody else was told so."""
        told = [_plain(job["output"]) for job in self.jobs.values() if job["adapter"] == "hitl:respond"]
        assert all(stories[said["id"]].status == said["status"] for said in told)
        assert len(told) == len({said["id"] for said in told})

    def _settlements(self) -> dict[str, Row]:
        found: dict[str, Row] = {}
        for line in self.lines:
            if line["kind"] in _SETTLED:
                assert line["request"] not in found, f"{line['request']} was settled twice"
                found[line["request"]] = line
        return found

    def _story(self, name: str, line: Row | None) -> Story:
        record, job = self.requests.get(name), self.jobs.get(name)
        status = "open" if line is None else _SETTLED[line["kind"]]
        gone = self._deletions.count(name)
        assert gone == (record is None), (name, "a record goes by one delete and not otherwise")
        if record is not None:
            assert (record["status"], record["settled"]) == (status, line and line["at"]), name
            assert record["resolver"] == (line or {}).get("resolver"), name
        assert (line is not None and line.get("resolver") is not None) == (
            status not in ("open", "expired")
        ), name
        asked = line or record or {}
        owner, maker = asked.get("inbox") or asked["owner"], asked["requester"]
        self._check_told(name, owner, owner_of(maker), status)
        self._check_receipt(name, line)
        output = {} if job is None else self._output(job, owner, maker, status)
        return Story(
            status,
            owner,
            (line or {}).get("resolver"),
            (line or {}).get("at"),
            job and job["error"],
            output.get("token"),
            output.get("tokens", {}),
            deleted=bool(gone),
            forgotten=job is None,
        )

    def _output(self, job: Row, owner: str, maker: str, status: str) -> Row:
        """What a request's job holds, once it is sure that it ended as the request did."""
        name = job["id"]
        assert (job["status"], job["maker"]) == (ENDS[status], maker), name
        output: Row = _plain(job["output"]) or {}
        assert bool(output) == (status == "answered"), name
        assert ("token" in output) == bool(output.get("grants")), (
            name,
            "a token for what was echoed, and only so",
        )
        if "token" in output:
            self._check_minted(job, owner, output["token"])
        return output

    def _check_told(self, name: str, owner: str, asker: str, status: str) -> None:
        """The inbox heard of the request, the job's owner of the job; each step once and in order."""
        wanted = ["request.open"] + ([f"request.{status}"] if status != "open" else [])
        wanted += ["request.deleted"] if name not in self.requests else []
        assert self._kinds(owner, "request.", name) == wanted, name
        wanted = ["job.input_required"] + ([f"job.{ENDS[status].lower()}"] if status != "open" else [])
        wanted += ["job.deleted"] if name not in self.jobs else []
        assert self._kinds(asker, "job.", name) == wanted, name

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
        """The ledger has the token, and the token says what the ledger does."""
        row, claims = self.mints[token_hash(token)], read(token).claims
        assert (row["grantor"], row["audience"], row["request"]) == (owner, job["maker"], job["id"])
        assert (claims["aud"], claims["exp"]) == (row["audience"], row["exp"])
        assert claims["att"] == json.loads(row["grants"])
        assert claims["fct"] == [{"grantor": owner, "request": job["id"]}]


def connect(path: Path) -> sqlite3.Connection:
    """A connection of one's own to a database file, as the `sqlite3` shell would have it."""
    db = sqlite3.connect(path, isolation_level=None, timeout=10)
    db.row_factory = sqlite3.Row
    return db


def dump(path: Path) -> list[str]:
    """Every row of every table, as SQL; two files that say the same dump the same."""
    with closing(connect(path)) as db:
        return list(db.iterdump())


def _plain(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _by_hash(output: Any) -> Any:
    """A job's output as its chain of states has it (D23)."""
    if not isinstance(output, dict):
        return output
    hashed = {name: _hash(output[name]) for name in ("token",) if name in output}
    if "tokens" in output:
        hashed["tokens"] = {ask: _hash(token) for ask, token in output["tokens"].items()}
    return {**output, **hashed}


def _hash(token: str) -> str:
    return "sha256:" + hashlib.sha256(token.encode()).hexdigest()


def _rows(db: sqlite3.Connection, sql: str) -> list[Row]:
    return [dict(row) for row in db.execute(sql)]


def _grouped(db: sqlite3.Connection, sql: str, key: str) -> dict[str, list[Row]]:
    return _by(_rows(db, sql), key)


def _by(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[key]].append(row)
    return found
