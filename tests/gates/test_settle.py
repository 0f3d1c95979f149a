"""The law of settling, which requests and gates share."""

from typing import Any

import pytest

from inbox.settle import Outcome, Standing, is_due, is_forgiven, standing


@pytest.mark.parametrize(
    ("now", "deadline", "due"), [(9, 10, False), (10, 10, True), (11, 10, True), (10**18, None, False)]
)
def test_the_instant_of_a_deadline_is_past_it(now: int, deadline: int | None, due: bool) -> None:
    assert is_due(now, deadline) is due
    assert standing(True, now, deadline) is (Standing.DUE if due else Standing.OPEN)


@pytest.mark.parametrize("deadline", [None, 5, 10, 15])
def test_what_settled_stays_settled(deadline: int | None) -> None:
    assert standing(False, 10, deadline) is Standing.SETTLED


ANSWER = Outcome("resolved", {"approved": True, "n": 1}, None)


@pytest.mark.parametrize(
    ("won", "forgiven"),
    [
        (ANSWER, True),
        (Outcome("resolved", {"n": 1.0, "approved": True}), True),
        (Outcome("resolved", {"approved": 1, "n": 1}), False),
        (Outcome("resolved", {"approved": True, "n": True}), False),
        (Outcome("resolved", {"approved": True}), False),
        (Outcome("resolved", None), False),
        (Outcome("cancelled", ANSWER.payload), False),
        (Outcome("resolved", ANSWER.payload, "because"), False),
    ],
)
def test_only_the_same_answer_is_forgiven_and_only_in_a_race(won: Outcome, forgiven: bool) -> None:
    assert is_forgiven(read_open=True, wanted=ANSWER, won=won) is forgiven
    assert is_forgiven(read_open=False, wanted=ANSWER, won=won) is False


@pytest.mark.parametrize("reason", [None, "", "superseded"])
def test_two_cancels_are_one_when_they_give_one_reason(reason: Any) -> None:
    cancelled = Outcome("cancelled", reason=reason)
    assert is_forgiven(read_open=True, wanted=cancelled, won=Outcome("cancelled", reason=reason))
    assert not is_forgiven(read_open=True, wanted=cancelled, won=Outcome("cancelled", reason="other"))
    assert not is_forgiven(read_open=True, wanted=cancelled, won=Outcome("expired"))
