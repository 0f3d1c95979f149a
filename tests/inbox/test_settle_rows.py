"""Rows of requests: what is stored comes back equal, and the guarded update lands when the law says so."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inbox import requests, rules
from inbox.errors import AlreadySettled, Expired
from inbox.model import Ask, Request, Requester, Settlement, Status, Submission, Terms
from inbox.settle import is_due
from inbox.store.base import Transaction
from tests.harness.kernel import ASKS, Kernel

Within = Callable[[Callable[[Kernel], Any]], Any]
OWNER = "did:key:z6MkOwner"
NOW = 1_000_000
DEADLINE = NOW + 10_000
TERMINAL = (Status.ANSWERED, Status.REJECTED, Status.EXPIRED, Status.CANCELLED)
_IDS = itertools.count()


def posted(timeout: int | None = 10, title: str = "T", description: str | None = None) -> Request:
    """A request as `rules.post` makes it."""
    submission = Submission(title, description, [Ask.model_validate(ask) for ask in ASKS], ASKS, timeout)
    requester = Requester(f"{OWNER}:g:a", OWNER, "a")
    return rules.post(submission, requester, OWNER, f"{next(_IDS):032x}", NOW, Terms())


def land(tx: Transaction, request: Request, status: Status, now: int) -> bool:
    """Settle a row without looking at it first."""
    settlement = Settlement(status, response={"outcome": "x"})
    resolver = None if status is Status.EXPIRED else OWNER
    return requests.settle_row(tx, request.id, settlement, resolver, "api", now)


def test_what_is_stored_comes_back_equal(within: Within) -> None:
    """Every field, through the row and back; and what is served has the digest of what was asked."""

    async def scenario(venue: Kernel) -> None:
        for request in (posted(), posted(None), posted(title="é\u200b☃", description="# x\n\U0001f600")):

            def work(tx: Transaction, request: Request = request) -> None:
                requests.insert(tx, request)
                assert requests.get(tx, OWNER, request.id) == requests.find(tx, request.id) == request
                assert requests.get(tx, "did:key:z6MkOther", request.id) is None

            await venue.db.write(work)
            assert request.record()["digest"] == request.digest

    within(scenario)


def test_a_settlement_is_stored_whole(within: Within) -> None:
    """Response, resolver, channel and instant; the body does not change."""

    async def scenario(venue: Kernel) -> None:
        request = posted()

        def work(tx: Transaction) -> Request | None:
            requests.insert(tx, request)
            assert land(tx, request, Status.ANSWERED, NOW + 1)
            return requests.find(tx, request.id)

        found = await venue.db.write(work)
        assert found is not None
        assert (found.status, found.response, found.resolver) == (Status.ANSWERED, {"outcome": "x"}, OWNER)
        assert (found.channel, found.settled, found.body, found.digest) == (
            "api",
            NOW + 1,
            request.body,
            request.digest,
        )

    within(scenario)


@pytest.mark.parametrize("first", TERMINAL)
def test_what_is_settled_stays_settled(within: Within, first: Status) -> None:
    """After each end, each other end finds no row, at any time; and the rules name the first."""

    async def scenario(venue: Kernel) -> None:
        request = posted()

        def work(tx: Transaction) -> Request | None:
            requests.insert(tx, request)
            at = DEADLINE if first is Status.EXPIRED else DEADLINE - 1
            assert land(tx, request, first, at)
            for second, now in itertools.product(TERMINAL, (NOW, DEADLINE - 1, DEADLINE, DEADLINE + 1)):
                assert not land(tx, request, second, now)
            return requests.find(tx, request.id)

        found = await venue.db.write(work)
        assert found is not None
        assert found.status is first
        kind = Expired if first is Status.EXPIRED else AlreadySettled
        with pytest.raises(kind) as refusal:
            rules.check_open(found, NOW)
        assert refusal.value.how == first.value

    within(scenario)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    timeout=st.none() | st.integers(1, 3),
    tries=st.lists(st.tuples(st.sampled_from(TERMINAL), st.integers(-2, 3_002)), max_size=6),
)
def test_the_row_and_the_law_agree(
    shared: Kernel, run: Any, timeout: int | None, tries: list[tuple[Status, int]]
) -> None:
    """For any tries at any instants: the first that the law allows lands, and no other does."""
    request = posted(timeout)

    def work(tx: Transaction) -> None:
        requests.insert(tx, request)
        settled = False
        for status, after in tries:
            now = NOW + after
            in_time = is_due(now, request.expires) == (status is Status.EXPIRED)
            assert land(tx, request, status, now) == (in_time and not settled)
            settled = settled or in_time
        found = requests.find(tx, request.id)
        assert found is not None
        assert (found.status is Status.OPEN) == (not settled)

    run(lambda: shared.db.write(work))


def test_due_is_found_in_the_order_of_deadlines(within: Within) -> None:
    """Inclusive, oldest first, open ones only, no more than was asked for."""

    async def scenario(venue: Kernel) -> None:
        late, early, endless, settled = posted(3), posted(1), posted(None), posted(1)

        def work(tx: Transaction) -> None:
            assert requests.next_deadline(tx) is None
            for request in (late, early, endless, settled):
                requests.insert(tx, request)
            assert land(tx, settled, Status.REJECTED, NOW)
            assert requests.next_deadline(tx) == NOW + 1_000
            assert requests.due(tx, NOW + 999, 10) == []
            assert not requests.any_due(tx, NOW + 999)
            assert requests.due(tx, NOW + 1_000, 10) == [early.id]
            assert requests.any_due(tx, NOW + 1_000)
            assert requests.due(tx, NOW + 9_999, 10) == [early.id, late.id]
            assert requests.due(tx, NOW + 9_999, 1) == [early.id]

        await venue.db.write(work)

    within(scenario)


def test_an_open_record_is_not_deleted(within: Within) -> None:
    """Only a settled one, only by its owner, and only once."""

    async def scenario(venue: Kernel) -> None:
        request = posted()

        def work(tx: Transaction) -> list[bool]:
            requests.insert(tx, request)
            tries = [requests.delete(tx, OWNER, request.id)]
            assert land(tx, request, Status.CANCELLED, NOW)
            owners = ("did:key:z6MkOther", OWNER, OWNER)
            return [*tries, *(requests.delete(tx, owner, request.id) for owner in owners)]

        assert await venue.db.write(work) == [False, False, True, False]

    within(scenario)


def test_pages_and_counts(within: Within) -> None:
    """In id order, each once, narrowed by status and by who asked."""

    async def scenario(venue: Kernel) -> None:
        made = [posted(None) for _ in range(7)]

        def work(tx: Transaction) -> None:
            for request in made:
                requests.insert(tx, request)
            assert land(tx, made[3], Status.ANSWERED, NOW)
            seen, after = [], ""
            while page := requests.page(tx, OWNER, status=None, requester=None, after=after, limit=3):
                seen += [row["id"] for row in page]
                after = seen[-1]
            assert seen == [request.id for request in made]
            assert requests.count(tx, OWNER) == 7
            assert requests.count(tx, OWNER, status=Status.OPEN) == 6
            assert requests.open_by_owner(tx, OWNER, NOW) == requests.open_by_maker(tx, OWNER, NOW) == 6
            assert requests.count(tx, OWNER, requester="did:key:z6MkOther") == 0
            assert requests.keys(tx, OWNER, requester=None, offset=5, limit=9) == seen[5:]

        await venue.db.write(work)

    within(scenario)


def test_what_is_overdue_takes_no_place(within: Within) -> None:
    """From the instant of its deadline on, whether or not anybody has noticed (D17, D22)."""

    async def scenario(venue: Kernel) -> None:
        def work(tx: Transaction) -> list[tuple[int, int]]:
            for timeout in (10, None):
                requests.insert(tx, posted(timeout))
            instants = (NOW + 9_999, NOW + 10_000)
            return [
                (requests.open_by_owner(tx, OWNER, now), requests.open_by_maker(tx, OWNER, now))
                for now in instants
            ]

        assert await venue.db.write(work) == [(2, 2), (1, 1)]

    within(scenario)
