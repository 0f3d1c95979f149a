"""The venue's tables held against the model's books, row by row, after every step."""

import hashlib
import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping
from contextlib import closing
from typing import Any

from inbox.audit import GENESIS
from inbox.events import feed_topic
from ops import notary
from tests.harness.books import connect
from ucan.did import public_key
from ucan.jwt import read, token_hash

from .house import VENUE, House
from .model import Asked, Expected, Minted, Model, Work


class Secret:
    """A text that may stand in certain places and nowhere else, known by its signature."""

    def __init__(self, text: str, carriers: int = 0) -> None:
        self.needle = text.rpartition(".")[2]
        self.carriers = carriers


class Tables:
    """What was read of one venue's tables so far, so that a step has only its own lines to look at."""

    def __init__(self, house: House, model: Model) -> None:
        self._house = house
        self._model = model
        self._settled: dict[str, Any] = {}
        self._receipts: dict[str, str] = {}
        self._bodies: dict[str, Any] = {}
        self._seen: dict[str, int] = defaultdict(int)
        self._heads: dict[str, str] = {}
        self._told: dict[str, int] = defaultdict(int)
        self.raced = False
        self.secrets: list[Secret] = [Secret(token) for token in house.bearers.values()]
        with closing(connect(house.path)) as db:
            for row in db.execute("SELECT inbox, seq, hash FROM audit_head"):
                self._seen[row["inbox"]], self._heads[row["inbox"]] = row["seq"], row["hash"]
            self._told.update((row["feed"], row["version"]) for row in db.execute("SELECT * FROM feed"))
            self._old_jobs = {row["id"] for row in db.execute("SELECT id FROM job")}

    def compare(self) -> None:
        """Assert that every table says what the model says, and no more."""
        with closing(connect(self._house.path)) as db:
            db.execute("BEGIN")
            self._requests(db)
            self._jobs(db)
            self._events(db)
            self._audit(db)
            self._ledger(db)
            self._others(db)
            self._scan(db)

    def verify_audit(self) -> None:
        """Assert that the chains and their signed roots hold, from the first line on (D26)."""
        house = self._house
        key = public_key(f"did:key:{VENUE.kid}")
        assert house.read(lambda tx: notary.verify_all(tx, key)) == []

    def _requests(self, db: sqlite3.Connection) -> None:
        rows = {row["id"]: row for row in db.execute("SELECT * FROM request")}
        wanted = {name: one for name, one in self._model.asked.items() if not one.gone}
        assert rows.keys() == wanted.keys()
        for name, one in wanted.items():
            row = rows[name]
            if name in self._settled:
                assert tuple(row) == self._settled[name], "a settled record changed"
                continue
            self._same_record(row, one)
            if one.status != "open":
                self._settled[name] = tuple(row)

    def _same_record(self, row: sqlite3.Row, one: Asked) -> None:
        fixed = (row["body"], row["digest"], row["owner"], row["requester"], row["created"], row["expires"])
        if one.id not in self._bodies:
            assert json.loads(row["body"]) == one.body
            assert row["digest"] == one.digest
            assert (row["owner"], row["requester"], row["expires"]) == (one.owner, one.maker, one.expires)
            self._bodies[one.id] = fixed
        assert fixed == self._bodies[one.id], "the body of a record changed"
        assert (row["status"], row["resolver"], row["settled"]) == (one.status, one.resolver, one.settled)
        response = None if row["response"] is None else json.loads(row["response"])
        assert response == one.response

    def _jobs(self, db: sqlite3.Connection) -> None:
        rows = {row["id"]: row for row in db.execute("SELECT * FROM job") if row["id"] not in self._old_jobs}
        assert rows.keys() == self._model.jobs.keys()
        states = defaultdict(list)
        for row in db.execute("SELECT * FROM job_state ORDER BY job, seq"):
            states[row["job"]].append(row)
        for name, work in self._model.jobs.items():
            row = rows[name]
            what = (row["adapter"], row["owner"], row["maker"], row["status"], row["error"], row["updated"])
            assert what == (work.adapter, work.owner, work.maker, work.status, work.error, work.at), name
            _same_output(row["output"], work, self._model)
            self._chain(states[name], work)
        for name, one in self._model.asked.items():
            assert name not in rows or (one.status == "open") == (rows[name]["status"] == "INPUT_REQUIRED")
            assert name in rows or one.status != "open", "an open record without its job"

    def _chain(self, states: list[sqlite3.Row], work: Work) -> None:
        before = GENESIS
        for place, (row, status) in enumerate(zip(states, work.states, strict=True), start=1):
            said = json.loads(row["record"])
            assert (row["seq"], said["seq"], said["before"], said["status"]) == (place, place, before, status)
            before = hashlib.sha256(row["record"].encode()).hexdigest()
            assert row["hash"] == before

    def _events(self, db: sqlite3.Connection) -> None:
        found = defaultdict(list)
        for row in db.execute("SELECT * FROM event ORDER BY feed, version"):
            if row["version"] > self._told[row["feed"]]:
                found[row["feed"]].append(row)
        for feed, rows in found.items():
            versions = [row["version"] for row in rows]
            assert versions == list(range(self._told[feed] + 1, self._told[feed] + len(rows) + 1)), "a gap"
            self._told[feed] += len(rows)
        told = frozenset().union(*self._house.heard)
        assert {feed_topic(feed) for feed in found} <= told, "a feed grew, and nobody was told"
        self._house.heard.clear()
        happened = {feed: [(row["kind"], row["subject"]) for row in rows] for feed, rows in found.items()}
        assert happened == {feed: said for feed, said in self._model.events.items() if said}
        self._model.events.clear()
        assert dict(db.execute("SELECT feed, version FROM feed").fetchall()) == {
            feed: version for feed, version in self._told.items() if version
        }

    def _audit(self, db: sqlite3.Connection) -> None:
        found: dict[str, list[Any]] = defaultdict(list)
        for row in db.execute("SELECT * FROM audit ORDER BY inbox, seq"):
            if row["seq"] > self._seen[row["inbox"]]:
                found[row["inbox"]].append(self._line(row))
        wanted = {inbox: lines for inbox, lines in self._model.audit.items() if lines}
        assert found.keys() == wanted.keys(), (found, wanted)
        for inbox, lines in wanted.items():
            assert len(found[inbox]) == len(lines), (found[inbox], lines)
            if self.raced:  # refusals of calls made at once are written down in no certain order
                found[inbox].sort(key=_place)
                lines.sort(key=_place)
            for said, line in zip(found[inbox], lines, strict=True):
                assert {name: said.get(name) for name in line} == line
                assert ("resolver" in said) == ("resolver" in line)
        self._model.audit.clear()
        self.raced = False

    def _line(self, row: sqlite3.Row) -> Any:
        inbox, said = row["inbox"], json.loads(row["line"])
        assert (row["seq"], said["seq"]) == (self._seen[inbox] + 1, self._seen[inbox] + 1)
        assert (said["inbox"], said["before"]) == (inbox, self._heads.get(inbox, GENESIS))
        assert row["hash"] == hashlib.sha256(row["line"].encode()).hexdigest()
        self._seen[inbox], self._heads[inbox] = row["seq"], row["hash"]
        return said

    def _ledger(self, db: sqlite3.Connection) -> None:
        rows = {row["hash"]: row for row in db.execute("SELECT * FROM mint")}
        assert rows.keys() == self._model.mints.keys(), "a ledger row for each token, and for nothing else"
        for name, mint in self._model.mints.items():
            row = rows[name]
            assert (row["grantor"], row["audience"]) == (mint.grantor, mint.audience)
            assert (row["exp"], row["request"]) == (mint.exp, mint.request)
            assert json.loads(row["grants"]) == list(mint.grants)
        revoked = dict(db.execute("SELECT hash, revoker FROM revocation").fetchall())
        assert revoked == self._model.revoked

    def _others(self, db: sqlite3.Connection) -> None:
        model = self._model
        receipts = {row["request"]: row["receipt"] for row in db.execute("SELECT * FROM receipt")}
        settled = {name: one for name, one in model.asked.items() if one.status != "open"}
        assert receipts.keys() == settled.keys()
        for name in settled.keys() - self._receipts.keys():
            _same_receipt(receipts[name], settled[name])
            self._receipts[name] = receipts[name]
        assert receipts == self._receipts, "a receipt changed"
        blocks = {(row["owner"], row["requester"]) for row in db.execute("SELECT * FROM block")}
        assert blocks == model.blocked
        keys = db.execute("SELECT actor, operation, key, job FROM idempotency").fetchall()
        assert {
            (row[0], row[1].removeprefix("v/ops/").replace("/", ":"), row[2]): row[3] for row in keys
        } == {key: job for key, (_, job) in model.keys.items()}

    def _scan(self, db: sqlite3.Connection) -> None:
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        text = "\n".join(
            str(value) for table in tables for row in db.execute(f"SELECT * FROM {table}") for value in row
        )
        for secret in self.secrets:
            assert text.count(secret.needle) <= secret.carriers, "a secret stands outside its carrier"


