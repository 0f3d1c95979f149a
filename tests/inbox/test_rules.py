"""The life of a request as values: post, decide, delete, expire, cancel (D12 to D19)."""

from dataclasses import replace
from typing import Any

import pytest

from inbox.canonical import digest_of
from inbox.errors import AlreadySettled, BadRequest, Expired, LimitExceeded, StaleDigest
from inbox.model import GrantPolicy, Reply, Requester, Settlement, Status, Terms
from inbox.rules import cancel, check_open, decide, delete_open, expire, post, why_closed

from .support import (
    ASKER,
    ASKS,
    DAY,
    LIMITS,
    MS,
    NOW,
    OWNER,
    POLICY,
    READ,
    TERMS,
    WRITE,
    posted,
    reply,
    submission,
)


def decided(said: Reply, request: Any = None, now: int = MS, policy: GrantPolicy = POLICY) -> Settlement:
    """The settlement of a good request by this reply."""
    return decide(request or posted(), said, now, Terms(policy, LIMITS), lambda _hash: False)


def test_posting_fixes_the_record() -> None:
    """The venue sets who asked, and the digest covers all but the status and the response (D13)."""
    request = posted(description="why", timeout=60)
    body = {
        "id": "0" * 32,
        "from": ASKER,
        "agent": "g/helper",
        "title": "T",
        "description": "why",
        "asks": ASKS,
        "created": MS,
        "expires": MS + 60_000,
    }
    assert request.body == body
    assert request.digest == digest_of(body)
    assert request.record() == {**body, "status": "open", "digest": request.digest}
    assert (request.owner, request.requester, request.maker) == (OWNER, ASKER, OWNER)


def test_posting_leaves_out_what_is_absent() -> None:
    """A person asks, without description and deadline."""
    request = post(submission(), Requester(OWNER, OWNER), OWNER, "1" * 32, MS, TERMS)
    assert request.body.keys() == {"id", "from", "title", "asks", "created"}
    assert request.expires is None


def test_posting_checks_everything_first() -> None:
    """The rules of a submission are asked, with the time in seconds."""
    with pytest.raises(BadRequest):
        posted(title="")
    with pytest.raises(BadRequest):
        posted([{**ASKS[0], "grants": [{**READ, "exp": NOW}]}])
    posted([{**ASKS[0], "grants": [{**READ, "exp": NOW + 1}]}])


def test_an_answer_comes_to_this() -> None:
    """Record, output and grants of one answer; what says nothing is left out (D19)."""
    settlement = decided(reply())
    assert settlement == Settlement(
        Status.ANSWERED,
        response={"outcome": "answer", "answers": {"ok": True}},
        output={"id": "0" * 32, "outcome": "answer", "answers": {"ok": True}},
    )
    full = decided(reply(comments={"ok": "c"}, comment="d", echoes=[READ]))
    said = {
        "outcome": "answer",
        "answers": {"ok": True},
        "comments": {"ok": "c"},
        "comment": "d",
        "grants": [READ],
    }
    assert (full.response, full.output) == (said, {"id": "0" * 32, **said})
    assert [grant.said for grant in full.grants] == [READ]
    assert full.error is None


def test_a_rejection_comes_to_this() -> None:
    """It fails the job with the reason, and needs no answers."""
    assert decided(Reply("reject", comment="no")) == Settlement(
        Status.REJECTED, response={"outcome": "reject", "comment": "no"}, error="HITL request rejected: no"
    )
    for comment in (None, ""):
        silent = decided(Reply("reject", comment=comment))
        assert (silent.response, silent.error) == ({"outcome": "reject"}, "HITL request rejected")
    with pytest.raises(LimitExceeded):
        decided(Reply("reject", comment="a" * (64 * 1024 + 1)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"answers": {}},
        {"answers": {"ok": 1}},
        {"answers": {"ok": True, "other": 1}},
        {"comments": {"other": "x"}},
        {"echoes": [WRITE]},
        {"answers": {"ok": False}, "echoes": [READ]},
    ],
)
def test_an_answer_with_one_thing_wrong(wrong: dict[str, Any]) -> None:
    """Answers, remarks and echoes are all judged before anything is decided."""
    with pytest.raises(BadRequest):
        decided(reply(**wrong))


