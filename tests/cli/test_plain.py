"""What others wrote can neither act on a terminal nor hide in it, and the card's frame is ours alone."""

import unicodedata
from typing import Any

import pytest
from rich.cells import cell_len

from venue.cli import card, plain, words

ADA = "did:key:z6MkiF9me6XK5acDxPxkeAeebWQGWqST19PHi6Avi25gpxtd"
HELPER = f"{ADA}:g:helper"
NOW = 1_796_053_223_000

HOSTILE = {
    "colour": "\x1b[31mred\x1b[0m",
    "title of the window": "\x1b]0;owned\x07",
    "8-bit control": "\x9b2J",
    "backspaces": "no\b\byes",
    "carriage return": "reject\rapprove",
    "right to left": "\u202egnp.exe",
    "isolate": "\u2066x\u2069",
    "zero width": "pay\u200b100",
    "joiner": "a\u200db",
    "byte order mark": "\ufeffx",
    "soft hyphen": "a\u00adb",
    "tag": "\U000e0041",
    "variation": "a\ufe0f",
    "filler": "\u3164\u115f",
    "no-break blank": "a\u00a0b",
    "line separator": "a\u2028b\u2029c",
    "private": "\ue000",
    "marks upon marks": "a" + "\u0301" * 40,
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_text_is_shown_as_what_it_is(case: str) -> None:
    """Nothing is left that a terminal would act on or not show; and something is left to see of each."""
    for shown in (plain.line(HOSTILE[case]), *plain.lines(HOSTILE[case])):
        assert shown.isprintable(), shown
        assert not [one for one in shown if unicodedata.category(one)[0] in "CZ" and one != " "]
    assert "\\" in plain.line(HOSTILE[case])


def test_honest_text_stays_as_it_is() -> None:
    """Letters of all scripts, accents, symbols."""
    for text in ("Grüße, señor", "日本語", "Привет", "2 ≤ 7 ✓ 🚀", "שלום", "e\u0301"):
        assert plain.line(text) == text


@pytest.mark.parametrize("width", [1, 7, 40])
def test_wrapping_loses_nothing_and_keeps_its_width(width: int) -> None:
    """Wide characters count as two columns; one that is wider than the width stands alone."""
    text = "日本語 and a-very-long-word-without-any-blank-in-it and more of it"
    pieces = plain.wrapped(text, width)
    assert "".join(pieces).replace(" ", "") == text.replace(" ", "")
    assert all(cell_len(piece) <= max(width, 2) for piece in pieces)


def record(**fields: Any) -> dict[str, Any]:
    """A record in Ada's inbox."""
    asks = [{"id": "ok", "type": "approval", "prompt": "OK?"}]
    return {
        "id": "0" * 32,
        "from": HELPER,
        "agent": "g/helper",
        "title": "T",
        "asks": asks,
        "status": "open",
        "created": NOW,
        "digest": "sha256:00",
        **fields,
    }


def shown(**fields: Any) -> list[str]:
    """The card of a record, as lines of text."""
    return [line.text for line in card.lines(card.View(record(**fields), ADA, NOW))]


FRAME = "── verified by the venue ──\nDID           did:web:bank\n\n1. pay: approval, required"


@pytest.mark.parametrize(
    "fields",
    [
        {"title": FRAME},
        {"description": FRAME},
        {"asks": [{"id": "ok", "type": "text", "prompt": FRAME}]},
        {"asks": [{"id": FRAME, "type": "text", "prompt": "?"}]},
        {
            "asks": [
                {
                    "id": FRAME,
                    "type": "approval",
                    "prompt": "?",
                    "grants": [{"with": "w/x", "can": "crud/read"}],
                }
            ]
        },
        {"asks": [{"id": "c", "type": "choice", "prompt": "?", "options": [{"id": FRAME, "label": FRAME}]}]},
        {
            "asks": [
                {
                    "id": "c",
                    "type": "choice",
                    "prompt": "?",
                    "options": [
                        {
                            "id": "x",
                            "description": FRAME,
                            "grants": [{"with": f"w/{FRAME}", "can": "crud/read"}],
                        }
                    ],
                }
            ]
        },
        {"asks": [{"id": "c", "type": FRAME, "prompt": "?"}]},
        {
            "asks": [
                {
                    "id": "t",
                    "type": "token",
                    "prompt": "?",
                    "token": {"caps": [{"with": "w/x", "can": FRAME}], "audience": FRAME},
                }
            ]
        },
    ],
    ids=["title", "description", "prompt", "id", "id with offer", "option", "resource", "type", "token"],
)
@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
def test_nothing_imitates_the_frame(fields: dict[str, Any], long: bool) -> None:
    """Not by a line that begins like one of ours: neither as it is nor where a long line is broken."""
    text = repr(fields)
    if long:
        fields = eval(text.replace("── verified", "x" * 63 + " ── verified"))
    lines = shown(**fields)
    assert len([line for line in lines if line.startswith("── verified")]) == 1
    assert len([line for line in lines if line.startswith("DID ")]) == 1
    assert not [line for line in lines if line.startswith("1. pay")]
    assert "did:web:bank" not in "\n".join(
        lines[: lines.index(next(a for a in lines if "what the req" in a))]
    )
    assert all(line.isprintable() and cell_len(line) <= card.WIDTH for line in lines)


def test_an_offer_stands_beside_its_choice_in_words_and_exactly() -> None:
    """Below the option that triggers it and above the next; ability, resource, end and holder in full."""
    offer = {"with": "w/full/", "can": "crud/read", "exp": NOW // 1000 + 3_600}
    options = [{"id": "full", "label": "Full", "grants": [offer]}, {"id": "basic", "label": "Basic"}]
    lines = shown(asks=[{"id": "plan", "type": "choice", "prompt": "?", "options": options}])
    full, basic = (next(i for i, line in enumerate(lines) if word in line) for word in ("[full]", "[basic]"))
    between = "\n".join(lines[full:basic])
    for words_ in ("read “full” in your workspace", "crud/read", "--echo plan/full", "in 1 hour", "UTC"):
        assert words_ in between
    unwrapped = between.replace("\n" + " " * 21, "")
    assert f"{ADA}/w/full/" in unwrapped
    assert HELPER in unwrapped


@pytest.mark.parametrize(
    ("offer", "broad"),
    [
        ({"with": "w/x", "can": "crud/read"}, False),
        ({"with": "w/x", "can": "*"}, True),
        ({"with": "w/", "can": "crud/read"}, True),
        ({"with": "/w", "can": "crud/read"}, True),
        ({"with": ADA, "can": "crud/read"}, True),
        ({"with": f"{ADA}/w", "can": "crud/read"}, True),
        ({"with": f"{ADA}/w/x", "can": "crud/read"}, False),
        ({"with": "h/", "can": "hitl/request"}, False),
        ({"with": "h/", "can": "hitl"}, True),
        ({"with": "w/x", "can": "grant/crud/read"}, True),
    ],
)
def test_broad_offers_are_marked(offer: dict[str, Any], broad: bool) -> None:
    """Everything, a whole namespace, every ability, and what can be handed on."""
    assert (words.broad(offer) is not None) is broad
    asks = [{"id": "ok", "type": "approval", "prompt": "?", "grants": [offer]}]
    assert any("!! BROAD" in line for line in shown(asks=asks)) is broad


def test_an_end_says_what_it_is() -> None:
    """Absolute and relative, for ever, past, and none said."""
    assert "FOR EVER" in words.until({"exp": None}, NOW)
    assert "already past" in words.until({"exp": NOW // 1000 - 1}, NOW)
    assert "for 90 minutes from your answer" in words.until({"lifetime": 5_400}, NOW)
    assert "7 days" in words.until({}, NOW)
    assert words.moment(10**19)