def _place(line: Mapping[str, Any]) -> tuple[str, str, str]:
    return line["kind"], str(line.get("request")), str(line.get("code"))


def _same_output(stored: str | None, work: Work, model: Model) -> None:
    """The output as it must be; a token in it is read, and then known."""
    output: Any = None if stored is None else json.loads(stored)
    if isinstance(work.output, dict) and isinstance(work.output.get("token"), Expected):
        wanted: Expected = work.output["token"]
        token = output.pop("token")
        _same_token(token, wanted)
        mint = Minted(
            token,
            token_hash(token),
            wanted.grantor,
            wanted.audience,
            [grant.entry() for grant in wanted.grants],
            wanted.exp,
            wanted.request,
        )
        model.mints[mint.hash] = mint
        assert output == {name: value for name, value in work.output.items() if name != "token"}
        work.output = {**work.output, "token": token}
    else:
        assert output == work.output


def _same_token(token: str, wanted: Expected) -> None:
    claims: Mapping[str, Any] = read(token).claims
    facts: dict[str, Any] = {"grantor": wanted.grantor}
    facts |= {} if wanted.request is None else {"request": wanted.request}
    assert {name: value for name, value in claims.items() if name != "nnc"} == {
        "iss": VENUE.did,
        "aud": wanted.audience,
        "ucv": "0.10.0",
        "att": [grant.entry() for grant in wanted.grants],
        "prf": [],
        "exp": wanted.exp,
        "fct": [facts],
    }


def _same_receipt(receipt: str, one: Asked) -> None:
    claims: Mapping[str, Any] = read(receipt).claims
    assert (claims["request"], claims["digest"], claims["outcome"]) == (one.id, one.digest, one.status)
    assert (claims.get("responder"), claims["at"]) == (one.resolver, one.settled)
    assert claims.get("grants") == (one.response or {}).get("grants")
    assert ("answers" in claims) == (one.status == "answered")
