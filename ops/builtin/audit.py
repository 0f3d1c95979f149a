"""`audit:read`: one's own chain, or any for the operator (D5, D26)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from inbox import audit
from inbox.canonical import plain

from ..errors import BadInput
from ..model import OPERATORS, PERSONS, Call, Kind, Operation


class ReadInput(BaseModel):
    """Whose chain, and from where."""

    model_config = ConfigDict(strict=True, extra="forbid")

    inbox: str | None = Field(
        default=None, description="A DID; one's own when absent. The operator has to say."
    )
    after: int = Field(default=0, ge=0, description="Only lines after this number.")
    limit: int = Field(default=100, ge=1, le=1_000, description="How many lines at most.")


class LineShape(BaseModel):
    """One line: its number, the very text that was hashed, the hash, and what the text says."""

    seq: int
    line: str
    hash: str
    says: dict[str, Any]


class ReadOutput(BaseModel):
    """A page of a chain, oldest first; `last` is the number of its last line of all."""

    inbox: str
    items: list[LineShape]
    last: int


def read(call: Call, data: ReadInput) -> dict[str, Any]:
    """A page of an audit chain."""
    operator = call.caller.kind is Kind.OPERATOR
    if not operator and data.inbox not in (None, call.caller.user):
        raise BadInput("inbox: only the operator reads another's audit")
    inbox = data.inbox or call.caller.user
    lines = audit.read(call.tx, inbox, data.after, data.limit)
    head = call.tx.one("audit.head", inbox=inbox)
    items = [
        {"seq": line.seq, "line": line.line, "hash": line.hash, "says": plain(line.line)} for line in lines
    ]
    return {"inbox": inbox, "items": items, "last": head["seq"] if head else 0}


OPERATIONS = (
    Operation(
        path="v/ops/audit/read",
        adapter="audit:read",
        name="Read Audit",
        description="Read the audit chain of your inbox: who decided what, and what was signed.",
        input=ReadInput,
        output=ReadOutput,
        handler=read,
        callers=PERSONS | OPERATORS,
        read_only=True,
    ),
)
