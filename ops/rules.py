"""How a job may move, as data; and what of it may be shown or kept (D15, D23). Pure."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from inbox.tokens import DELIVERED

from .model import JobStatus

TRANSITIONS: Mapping[JobStatus | None, frozenset[JobStatus]] = {
    None: frozenset(JobStatus),
    JobStatus.STARTED: frozenset({JobStatus.COMPLETE, JobStatus.FAILED, JobStatus.CANCELLED}),
    JobStatus.INPUT_REQUIRED: frozenset({JobStatus.COMPLETE, JobStatus.FAILED, JobStatus.CANCELLED}),
    JobStatus.COMPLETE: frozenset(),
    JobStatus.FAILED: frozenset(),
    JobStatus.CANCELLED: frozenset(),
}
"""From each state of a job to those that may follow; None is the job that does not exist yet."""

HANDED_OUT_ONCE = "<handed out once, not kept>"
"""Stands in a stored job where a secret was handed to the caller."""


def without_secrets(output: Any, secret: Iterable[str]) -> Any:
    """A job's output as it may be stored: the fields that are handed out once are masked."""
    if not isinstance(output, dict):
        return output
    return {key: HANDED_OUT_ONCE if key in secret else value for key, value in output.items()}


def without_tokens(output: Any) -> Any:
    """A job's output for whoever reads it by proof: who it was minted for alone may have the token (D15)."""
    return _mapped(output, lambda _: DELIVERED)


def with_token_hashes(output: Any) -> Any:
    """A job's output for the state chain: tokens by the hash of their text (D23)."""
    return _mapped(output, lambda token: "sha256:" + hashlib.sha256(token.encode("utf-8")).hexdigest())


def _mapped(output: Any, change: Any) -> Any:
    if not isinstance(output, dict):
        return output
    changed = dict(output)
    if isinstance(output.get("token"), str):
        changed["token"] = change(output["token"])
    if isinstance(output.get("tokens"), dict):
        changed["tokens"] = {name: change(token) for name, token in output["tokens"].items()}
    return changed
