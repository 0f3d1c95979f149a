"""Signed roots over the audit chains (D26): what was written before a root cannot be rewritten unnoticed
after it.
"""

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Iterator, Mapping
from typing import Any

from inbox import audit
from inbox.audit import AuditLine
from inbox.canonical import canonical, plain
from inbox.clock import millis
from inbox.errors import InboxError
from inbox.store.base import Database, Row, Transaction
from ucan.did import PublicKey
from ucan.errors import UcanError
from ucan.jwt import check_signature, read, sign

from .model import World

log = logging.getLogger("venue.notary")

ROOT_TYPE = "venue-audit+jwt"
_EVERY = 600.0
_PAGE = 1_000


async def run(db: Database, world: World) -> None:
    """Sign a root now and then, on the loop's time, for as long as the venue runs."""
    while True:
        await asyncio.sleep(_EVERY)
        with contextlib.suppress(InboxError):
            await db.write(lambda tx: sign_root(tx, world))


def sign_root(tx: Transaction, world: World) -> bool:
    """Sign the heads that changed since the root before; False when none did."""
    changed = {row["inbox"]: [row["seq"], row["hash"]] for row in tx.all("audit.unsigned")}
    if not changed:
        return False
    last = tx.one("audit_root.last")
    seq, before = (last["seq"] + 1, _hash(last["root"])) if last else (1, audit.GENESIS)
    heads, at = canonical(changed), millis(world.clock())
    claims = {"iss": world.did, "seq": seq, "at": at, "before": before, "heads": _hash(heads)}
    tx.run("audit_root.insert", seq=seq, at=at, heads=heads, root=sign(world.signer, claims, typ=ROOT_TYPE))
    tx.run("audit.mark_signed")
    return True


def verify_all(tx: Transaction, key: PublicKey) -> list[str]:
    """Check every chain and every root, offline; returns what is wrong, as sentences. Empty is good."""
    problems: list[str] = []
    hashes: dict[tuple[str, int], str] = {}
    heads = tx.all("audit.heads")
    for row in heads:
        inbox = row["inbox"]
        lines = list(_lines(tx, inbox))
        hashes |= {(inbox, line.seq): line.hash for line in lines}
        wrong = audit.verify(lines, inbox)
        if wrong is None and (not lines or (lines[-1].seq, lines[-1].hash) != (row["seq"], row["hash"])):
            wrong = "its last line is missing"
        if wrong is not None:
            problems.append(f"the chain of {inbox}: {wrong}")
    covered: dict[str, int] = {}
    problems += _root_problems(tx, key, hashes, covered)
    for row in heads:
        if row["signed"] > covered.get(row["inbox"], 0):
            problems.append(f"the root over line {row['signed']} of {row['inbox']} is missing")
    return problems


def _root_problems(
    tx: Transaction, key: PublicKey, hashes: Mapping[tuple[str, int], str], covered: dict[str, int]
) -> Iterator[str]:
    """What is wrong with the roots; `covered` is filled with the last line of each inbox that they reach."""
    before = audit.GENESIS
    for expected, row in enumerate(tx.all("audit_root.all"), start=1):
        wrong = _root_problem(row, expected, before, key)
        before = _hash(row["root"])
        if wrong is not None:
            yield f"root {expected}: {wrong}"
            continue
        for inbox, (seq, head) in plain(row["heads"]).items():
            covered[inbox] = seq
            if hashes.get((inbox, seq)) != head:
                yield f"root {expected}: line {seq} of {inbox} is not the one that was signed"


def _root_problem(row: Row, expected: int, before: str, key: PublicKey) -> str | None:
    try:
        jws = read(row["root"])
        check_signature(jws, key)
    except UcanError as error:
        return str(error)
    claims: Mapping[str, Any] = jws.claims
    if jws.typ != ROOT_TYPE or (claims.get("seq"), claims.get("before")) != (expected, before):
        return "it does not follow the root before it"
    if claims.get("heads") != _hash(row["heads"]):
        return "the heads are not the ones that were signed"
    return None


def _lines(tx: Transaction, inbox: str) -> Iterator[AuditLine]:
    after = 0
    while True:
        page = audit.read(tx, inbox, after, _PAGE)
        yield from page
        if len(page) < _PAGE:
            return
        after = page[-1].seq


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
