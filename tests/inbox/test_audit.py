"""The audit chain: every line names the one before it, and whatever is done to it afterwards shows (D26)."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from inbox import audit
from inbox.audit import GENESIS, AuditLine, verify
from inbox.store.base import Transaction

Write = Callable[[Callable[[Transaction], Any]], Any]
INBOX = "did:key:z6MkOwner"


def chain(tx: Transaction) -> list[AuditLine]:
    """Three lines in one inbox, and one in another between them."""
    first = audit.append(tx, INBOX, "request.answered", 1_000, request="r1", resolver=INBOX, channel=None)
    audit.append(tx, "did:key:z6MkOther", "request.answered", 1_500, request="r2")
    second = audit.append(tx, INBOX, "token.minted", 1_000, token="é", grants=[{"with": "w/", "can": "*"}])
    third = audit.append(tx, INBOX, "request.deleted", 900, request="r1", by=INBOX)
    return [first, second, third]


def test_a_line_names_the_one_before_it(write: Write) -> None:
    """Numbered from one in its own inbox, the first after sixty-four zeros; what is None is left out."""
    lines = write(chain)
    said = [json.loads(entry.line) for entry in lines]
    assert [entry.seq for entry in lines] == [line["seq"] for line in said] == [1, 2, 3]
    assert [line["before"] for line in said] == [GENESIS, lines[0].hash, lines[1].hash]
    assert said[0] == {
        "seq": 1,
        "inbox": INBOX,
        "at": 1_000,
        "kind": "request.answered",
        "before": GENESIS,
        "request": "r1",
        "resolver": INBOX,
    }


def test_what_was_appended_is_what_is_stored(write: Write) -> None:
    """The canonical text, letter for letter, for the hash was taken over it."""

    def work(tx: Transaction) -> tuple[list[AuditLine], list[AuditLine]]:
        lines = chain(tx)
        return lines, [AuditLine(**row) for row in tx.all("audit.read", inbox=INBOX, after=0, limit=10)]

    lines, stored = write(work)
    assert lines == stored
    assert verify(stored, INBOX) is None
    assert verify([], INBOX) is None


def _rewritten(entry: AuditLine, **changes: Any) -> AuditLine:
    """A forged line whose own hash is right."""
    line = json.dumps({**json.loads(entry.line), **changes}, sort_keys=True, separators=(",", ":"))
    return AuditLine(entry.seq, line, audit._hash(line))


FORGERIES: dict[str, Callable[[list[AuditLine]], list[AuditLine]]] = {
    "a word changed": lambda c: [c[0], replace(c[1], line=c[1].line.replace("minted", "issued")), c[2]],
    "a hash changed": lambda c: [c[0], c[1], replace(c[2], hash=GENESIS)],
    "a line rewritten with its hash": lambda c: [c[0], _rewritten(c[1], kind="token.issued"), c[2]],
    "the first line cut off": lambda c: c[1:],
    "a middle line cut out": lambda c: [c[0], c[2]],
    "a middle line cut out and renumbered": lambda c: [c[0], _rewritten(replace(c[2], seq=2), seq=2)],
    "two lines swapped": lambda c: [c[1], c[0], c[2]],
    "a line twice": lambda c: [c[0], c[0], c[1], c[2]],
    "numbered otherwise than stored": lambda c: [c[0], c[1], _rewritten(c[2], seq=4)],
    "stored otherwise than numbered": lambda c: [c[0], c[1], replace(c[2], seq=4)],
    "of another inbox": lambda c: [c[0], c[1], _rewritten(c[2], inbox="did:key:z6MkOther")],
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forgery_shows(write: Write, forgery: str) -> None:
    """The good chain with one thing wrong."""
    lines = write(chain)
    assert verify(lines, INBOX) is None
    assert verify(FORGERIES[forgery](lines), INBOX) is not None


def test_a_chain_is_read_for_its_own_inbox(write: Write) -> None:
    """A sound chain of one inbox is not another's."""
    assert verify(write(chain), "did:key:z6MkOther") is not None


def test_a_cut_at_the_end_is_for_the_signed_root_to_show(write: Write) -> None:
    """What is left of a chain whose last line was taken is a chain; `verify` does not say otherwise."""
    assert verify(write(chain)[:2], INBOX) is None
