"""Feeds count every change once and in order; bells wake whoever listened before the change (D25)."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from inbox import events
from inbox.events import Bells, Event, feed_topic, job_topic
from inbox.store.base import Transaction
from tests.harness.kernel import Kernel

Within = Callable[[Callable[[Kernel], Any]], Any]


def test_a_feed_counts_its_own_events(within: Within) -> None:
    """From one, without a gap, however many feeds there are; read on from any version, a page at a time."""

    async def scenario(venue: Kernel) -> None:
        def work(tx: Transaction) -> list[int]:
            return [events.append(tx, feed, "k", f"s{at}", at) for at in range(3) for feed in ("a", "b")]

        assert await venue.db.write(work) == [1, 1, 2, 2, 3, 3]
        read = await venue.db.read(lambda tx: events.read_after(tx, "a", 1))
        assert read == [Event(2, 1, "k", "s1"), Event(3, 2, "k", "s2")]
        assert await venue.db.read(lambda tx: events.read_after(tx, "a", 0, limit=1)) == [
            Event(1, 0, "k", "s0")
        ]
        assert await venue.db.read(lambda tx: events.read_after(tx, "a", 3)) == []
        assert await venue.db.read(lambda tx: events.read_after(tx, "c", 0)) == []

    within(scenario)


def test_a_change_that_is_rolled_back_leaves_no_gap(within: Within) -> None:
    """The counter goes back with it, and nobody is told."""

    async def scenario(venue: Kernel) -> None:
        def spoilt(tx: Transaction) -> None:
            events.append(tx, "a", "k", "s", 1)
            raise KeyError

        await venue.db.write(lambda tx: events.append(tx, "a", "k", "s", 1))
        heard = len(venue.told)
        with pytest.raises(KeyError):
            await venue.db.write(spoilt)
        assert len(venue.told) == heard
        assert await venue.db.write(lambda tx: events.append(tx, "a", "k", "s", 1)) == 2

    within(scenario)


def test_the_feed_is_told_once_its_event_can_be_read(within: Within) -> None:
    """Listen, read, wait: nothing that is committed in between is missed."""

    async def scenario(venue: Kernel) -> None:
        with venue.bells.listening(feed_topic("a")) as bell:
            for version in range(1, 20):
                bell.clear()
                writing = venue.db.write(lambda tx: events.append(tx, "a", "k", "s", 1))
                await bell.wait()
                assert await venue.db.read(lambda tx: tx.one("feed.version", feed="a")) == {
                    "version": version
                }
                await writing

    within(scenario)


def test_posting_and_settling_tell_job_and_inbox(within: Within) -> None:
    """A post tells the inbox, its job and, with a deadline, the timer; a settle tells inbox and job."""

    async def scenario(venue: Kernel) -> None:
        owner = venue.person(1)
        request = await venue.ask(owner, timeout=10)
        assert venue.told[-1] == {feed_topic(owner.did), job_topic(request), events.DEADLINES}
        endless = await venue.ask(owner)
        assert venue.told[-1] == {feed_topic(owner.did), job_topic(endless)}
        await venue.respond(owner, request)
        assert {feed_topic(owner.did), job_topic(request)} <= venue.told[-1]

    within(scenario)


def test_a_bell_rings_for_its_topic_only() -> None:
    """Everybody who listens to it, nobody else; and `ring_all` is for all."""

    async def scenario() -> None:
        bells = Bells()
        with bells.listening("x") as one, bells.listening("x") as two, bells.listening("y") as other:
            bells.ring(["x", "nobody listens to this"])
            assert (one.is_set(), two.is_set(), other.is_set()) == (True, True, False)
            bells.ring_all()
            assert other.is_set()

    asyncio.run(scenario())


def test_a_bell_rung_too_early_is_not_kept() -> None:
    """Who comes later reads instead; and who has gone is forgotten."""

    async def scenario() -> None:
        bells = Bells()
        bells.ring(["x"])
        with bells.listening("x") as bell:
            assert not bell.is_set()
        bells.ring(["x"])
        assert not bell.is_set()
        assert not bells._listeners

    asyncio.run(scenario())
