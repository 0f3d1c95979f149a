"""Receipts: the venue's signed statement of how a request was settled, written in that very transaction
(D26).

It holds a salted digest of the answers, so that whoever has the answers can show that they are the ones, and
nobody can guess them from it.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from inbox.audit import AuditLine
from inbox.canonical import canonical
from inbox.model import Request, Settlement
from inbox.store.base import Transaction
from ucan.jwt import sign

from .model import Call

RECEIPT_TYPE = "venue-receipt+jwt"


def write(
    call: Call,
    request: Request,
    settlement: Settlement,
    line: AuditLine,
    resolver: str | None,
    channel: str | None,
) -> None:
    """Sign and store the receipt of a settlement."""
    response = settlement.response or {}
    salt = call.world.entropy(16).hex()
    answers = response.get("answers")
    said = {
        "iss": call.world.did,
        "request": request.id,
        "digest": request.digest,
        "outcome": settlement.status.value,
        "answers": None if answers is None else answers_digest(answers, salt),
        "salt": None if answers is None else salt,
        "grants": response.get("grants"),
        "responder": resolver,
        "channel": channel,
        "at": call.now,
        "audit": {"seq": line.seq, "hash": line.hash},
    }
    claims = {name: value for name, value in said.items() if value is not None}
    receipt = sign(call.world.signer, claims, typ=RECEIPT_TYPE)
    call.tx.run("receipt.insert", request=request.id, receipt=receipt)


def find(tx: Transaction, request_id: str) -> str | None:
    """The receipt of a settled request."""
    row = tx.one("receipt.get", request=request_id)
    return None if row is None else str(row["receipt"])


def answers_digest(answers: Mapping[str, Any], salt: str) -> str:
    """`sha256:` and the hex digest of the canonical JSON of answers as recorded, under a salt."""
    text = canonical({"salt": salt, "answers": answers})
    return "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()
