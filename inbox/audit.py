"""The audit chain of each inbox: append-only lines, each naming the hash of the one before it (D26).

A line holds who did what to which request, and digests; never an answer, a key or a token.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .canonical import canonical, plain
from .store.base import Transaction

GENESIS = "0" * 64
"""The hash that the first line of a chain names as the one before it."""


@dataclass(frozen=True, slots=True)
class AuditLine:
    """A stored line: its place in the chain, its canonical text, and the SHA-256 of that text."""

    seq: int
    line: str
    hash: str


def append(tx: Transaction, inbox: str, kind: str, at: int, **facts: Any) -> AuditLine:
    """Add a line to an inbox's chain, in the transaction of what it records.

    `facts` are JSON values; None is left out. `at` is in epoch milliseconds.
    """
    head = tx.one("audit.head", inbox=inbox)
    seq, before = (head["seq"] + 1, head["hash"]) if head else (1, GENESIS)
    said = {key: value for key, value in facts.items() if value is not None}
    line = canonical({"seq": seq, "inbox": inbox, "at": at, "kind": kind, "before": before, **said})
    entry = AuditLine(seq, line, _hash(line))
    tx.run("audit.insert", inbox=inbox, seq=seq, line=line, hash=entry.hash)
    tx.run("audit.set_head", inbox=inbox, seq=seq, hash=entry.hash)
    return entry


def read(tx: Transaction, inbox: str, after: int, limit: int) -> Sequence[AuditLine]:
    """The lines of a chain after a number, oldest first."""
    return [AuditLine(**row) for row in tx.all("audit.read", inbox=inbox, after=after, limit=limit)]


def verify(lines: Iterable[AuditLine], inbox: str) -> str | None:
    """Check a whole chain from its first line; returns what is wrong with it, or None."""
    before = GENESIS
    for expected, entry in enumerate(lines, start=1):
        if entry.seq != expected:
            return f"line {expected} is missing"
        said = _said(entry)
        if said is None:
            return f"line {expected} was changed"
        if said.get("seq") != expected:
            return f"line {expected} is missing"
        if said.get("inbox") != inbox:
            return f"line {expected} belongs to another inbox"
        if said.get("before") != before:
            return f"line {expected} does not follow the line before it"
        before = entry.hash
    return None


def _said(entry: AuditLine) -> Mapping[str, Any] | None:
    """What a line says, if it is what its hash was taken over; somebody may have written anything there."""
    try:
        said = plain(entry.line)
    except ValueError:
        return None
    return said if isinstance(said, dict) and _hash(entry.line) == entry.hash else None


def _hash(line: str) -> str:
    return hashlib.sha256(line.encode("utf-8")).hexdigest()
