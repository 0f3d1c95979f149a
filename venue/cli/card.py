"""A request as a card: what the venue verified, apart from and above what the requester wrote (D35). Pure.

What somebody else wrote never begins a line: every line of it stands behind a rail, so that nothing in it can
pass for what the venue says.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ucan.did import agent_id_of, is_did, owner_of
from ucan.jwt import parse as parse_token

from . import plain, words

WIDTH = 78
RAIL = "  │ "
_INDENT = "    "
_SETTLED = {
    "answered": "answered",
    "rejected": "rejected",
    "expired": "expired, and nobody answered",
    "cancelled": "withdrawn",
}


@dataclass(frozen=True)
class Line:
    """A line of a card, and what it is: `venue`, `title`, `text`, `grant`, `broad`, `head` or `quiet`."""

    text: str
    kind: str = "venue"


@dataclass(frozen=True)
class Settled:
    """Who settled a request, how, when (epoch milliseconds) and through what, as far as is known."""

    status: str
    by: str | None = None
    when: int | None = None
    channel: str | None = None


@dataclass(frozen=True)
class View:
    """Everything that a card needs: the record, whose inbox it is, the time, and how it was settled."""

    record: Mapping[str, Any]
    owner: str
    now: int
    settled: Settled | None = None


def as_json(view: View) -> dict[str, Any]:
    """The card as data: `verified` by the venue, `wrote` by the requester, `asks` with the offers beside the
    choice that triggers each.
    """
    record = view.record
    return {
        "id": record["id"],
        "status": record["status"],
        "digest": record["digest"],
        "verified": _verified(record),
        "wrote": {key: record[key] for key in ("title", "description") if key in record},
        "asks": [_ask_json(view, ask) for ask in record["asks"]],
        **({"response": record["response"]} if record.get("response") else {}),
        **({} if view.settled is None else {"settled": _settled_json(view.settled)}),
    }


def choices(ask: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any] | None, Sequence[Any]]]:
    """The choices of an ask that can confer something or not: how each is named in an echo, its option, and
    its offers.
    """
    if ask["type"] == "approval":
        yield str(ask["id"]), None, ask.get("grants") or []
    for option in ask.get("options") or []:
        yield f"{ask['id']}/{option['id']}", option, option.get("grants") or []


def lines(view: View, width: int = WIDTH) -> list[Line]:
    """The card as lines, none wider than `width`."""
    return [
        *_head(view, width),
        *_written(str(view.record["title"]), width, "title"),
        *described(view, width),
        *(
            line
            for number, ask in enumerate(view.record["asks"], 1)
            for line in ask_lines(view, number, ask, width)
        ),
        *_foot(view, width),
    ]


def ask_lines(view: View, number: int, ask: Mapping[str, Any], width: int = WIDTH) -> Iterator[Line]:
    """One ask: what it wants, its prompt, its choices, and beside each choice what that would confer."""
    need = "required" if ask.get("required") else "may be left open"
    yield Line("")
    tame = _tame(str(ask["id"]))
    yield from _own(
        f"{number}. {tame + ': ' if tame else ''}{_tame(str(ask['type'])) or 'unknown'}, {need}",
        width,
        "head",
    )
    if not tame:
        yield from _written(f"(its id: {ask['id']})", width, "quiet")
    yield from _written(str(ask["prompt"]), width, "text", several=True)
    for name, option, offers in choices(ask):
        if option is not None:
            label = str(option.get("label") or option["id"])
            yield from _written(f"[{option['id']}] {label}", width, "text")
            if option.get("description"):
                yield from _written(f"    {option['description']}", width, "quiet", several=True)
        if offers:
            chosen = "approve" if option is None else f"choose {_tame(str(option['id'])) or 'that'}"
            echo = f" (--echo {_tame(name)})" if _tame(name) else ""
            yield from _own(f"If you {chosen}, you may confer{echo}:", width, "venue", "  ")
        for offer in offers:
            yield from offer_lines(view, offer, width)
    if ask["type"] == "token":
        yield from _token_spec(view, ask.get("token") or {}, width)


def offer_lines(view: View, offer: Mapping[str, Any], width: int = WIDTH) -> Iterator[Line]:
    """One offer in words, and exactly: ability, resource, until when, for whom."""
    yield from _capability(view, offer, "*", width)
    yield from _field("lasts", words.until(offer, view.now), width, _INDENT + "    ")
    yield from _field("for", str(view.record["from"]), width, _INDENT + "    ")


def settled_words(settled: Settled, me: str) -> str:
    """How a request was settled: what, by whom, when, through what."""
    said = _SETTLED.get(settled.status, settled.status)
    by = "" if settled.by is None else f" by {words.who(settled.by, me)}"
    through = "" if settled.channel is None else f" ({settled.channel})"
    when = "" if settled.when is None else f" at {words.moment(settled.when)}"
    return f"{said}{by}{through}{when}"


def _head(view: View, width: int) -> Iterator[Line]:
    record, verified = view.record, _verified(view.record)
    yield Line(_rule("verified by the venue", width), "quiet")
    yield from _field("asks", words.who(str(record["from"]), view.owner), width)
    yield from _field("DID", str(verified["from"]), width)
    if verified["agent"] is not None:
        yield from _field("agent", str(verified["agent"]), width)
        yield from _field("on behalf of", str(verified["behalf"]), width)
    if verified["origin"] is not None:
        yield from _field("through", str(verified["origin"]), width)
    yield from _field("asked", words.moment(record["created"]), width)
    if record.get("expires") is not None:
        left = (record["expires"] - view.now) // 1000
        tail = f", in {words.length(left)}" if left > 0 and record["status"] == "open" else ""
        yield from _field("answer by", words.moment(record["expires"]) + tail, width)
    else:
        yield from _field("answer by", "no deadline", width)
    yield from _field("request", str(record["id"]), width)
    yield from _field("state", _state(view), width)
    yield Line(_rule("what the requester wrote, behind the rail", width), "quiet")


def _state(view: View) -> str:
    if view.settled is not None:
        return settled_words(view.settled, view.owner)
    status = str(view.record["status"])
    return "open, and waits for you" if status == "open" else _SETTLED.get(status, status)


def described(view: View, width: int) -> Iterator[Line]:
    """What the requester wrote beside the title."""
    if view.record.get("description"):
        yield Line(RAIL.rstrip(), "text")
        yield from _written(str(view.record["description"]), width, "text", several=True)


def _foot(view: View, width: int) -> Iterator[Line]:
    record = view.record
    response = record.get("response")
    if response:
        yield Line("")
        yield Line(_rule("what was answered", width), "quiet")
        said = json.dumps(response, ensure_ascii=True, indent=2)
        yield from _written(said, width, "text", several=True)
        return
    if record["status"] != "open":
        return
    yield Line("")
    yield Line(_rule("your answer", width), "quiet")
    if any(offers for ask in record["asks"] for _, _, offers in choices(ask)):
        yield from _own(
            "Nothing is conferred unless you echo it (--echo): an approval alone hands over no authority.",
            width,
        )
        if view.owner.startswith("did:key:"):
            yield from _own(
                "What you confer, this venue honours at your word; other services need not.", width
            )
    yield from _own(f"venue inbox answer {record['id']} --set …", width, "quiet")
    yield from _own(f"venue inbox reject {record['id']} --reason …", width, "quiet")


def _tame(name: str) -> str:
    """A name that may stand in a line of ours, or nothing: others stand behind the rail."""
    return name if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,39}", name) else ""


def _token_spec(view: View, spec: Mapping[str, Any], width: int) -> Iterator[Line]:
    yield from _own("It wants a token signed by your own key, for:", width, "venue", "  ")
    for number, cap in enumerate(spec.get("caps") or [], 1):
        yield from _capability(view, cap, f"({number})", width)
    yield from _field("for", str(spec.get("audience") or view.record["from"]), width, _INDENT)
    wanted = spec.get("lifetime")
    lasts = f"{words.length(wanted or words.SIGNED)}, {'as it asks' if wanted else 'as it does not say'}"
    yield from _field("lasts", f"{lasts}; you decide", width, _INDENT)


def token_lines(view: View, text: str, width: int = WIDTH) -> Iterator[Line]:
    """A token that is about to be handed over, as what it says: for whom, what, until when."""
    token = parse_token(text)
    for number, capability in enumerate(token.att, 1):
        yield from _capability(view, capability.as_claim(), f"({number})", width)
    yield from _field("signed by", token.iss, width, _INDENT)
    yield from _field("for", token.aud, width, _INDENT)
    yield from _field("lasts", words.until({"exp": token.exp}, view.now), width, _INDENT)


def _capability(view: View, cap: Mapping[str, Any], mark: str, width: int) -> Iterator[Line]:
    """A capability in words and exactly, with why it is broad, if it is."""
    why = words.broad(cap)
    if why is not None:
        yield from _own(f"!! BROAD: {why}", width, "broad", _INDENT)
    yield from _own(f"{mark} {words.grant(cap, view.owner)}", width, "grant", _INDENT)
    exact = [("ability", str(cap.get("can", ""))), ("resource", words.resource(cap, view.owner))]
    if cap.get("nb"):
        exact.append(("caveats", json.dumps(cap["nb"], ensure_ascii=True, sort_keys=True)))
    for name, value in exact:
        yield from _field(name, value, width, _INDENT + "    ")


def _verified(record: Mapping[str, Any]) -> dict[str, Any]:
    did = str(record["from"])
    agent = agent_id_of(did) if is_did(did) else None
    return {
        "from": did,
        "agent": record.get("agent"),
        "behalf": owner_of(did) if agent is not None else did,
        "origin": record.get("origin"),
        "created": record["created"],
        "expires": record.get("expires"),
    }


def _ask_json(view: View, ask: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        name: {
            **({} if option is None else {"option": option["id"], "label": option.get("label")}),
            "grants": [_offer_json(view, offer) for offer in offers],
        }
        for name, option, offers in choices(ask)
    }
    kept = {key: value for key, value in ask.items() if key not in ("options", "grants")}
    return {**kept, "required": bool(ask.get("required")), "choices": found}


def _offer_json(view: View, offer: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **offer,
        "resource": words.resource(offer, view.owner),
        "for": view.record["from"],
        "words": f"{words.grant(offer, view.owner)}, {words.until(offer, view.now)}",
        "broad": words.broad(offer),
    }


def _settled_json(settled: Settled) -> dict[str, Any]:
    return {"how": settled.status, "by": settled.by, "when": settled.when, "channel": settled.channel}


def _field(name: str, value: str, width: int, indent: str = "") -> Iterator[Line]:
    first, *rest = plain.wrapped(plain.line(value), width - len(indent) - 13)
    yield Line(f"{indent}{name:<12} {first}")
    for more in rest:
        yield Line(f"{indent}{'':<12} {more}")


def _own(text: str, width: int, kind: str = "venue", indent: str = "") -> Iterator[Line]:
    """Words of ours, which hold at most names of others; they are escaped by whoever put them in."""
    for index, part in enumerate(plain.wrapped(text, width - len(indent) - 2)):
        yield Line(f"{indent}{'' if index == 0 else '  '}{part}", kind)


def _written(text: str, width: int, kind: str, *, several: bool = False) -> Iterator[Line]:
    for part in plain.lines(text) if several else [plain.line(text)]:
        for piece in plain.wrapped(part, width - len(RAIL)):
            yield Line(RAIL + piece, kind)


def _rule(title: str, width: int) -> str:
    return f"── {title} {'─' * (width - len(title) - 4)}"