def test_an_ask_of_another_version_can_only_be_rejected() -> None:
    """What this version cannot check nobody answers here; but nobody has to let it wait, either."""
    asks = [*ASKS, {"id": "new", "type": "signature", "prompt": "?"}]
    request = replace(posted(), body={**posted().body, "asks": asks})
    with pytest.raises(BadRequest):
        decided(reply(), request)
    assert decided(Reply("reject", comment="no"), request).status is Status.REJECTED
    assert delete_open(request, MS).status is Status.REJECTED


def test_the_digest_is_the_records_or_none() -> None:
    """A person decides on what they saw, also when they say no (D14)."""
    request = posted()
    for outcome in ("answer", "reject"):
        said = reply(outcome=outcome)
        decided(replace(said, digest=request.digest), request)
        for stale in ("", request.digest[:-1], posted(title="U").digest):
            with pytest.raises(StaleDigest):
                decided(replace(said, digest=stale), request)


def test_the_digest_sees_every_part_of_a_record() -> None:
    """Whatever was asked otherwise has another digest."""
    others = [
        posted(title="U"),
        posted(description="x"),
        posted(timeout=60),
        posted([{**ASKS[0], "extra": 1}]),
        posted([{**ASKS[0], "grants": [{**READ, "lifetime": 1}]}]),
    ]
    assert len({posted().digest, *(other.digest for other in others)}) == len(others) + 1


def test_the_deadline_is_inclusive() -> None:
    """A millisecond before it is in time, the instant itself is not (D17)."""
    request = posted(timeout=60)
    assert request.expires == MS + 60_000
    check_open(request, MS + 59_999)
    assert decided(reply(), request, MS + 59_999).status is Status.ANSWERED
    for late in (MS + 60_000, MS + 60_001):
        for attempt in (lambda at: decided(reply(), request, at), lambda at: delete_open(request, at)):
            with pytest.raises(Expired) as error:
                attempt(late)
            assert error.value.when == MS + 60_000


@pytest.mark.parametrize("status", [Status.ANSWERED, Status.REJECTED, Status.CANCELLED, Status.EXPIRED])
def test_what_is_settled_stays_settled(status: Status) -> None:
    """The refusal says how and when; expired is expired whoever noticed it first."""
    settled = replace(posted(timeout=60), status=status, settled=MS + 5)
    closed = why_closed(settled, MS + 100_000)
    if status is Status.EXPIRED:
        assert isinstance(closed, Expired)
    else:
        assert isinstance(closed, AlreadySettled)
        assert (closed.how, closed.when) == (status.value, MS + 5)
    assert type(why_closed(settled, MS)) is type(closed)
    with pytest.raises(type(closed)):
        decided(reply(digest="stale"), settled)
    with pytest.raises(type(closed)):
        delete_open(settled, MS)


def test_the_other_ways_to_end() -> None:
    """Deleting rejects, expiry is nobody's doing, a cancel gives its reason."""
    assert delete_open(posted(), MS) == Settlement(
        Status.REJECTED, response={"outcome": "reject"}, error="HITL request rejected"
    )
    assert expire() == Settlement(Status.EXPIRED, error="HITL request expired")
    assert cancel("why") == Settlement(Status.CANCELLED, error="why")
    assert cancel(None) == cancel("") == Settlement(Status.CANCELLED, error="HITL request cancelled")


def test_a_ceiling_that_was_lowered_binds_the_answer() -> None:
    """Posted under one ceiling, answered under another (D10)."""
    request = posted([{**ASKS[0], "grants": [{**READ, "lifetime": 30 * DAY}]}])
    assert decided(reply(echoes=[READ]), request).grants
    assert decided(reply(), request, policy=GrantPolicy(DAY)).grants == ()
    with pytest.raises(BadRequest):
        decided(reply(echoes=[READ]), request, policy=GrantPolicy(DAY))
