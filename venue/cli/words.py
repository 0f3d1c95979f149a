"""Grants, times and names in words (D35). Pure: the time now is an argument, in epoch milliseconds."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any

from ucan.capability import absolute
from ucan.did import agent_id_of, is_did, managed_by, owner_of
from ucan.errors import UcanError

from . import plain

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_PLURAL = {"s": "second", "m": "minute", "h": "hour", "d": "day"}
_ABILITIES = {
    "*": "do ANYTHING with",
    "crud": "read, write and delete",
    "crud/read": "read",
    "crud/write": "write",
    "crud/delete": "delete",
    "hitl": "ask, and do all else about requests, in",
    "hitl/request": "ask for decisions in",
}
_PLACES = {"w": "workspace", "h": "inbox", "j": "jobs"}
_LONGEST_DID = 24

SIGNED = 7 * 86_400
"""How long a token lives that a person signs, in seconds, if nobody says otherwise."""


def seconds(text: str) -> int | None:
    """A length of time such as `30s`, `15m`, `12h` or `7d` in seconds, or None for anything else."""
    match = re.fullmatch(r"([1-9][0-9]{0,8})([smhd])", text)
    return None if match is None else int(match[1]) * _UNITS[match[2]]


def length(span: float) -> str:
    """A number of seconds in words, in whole units: `90 minutes` and not an hour and a half."""
    whole = max(int(span), 0)
    unit = next((u for u in "dhm" if whole >= 2 * _UNITS[u] or (whole and whole % _UNITS[u] == 0)), "s")
    count = whole // _UNITS[unit]
    return f"{count} {_PLURAL[unit]}{'' if count == 1 else 's'}"


def brief(span: float) -> str:
    """The same in at most four columns: `45s`, `12m`, `3h`, `20d`, `4y`."""
    whole = max(int(span), 0)
    for unit, size in (("y", 365 * 86_400), ("d", 86_400), ("h", 3_600), ("m", 60)):
        if whole >= size:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def count(number: int, what: str) -> str:
    """How many of something: `nothing`, `1 grant`, `2 grants`."""
    return "nothing" if number == 0 else f"{number} {what}{'' if number == 1 else 's'}"


def moment(when: int, zone: tzinfo | None = None) -> str:
    """An instant, given in epoch milliseconds, in UTC, and in the reader's own zone where that differs."""
    try:
        instant = datetime.fromtimestamp(when / 1000, UTC)
        local = instant.astimezone(zone)
    except (OverflowError, OSError, ValueError):
        return f"{when} (milliseconds since 1970)"
    said = f"{instant:%Y-%m-%d %H:%M:%S} UTC"
    return said if not local.utcoffset() else f"{said} ({local:%H:%M:%S %Z} here)"


def until(offer: Mapping[str, Any], now: int, zone: tzinfo | None = None) -> str:
    """Until when an offer would be good, if it were conferred now."""
    exp, lifetime = offer.get("exp"), offer.get("lifetime")
    if isinstance(exp, int):
        left = exp - now // 1000
        return f"until {moment(exp * 1000, zone)}, {'in ' + length(left) if left > 0 else 'already past'}"
    if "exp" in offer:
        return "FOR EVER"
    if isinstance(lifetime, int):
        return f"for {length(lifetime)} from your answer"
    return "for 7 days from your answer, or the venue's ceiling if that is less"


def grant(offer: Mapping[str, Any], owner: str) -> str:
    """What an offer lets its holder do, as a half sentence; `owner` is whose inbox it is in."""
    can, resource = str(offer.get("can", "")), str(offer.get("with", ""))
    on_others = can.startswith("grant/")
    verb = _ABILITIES.get(can.removeprefix("grant/")) or f"use the ability “{_quotable(can)}” on"
    return f"{'let OTHERS ' if on_others else ''}{verb} {_place(resource, owner)}"


def broad(offer: Mapping[str, Any]) -> str | None:
    """Why an offer is broader than most: it is over everything, a whole namespace, or of every ability."""
    resource, can = str(offer.get("with", "")), str(offer.get("can", ""))
    if resource.startswith("did:"):
        depth = len([part for part in resource.split("/")[1:] if part])
    else:
        depth = len([part for part in resource.split("/") if part])
    if depth == 0:
        return "everything that you own"
    if "*" in can.split("/"):
        return "every ability"
    if depth == 1 and can != "hitl/request":
        return "a whole namespace"
    return "the power to hand it on" if can.startswith("grant/") else None


def resource(offer: Mapping[str, Any], owner: str) -> str:
    """The resource of an offer in full, as the token would name it."""
    text = str(offer.get("with", ""))
    try:
        return absolute(text, owner) if owner else text
    except UcanError:
        return text


def who(did: str, me: str = "") -> str:
    """Somebody by a name that a person can keep apart from others; the DID in full stands elsewhere."""
    agent = agent_id_of(did) if is_did(did) else None
    if agent is not None:
        return f"{'your agent' if owner_of(did) == me else 'agent'} {agent}"
    if did == me:
        return "you"
    if is_did(did) and managed_by(did) is not None:
        return did.rpartition(":")[2]
    safe = plain.line(did)
    return safe if len(safe) <= _LONGEST_DID else f"{safe[:14]}…{safe[-6:]}"


def brief_who(did: str, me: str = "") -> str:
    """Somebody in at most sixteen columns, for lists; of a DID only its ends."""
    agent = agent_id_of(did) if is_did(did) else None
    if agent is not None:
        return f"{'your' if owner_of(did) == me else 'their'} {agent}"
    name = who(did, me)
    return name if len(name) <= 16 else f"{name.rpartition(':')[2][:7]}…{plain.line(did)[-7:]}"


def _place(resource: str, owner: str) -> str:
    whose, path = owner, resource.removeprefix("/")
    if resource.startswith("did:"):
        whose, _, path = resource.partition("/")
    mine = "your" if whose == owner else f"the ({plain.line(whose)})"
    namespace, _, rest = path.strip("/").partition("/")
    if not namespace:
        return "EVERYTHING that you own" if whose == owner else f"EVERYTHING of {plain.line(whose)}"
    kind = _PLACES.get(namespace, f"namespace “{_quotable(namespace)}”")
    if not rest:
        return f"{mine} WHOLE {kind}" if namespace != "h" else f"{mine} inbox"
    return f"“{_quotable(rest)}” in {mine} {kind}, and all below it"


def _quotable(text: str) -> str:
    return plain.line(text).replace("“", "\\u{201C}").replace("”", "\\u{201D}")
