"""A person's inbox as the commands see it: a record with whose it is, and how it was settled."""

import re
from typing import Any

from ..client import Page, Settled, Venue, VenueError
from . import card, plain, words
from .connection import Connection, Usage, now

_PAGE = 200
_FURTHEST = 2_000


def request_id(text: str) -> str:
    """An id as it is written down: 32 hex digits, with or without 0x. Raises Usage."""
    found = text.strip().lower().removeprefix("0x").removeprefix("h/")
    if not re.fullmatch(r"[0-9a-f]{32}", found):
        raise Usage(
            f"{plain.line(text)!r} is no id of a request: 32 hex digits, as `venue inbox ls` prints them"
        )
    return found


def view(connection: Connection, venue: Venue, request: str) -> card.View:
    """A request as a card shows it. Raises Refused (`not_found`)."""
    record = venue.record(request).model_dump(by_alias=True, exclude_unset=True)
    settled = None if record["status"] == "open" else settlement(venue, request, str(record["status"]))
    return card.View(record, connection.me, now(), settled)


def settlement(venue: Venue, request: str, status: str) -> card.Settled:
    """Who settled a request, when and through what, from the audit chain of the inbox: its latest lines.

    What cannot be learnt is left open; the status alone is certain.
    """
    try:
        last = venue.run("v/ops/audit/read", {"limit": 1})["last"]
        for end in range(last, max(last - _FURTHEST, 0), -_PAGE):
            start = max(end - _PAGE, 0)
            page = venue.run("v/ops/audit/read", {"after": start, "limit": end - start})
            for item in reversed(page["items"]):
                found = _settles(item["says"], request)
                if found is not None:
                    return found
    except VenueError:
        pass
    return card.Settled(status)


def too_late(error: Settled, venue: Venue, request: str, me: str) -> str:
    """What to say to whoever answered a request that was settled before: what, who, when."""
    how = settlement(venue, request, error.how)
    if how.when is None:
        how = card.Settled(error.how, when=error.when)
    return f"Request {request} was settled before: {card.settled_words(how, me)}. Nothing was changed"


def listing(page: Page, connection: Connection, at: int) -> list[str]:
    """A page of an inbox as a table of 80 columns: id, age, time left, who asks, what."""
    found = [f"{'ID':<32} {'AGE':>4} {'LEFT':>4} {'FROM':<16} TITLE"]
    for item in page.items:
        age = words.brief((at - item.created) / 1000)
        left = "" if item.expires is None else words.brief((item.expires - at) / 1000)
        if item.status != "open":
            left = _SHORT.get(item.status, item.status)[:4]
        whose = plain.padded(words.brief_who(item.from_, connection.me), 16)
        title = plain.short(plain.line(item.title), 20)
        found.append(f"{item.id:<32} {age:>4} {left:>4} {whose} {title}".rstrip())
    return found


_SHORT = {"answered": "done", "rejected": "no", "expired": "late", "cancelled": "gone"}


def _settles(says: dict[str, Any], request: str) -> card.Settled | None:
    status = str(says["kind"]).removeprefix("request.")
    if says.get("request") != request or status not in _SHORT:
        return None
    return card.Settled(status, says.get("resolver"), says.get("at"), says.get("channel"))
