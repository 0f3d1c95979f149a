"""The law of settling, which requests and gates share (D16, D17, D27).

What is open may settle once, into one terminal state; the instant named by a deadline is already past it;
and a caller that lost the race with the very same answer is forgiven. Pure: values in, values out.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from .jsonvalue import json_equal


class Standing(Enum):
    """Where a row stands at an instant."""

    OPEN = "open"
    """It may settle now."""
    DUE = "due"
    """Its deadline passed and the row does not say so yet. Whoever notices writes it; nothing else may."""
    SETTLED = "settled"
    """It settled, for good."""


@dataclass(frozen=True)
class Outcome:
    """What a settle says. Who said it, when, and on what evidence is not part of it."""

    status: str
    payload: Any = None
    reason: str | None = None


def is_due(now: int, deadline: int | None) -> bool:
    """Whether a deadline has passed. Inclusive: at the instant itself it has (D17). No deadline never passes.

    Both values are whole milliseconds since the epoch.
    """
    return deadline is not None and now >= deadline


def standing(is_open: bool, now: int, deadline: int | None) -> Standing:
    """Where a row stands. What has settled stays settled, whatever its deadline says.

    Both times are whole milliseconds since the epoch.
    """
    if not is_open:
        return Standing.SETTLED
    return Standing.DUE if is_due(now, deadline) else Standing.OPEN


def is_forgiven(*, read_open: bool, wanted: Outcome, won: Outcome) -> bool:
    """Whether a settle that came too late is answered with the settled row instead of a refusal (D27).

    Only a caller that had read the row as open and lost the write can be forgiven, so that a retry which
    raced its own first attempt succeeds while a repeat made later is told. And only with the same answer:
    equal status, payload and reason, as JSON values.
    """
    return (
        read_open
        and wanted.status == won.status
        and json_equal(wanted.payload, won.payload)
        and wanted.reason == won.reason
    )
