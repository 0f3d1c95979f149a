"""Good requests and answers that the tests of the rules change one thing of."""

from typing import Any

from inbox.model import Ask, GrantPolicy, Limits, Reply, Request, Requester, Submission, Terms
from inbox.rules import post

OWNER = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"
ASKER = f"{OWNER}:g:helper"
NOW = 1_800_000_000
"""In unix seconds."""

MS = NOW * 1000
POLICY = GrantPolicy()
LIMITS = Limits()
TERMS = Terms(POLICY, LIMITS)
DAY = 86_400

READ = {"with": "w/reports/", "can": "crud/read"}
WRITE = {"with": "w/out", "can": "crud/write", "lifetime": 60}
ASKS: list[dict[str, Any]] = [
    {"id": "ok", "type": "approval", "prompt": "OK?", "required": True, "grants": [READ]},
    {"id": "why", "type": "text", "prompt": "Why?"},
    {
        "id": "one",
        "type": "choice",
        "prompt": "Which?",
        "options": [{"id": "a", "grants": [WRITE]}, {"id": "b", "grants": [READ]}, {"id": "c"}],
    },
    {
        "id": "many",
        "type": "checkboxes",
        "prompt": "Which?",
        "options": [{"id": "x", "grants": [WRITE]}, {"id": "y"}],
    },
]


def parsed(asks: list[dict[str, Any]]) -> list[Ask]:
    """Asks as models."""
    return [Ask.model_validate(ask) for ask in asks]


def submission(asks: list[dict[str, Any]] | None = None, **other: Any) -> Submission:
    """A good request, with these parts in place of its own."""
    raw = ASKS if asks is None else asks
    said: dict[str, Any] = {"title": "T", "description": None, "timeout": None, **other}
    return Submission(asks=parsed(raw), raw_asks=raw, **said)


def posted(asks: list[dict[str, Any]] | None = None, policy: GrantPolicy = POLICY, **other: Any) -> Request:
    """The record of a good request."""
    requester = Requester(ASKER, OWNER, "helper")
    return post(submission(asks, **other), requester, OWNER, "0" * 32, MS, Terms(policy, LIMITS))


def reply(**other: Any) -> Reply:
    """A good answer, with these parts in place of its own."""
    return Reply(**{"outcome": "answer", "answers": {"ok": True}, **other})
