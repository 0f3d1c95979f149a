"""What makes a request well-formed, and what makes an answer fit its asks (D12, D14)."""

import copy
from typing import Any

import pytest

from inbox.asks import (
    all_offers,
    check_answers,
    check_comments,
    check_offer,
    check_submission,
    triggered_offers,
)
from inbox.errors import BadRequest, LimitExceeded
from inbox.model import GrantPolicy, Offer

from .support import ASKS, DAY, LIMITS, NOW, OWNER, READ, TERMS, WRITE, parsed, submission


def check(asks: list[dict[str, Any]] | None = None, **other: Any) -> None:
    """Check a request as it would be posted."""
    check_submission(submission(asks, **other), OWNER, NOW, TERMS)


def test_good_submissions() -> None:
    """The good case, and its neighbours at each limit."""
    check()
    check(title="a" * 280, description="a" * 64 * 1024, timeout=1)
    check(timeout=LIMITS.timeout)
    check([{**ASKS[1], "id": str(number), "prompt": "a" * 4_000} for number in range(50)])
    check([{**ASKS[0], "grants": [{"with": f"w/{number}", "can": "crud"} for number in range(50)]}])


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        ({"title": ""}, BadRequest),
        ({"title": " \t"}, BadRequest),
        ({"title": "a\nb"}, BadRequest),
        ({"title": "a\x85b"}, BadRequest),
        ({"title": "a\n"}, BadRequest),
        ({"title": "a" * 281}, LimitExceeded),
        ({"description": "a" * (64 * 1024 + 1)}, LimitExceeded),
        ({"timeout": 0}, BadRequest),
        ({"timeout": LIMITS.timeout + 1}, BadRequest),
        ({"asks": []}, BadRequest),
        ({"asks": [ASKS[0], ASKS[0]]}, BadRequest),
        ({"asks": [{**ASKS[1], "id": str(number)} for number in range(51)]}, LimitExceeded),
        ({"asks": [{**ASKS[1], "prompt": " "}]}, BadRequest),
        ({"asks": [{**ASKS[1], "options": []}]}, BadRequest),
        ({"asks": [{**ASKS[1], "grants": []}]}, BadRequest),
        ({"asks": [{**ASKS[2], "grants": [READ]}]}, BadRequest),
        ({"asks": [{**ASKS[2], "options": []}]}, BadRequest),
        ({"asks": [{**ASKS[2], "options": [{"id": "a"}, {"id": "a"}]}]}, BadRequest),
        ({"asks": [{**ASKS[2], "options": [{"id": str(number)} for number in range(101)]}]}, LimitExceeded),
        ({"asks": [{**ASKS[2], "options": [{"id": "a", "label": "a" * 4_001}]}]}, LimitExceeded),
        ({"asks": [{**ASKS[0], "grants": [READ] * 51}]}, LimitExceeded),
        ({"asks": [{**ASKS[0], "grants": [READ, {**READ, "nb": {"url": "x"}}]}]}, BadRequest),
        ({"asks": [{**ASKS[0], "grants": [{**READ, "nb": {"a": 1}}]}, {**ASKS[2]}]}, BadRequest),
    ],
)
def test_submission_with_one_thing_wrong(other: dict[str, Any], kind: type[Exception]) -> None:
    """Refused whole, before anything is stored."""
    with pytest.raises(kind):
        check(**copy.deepcopy(other))


@pytest.mark.parametrize(
    ("more", "ceiling", "good"),
    [
        ({}, 1, True),
        ({"lifetime": 90 * DAY}, 90 * DAY, True),
        ({"lifetime": 90 * DAY + 1}, 90 * DAY, False),
        ({"lifetime": 10**11}, None, True),
        ({"lifetime": 10**11 + 1}, None, False),
        ({"exp": NOW + 1}, 90 * DAY, True),
        ({"exp": NOW}, 90 * DAY, False),
        ({"exp": 0}, None, False),
        ({"exp": -1}, None, False),
        ({"exp": NOW + 90 * DAY}, 90 * DAY, True),
        ({"exp": NOW + 90 * DAY + 1}, 90 * DAY, False),
        ({"exp": 10**11}, None, True),
        ({"exp": 10**11 + 1}, None, False),
        ({"exp": NOW * 1000}, None, False),
        ({"exp": None}, None, True),
        ({"exp": None}, 90 * DAY, False),
        ({"exp": NOW + 1, "lifetime": 1}, None, False),
        ({"exp": None, "lifetime": 1}, None, False),
        ({"lifetime": None}, None, False),
        ({"with": "/w/x"}, None, True),
        ({"with": OWNER}, None, True),
        ({"with": "w/../x"}, None, False),
        ({"with": "w//x"}, None, False),
        ({"can": "*"}, None, True),
        ({"can": "crud/*"}, None, False),
    ],
)
def test_offers_and_their_ends(more: dict[str, Any], ceiling: int | None, good: bool) -> None:
    """D6 and D10, at each limit and one beyond it."""
    offer = Offer.model_validate({**READ, **more})
    if good:
        check_offer(offer, "here", OWNER, NOW, GrantPolicy(ceiling))
    else:
        with pytest.raises(BadRequest):
            check_offer(offer, "here", OWNER, NOW, GrantPolicy(ceiling))


