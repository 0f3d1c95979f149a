"""What may be minted: offered, triggered and echoed, each once and with one end (D9, D10, D14)."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inbox.asks import triggered_offers
from inbox.consent import consented, earliest
from inbox.errors import BadRequest
from inbox.model import Grant, GrantPolicy

from .support import ASKS, DAY, NOW, OWNER, POLICY, READ, WRITE, parsed, reply

WEEK = 7 * DAY


def granted(
    offers: Sequence[dict[str, Any]],
    echoes: Sequence[dict[str, Any]],
    policy: GrantPolicy = POLICY,
    now: int = NOW,
) -> tuple[Grant, ...]:
    """What an approval with these offers confers when these are echoed."""
    asks = parsed([{**ASKS[0], "grants": list(offers)}])
    return consented(asks, reply(echoes=echoes), OWNER, now, policy)


def test_an_echo_confers_the_offer_as_it_was_offered() -> None:
    """The resource is made absolute and otherwise spelled as offered; the default is a week."""
    offer = {"with": "/w/reports/", "can": "crud/read", "nb": {"url": "x"}}
    (grant,) = granted([offer], [{"with": "/w/reports/", "can": "crud/read"}])
    assert grant == Grant(offer, f"{OWNER}/w/reports/", "crud/read", {"url": "x"}, NOW + WEEK)


def test_what_is_not_echoed_is_not_conferred() -> None:
    """An approval alone confers nothing; of two offers the echoed one is conferred."""
    assert granted([READ, WRITE], []) == ()
    assert [grant.can for grant in granted([READ, WRITE], [{"with": "w/out", "can": "crud/write"}])] == [
        "crud/write"
    ]


def test_an_echo_may_repeat_all_of_an_offer() -> None:
    """`exp`, `lifetime` and `nb`, verbatim, in any order and more than once."""
    for offer in (READ, WRITE, {**READ, "exp": NOW + 5}, {**READ, "nb": {"b": [1, {"c": None}], "a": 1}}):
        once = granted([offer], [offer])
        assert once == granted([offer], [dict(reversed(offer.items()))] * 3)
        assert [grant.said for grant in once] == [offer]


@pytest.mark.parametrize(
    "wrong",
    [
        {"with": "w/reports"},
        {"with": "/w/reports/"},
        {"with": "w/reports/q3"},
        {"with": f"{OWNER}/w/reports/"},
        {"with": "w/"},
        {"with": None},
        {"with": True},
        {"can": "crud"},
        {"can": "crud/read/x"},
        {"can": "*"},
        {"can": "CRUD/READ"},
        {"can": None},
        {"exp": NOW + 59},
        {"exp": None},
        {"lifetime": 59},
        {"lifetime": 60.0},
        {"lifetime": "60"},
        {"lifetime": None},
        {"nb": {}},
        {"nb": None},
        {"nb": {"n": True}},
        {"nb": {"n": 1.0}},
        {"nb": {"n": 1, "m": 1}},
        {"narrow": {}},
        {"cann": "crud"},
        {"": 1},
    ],
)
def test_an_echo_of_something_else(wrong: dict[str, Any]) -> None:
    """One letter, one type or one key that was not offered refuses the whole answer."""
    offer = {**READ, "lifetime": 60, "nb": {"n": 1}}
    assert len(granted([offer], [offer])) == 1
    with pytest.raises(BadRequest):
        granted([offer], [offer, {**offer, **wrong}])


@pytest.mark.parametrize("missing", ["with", "can"])
def test_an_echo_without_its_key(missing: str) -> None:
    """It must say which offer it repeats."""
    with pytest.raises(BadRequest):
        granted([READ], [{name: value for name, value in READ.items() if name != missing}])


@pytest.mark.parametrize("answers", [{"ok": False}, {"ok": None}, {}, {"ok": False, "one": "a"}])
def test_an_echo_of_what_was_offered_and_not_triggered(answers: dict[str, Any]) -> None:
    """The choice was not made, so its offer cannot be conferred."""
    with pytest.raises(BadRequest):
        consented(parsed(ASKS), reply(answers=answers, echoes=[READ]), OWNER, NOW, POLICY)


def test_equal_offers_count_once_and_end_with_the_earlier() -> None:
    """Whichever of the two was echoed, and wherever it stands (D14)."""
    short, long, default = {**READ, "lifetime": 60}, {**READ, "exp": NOW + DAY}, READ
    for offers in ([short, long, default], [default, long, short]):
        for echo in (READ, short, long):
            (grant,) = granted(offers, [echo])
            assert (grant.exp, grant.said) == (NOW + 60, short)
    assert len(granted([short, long], [short, long, READ])) == 1
    (grant,) = granted([{**READ, "exp": None}, {**READ, "exp": NOW + 400 * DAY}], [READ], GrantPolicy(None))
    assert grant.exp == NOW + 400 * DAY


def test_an_equal_offer_that_was_not_triggered_does_not_end_it() -> None:
    """Only what was triggered is compared."""
    asks = parsed([ASKS[0], {**ASKS[2], "options": [{"id": "a", "grants": [{**READ, "lifetime": 1}]}]}])
    (grant,) = consented(asks, reply(echoes=[READ]), OWNER, NOW, POLICY)
    assert grant.exp == NOW + WEEK


@pytest.mark.parametrize(
    ("more", "ceiling", "end"),
    [
        ({}, 90 * DAY, WEEK),
        ({}, None, WEEK),
        ({}, DAY, DAY),
        ({"lifetime": 60}, DAY, 60),
        ({"exp": NOW + 60}, DAY, 60),
        ({"exp": None}, None, None),
    ],
)
def test_when_a_grant_ends(more: dict[str, Any], ceiling: int | None, end: int | None) -> None:
    """D10: what the offer says, or seven days, or the ceiling if that is less."""
    (grant,) = granted([{**READ, **more}], [READ], GrantPolicy(ceiling))
    assert grant.exp == (None if end is None else NOW + end)


def test_an_offer_that_is_no_longer_allowed() -> None:
    """The ceiling was lowered, or the end has passed, between the posting and the answer."""
    for offer, policy, now in (
        ({**READ, "lifetime": DAY + 1}, GrantPolicy(DAY), NOW),
        ({**READ, "exp": NOW + DAY + 1}, GrantPolicy(DAY), NOW),
        ({**READ, "exp": None}, GrantPolicy(DAY), NOW),
        ({**READ, "exp": NOW + 60}, POLICY, NOW + 60),
    ):
        with pytest.raises(BadRequest):
            granted([offer], [READ], policy, now)


def test_a_token_ends_with_the_first_of_its_grants() -> None:
    """One token per answer (D10)."""
    grants = granted([READ, WRITE], [READ, WRITE])
    assert earliest(grants) == NOW + 60
    assert earliest(grants[:1]) == NOW + WEEK
    assert earliest(granted([{**READ, "exp": None}], [READ], GrantPolicy(None))) is None
    assert earliest(()) is None


_OFFERS = st.lists(
    st.fixed_dictionaries(
        {"with": st.sampled_from(["w/a", "w/a/", "w/b"]), "can": st.sampled_from(["crud", "crud/read"])},
        optional={"lifetime": st.integers(1, 90 * DAY)},
    ),
    max_size=5,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no fault
@given(offers=_OFFERS, echoes=_OFFERS, approved=st.booleans())
def test_never_more_than_offered_triggered_and_echoed(offers: Any, echoes: Any, approved: bool) -> None:
    """Whatever is offered, answered and echoed: the grants are a part of all three, each once."""
    asks = parsed([{**ASKS[0], "grants": offers}])
    answers = {"ok": approved}
    try:
        grants = consented(asks, reply(answers=answers, echoes=echoes), OWNER, NOW, POLICY)
    except BadRequest:
        return
    keys = [(grant.said["with"], grant.can) for grant in grants]
    assert len(keys) == len(set(keys))
    assert set(keys) == {(echo["with"], echo["can"]) for echo in echoes}
    assert set(keys) <= {offer.key for offer in triggered_offers(asks, answers)}
    assert all(grant.said in offers and grant.exp is not None for grant in grants)
    assert all(NOW < (grant.exp or 0) <= NOW + 90 * DAY for grant in grants)


@pytest.mark.parametrize(
    "narrow",
    [
        {"with": "w/reports/q3"},
        {"can": "crud/read/x"},
        {"exp": NOW + 1},
        {"with": "w/reports", "can": "crud/read", "exp": NOW + WEEK},
    ],
)
def test_an_echo_may_narrow_its_offer(narrow: dict[str, Any]) -> None:
    """What is granted is the smaller thing, and the record keeps both (D14)."""
    (grant,) = granted([READ], [{**READ, "narrow": narrow}])
    assert grant.said == {**READ, "narrow": narrow}
    assert grant.resource == f"{OWNER}/{narrow.get('with', 'w/reports/')}"
    assert (grant.can, grant.exp) == (narrow.get("can", "crud/read"), narrow.get("exp", NOW + WEEK))


@pytest.mark.parametrize(
    "narrow",
    [
        {},
        [],
        {"with": "w"},
        {"with": "w/reportsx"},
        {"with": "w/../x"},
        {"can": "crud"},
        {"can": "crud/write"},
        {"exp": NOW},
        {"exp": NOW + WEEK + 1},
        {"exp": None},
        {"exp": True},
        {"lifetime": 1},
        {"nb": {}},
    ],
)
def test_an_echo_cannot_widen_its_offer(narrow: Any) -> None:
    """Not in resource, ability or end, and with no key beside them."""
    with pytest.raises(BadRequest):
        granted([READ], [{**READ, "narrow": narrow}])