def test_every_offer_has_its_place() -> None:
    """A refusal can name where an offer stands."""
    places = [place for place, _ in all_offers(parsed(ASKS))]
    assert places == [
        "asks[0].grants[0]",
        "asks[2].options[0].grants[0]",
        "asks[2].options[1].grants[0]",
        "asks[3].options[0].grants[0]",
    ]


@pytest.mark.parametrize(
    ("answers", "triggered"),
    [
        ({}, []),
        ({"ok": True}, [READ]),
        ({"ok": False}, []),
        ({"ok": 1}, []),
        ({"ok": None}, []),
        ({"one": "a"}, [WRITE]),
        ({"one": "b"}, [READ]),
        ({"one": "c"}, []),
        ({"many": []}, []),
        ({"many": ["y"]}, []),
        ({"many": ["y", "x"]}, [WRITE]),
        ({"ok": True, "one": "b", "many": ["x"]}, [READ, READ, WRITE]),
        ({"why": "a"}, []),
    ],
)
def test_choices_trigger_their_own_offers(answers: dict[str, Any], triggered: list[Any]) -> None:
    """An offer counts when its choice was really made, and only then."""
    assert [offer.raw() for offer in triggered_offers(parsed(ASKS), answers)] == triggered


@pytest.mark.parametrize(
    ("answers", "given"),
    [
        ({"ok": True}, {"ok": True}),
        ({"ok": False, "why": "", "many": []}, {"ok": False, "why": "", "many": []}),
        ({"ok": True, "why": None, "one": None}, {"ok": True}),
        ({"ok": True, "one": "c", "many": ["y", "x"]}, {"ok": True, "one": "c", "many": ["y", "x"]}),
        ({"ok": True, "why": "a" * 64 * 1024}, {"ok": True, "why": "a" * 64 * 1024}),
    ],
)
def test_good_answers(answers: dict[str, Any], given: dict[str, Any]) -> None:
    """A null answers nothing; an empty text and an empty list do."""
    assert check_answers(parsed(ASKS), answers, LIMITS) == given


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"ok": None}, BadRequest),
        ({"ok": 1}, BadRequest),
        ({"ok": "true"}, BadRequest),
        ({"why": 1}, BadRequest),
        ({"why": ["a"]}, BadRequest),
        ({"why": "a" * (64 * 1024 + 1)}, LimitExceeded),
        ({"one": "d"}, BadRequest),
        ({"one": ["a"]}, BadRequest),
        ({"one": True}, BadRequest),
        ({"many": "x"}, BadRequest),
        ({"many": {"x": True}}, BadRequest),
        ({"many": ["x", "x"]}, BadRequest),
        ({"many": ["z"]}, BadRequest),
        ({"many": [["x"]]}, BadRequest),
        ({"other": "x"}, BadRequest),
    ],
)
def test_answers_with_one_thing_wrong(more: dict[str, Any], kind: type[Exception]) -> None:
    """Forms match exactly, and a required ask is answered."""
    with pytest.raises(kind):
        check_answers(parsed(ASKS), {"ok": True, **more}, LIMITS)


def test_comments_name_asks_and_are_texts() -> None:
    """Remarks on asks and on the whole."""
    asks = parsed(ASKS)
    check_comments(asks, {"ok": "x", "why": ""}, "y", LIMITS)
    check_comments(asks, {}, None, LIMITS)
    for comments, overall, kind in (
        ({"other": "x"}, None, BadRequest),
        ({"ok": 1}, None, BadRequest),
        ({"ok": None}, None, BadRequest),
        ({"ok": "a" * (64 * 1024 + 1)}, None, LimitExceeded),
        ({}, "a" * (64 * 1024 + 1), LimitExceeded),
    ):
        with pytest.raises(kind):
            check_comments(asks, comments, overall, LIMITS)


@pytest.mark.parametrize(("lifetime", "good"), [(1, True), (3_650 * DAY, True), (3_650 * DAY + 1, False)])
def test_a_token_is_asked_for_ten_years_at_most(lifetime: int, good: bool) -> None:
    """What is longer no calendar shows, and no person means."""
    spec = {"caps": [{"with": "w/x", "can": "crud/read"}], "lifetime": lifetime}
    asked = submission(asks=[{"id": "t", "type": "token", "prompt": "Sign?", "token": spec}])
    if good:
        check_submission(asked, OWNER, NOW, TERMS)
        return
    with pytest.raises(BadRequest):
        check_submission(asked, OWNER, NOW, TERMS)
