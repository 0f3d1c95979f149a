"""Laws of the inbox's pages: each record once, and every count the same, while others post and settle."""

import random
from collections import Counter
from contextlib import closing
from typing import Any

import pytest

from inbox import requests, rules
from inbox.model import Ask, Requester, Status, Submission, Terms
from inbox.store.base import Transaction
from ops import jobs
from ops.model import Job, JobStatus
from tests.harness.books import connect
from tests.harness.kernel import ASKS, Kernel

from .conftest import Run

MANY = 5_000


def pour(tx: Transaction, venue: Kernel, number: int) -> list[str]:
    """Post so many into the first person's inbox, past the limit of open ones; all below the operations."""
    owner, made = venue.person(1), []
    terms, submission = Terms(), Submission("T", None, [Ask.model_validate(ask) for ask in ASKS], ASKS, None)
    for place in range(number):
        asker = venue.agent(owner) if place % 7 == 0 else owner
        record = rules.post(
            submission, Requester(asker.did, owner.did), owner.did, venue.world.new_id(), venue.now, terms
        )
        requests.insert(tx, record)
        parked = ("hitl:request", "HITL Request", owner.did, asker.did, JobStatus.INPUT_REQUIRED, {})
        jobs.insert(
            tx, Job(record.id, "hitl:request", *parked, output=None, error=None, created=1, updated=1)
        )
        made.append(record.id)
    return made


async def walk(venue: Kernel, between: Any, **chosen: Any) -> tuple[list[dict[str, Any]], list[int]]:
    """Every page to the end; something happens between two. The entries, and the counts of each page."""
    entries: list[dict[str, Any]] = []
    counts: list[int] = []
    data = {"limit": 250, **chosen}
    while True:
        page = await venue.invoker.run("v/ops/hitl/list", data, venue.person(1))
        entries += page["items"]
        counts.append(page["count"])
        if "cursor" not in page:
            return entries, counts
        data = {**data, "cursor": page["cursor"]}
        await between(len(entries))


@pytest.fixture
def full(venue: Kernel, run: Run) -> list[str]:
    """The ids of five thousand requests that wait."""

    async def poured() -> list[str]:
        return await venue.db.write(lambda tx: pour(tx, venue, MANY))

    made: list[str] = run(poured)
    return made


def test_five_thousand_are_reached_once_each(venue: Kernel, run: Run, full: list[str]) -> None:
    """By every way to look, and every count agrees: list, slice, keys, aggregate, the jobs' own pages."""

    async def scenario() -> None:
        owner = venue.person(1)

        async def nothing(_: int) -> None:
            return None

        entries, counts = await walk(venue, nothing)
        assert [entry["id"] for entry in entries] == full == sorted(full)
        assert {*counts} == {MANY}
        keys: list[str] = []
        for offset in range(0, MANY, 1_000):
            page = await venue.invoker.run("v/ops/covia/list", {"path": "h", "offset": offset}, owner)
            assert page["count"] == MANY
            keys += page["keys"]
        assert keys == full
        part = await venue.invoker.run(
            "v/ops/covia/slice", {"path": "h", "offset": 4_990, "limit": 50}, owner
        )
        assert [entry["key"] for entry in part["values"]] == full[4_990:]
        assert part["count"] == (await venue.desk.page(owner, 0, 1))["total"] == MANY
        mine = await venue.invoker.run("v/ops/hitl/list", {}, venue.agent(owner))
        assert mine["count"] == len(full[::7])

    run(scenario)


def test_each_is_seen_once_while_others_post_and_settle(venue: Kernel, run: Run, full: list[str]) -> None:
    """A cursor is a place and no number: what waits all along comes exactly once, what comes later at the
    end.
    """
    chance = random.Random(1)
    settled: set[str] = set()
    posted: list[str] = []

    async def between(seen: int) -> None:
        owner = venue.person(1)
        for _ in range(5):
            victim = chance.choice(full)
            if victim not in settled:
                await venue.respond(owner, victim, "reject")
                settled.add(victim)
        await venue.db.write(lambda tx: posted.extend(pour(tx, venue, 5)))

    async def scenario() -> None:
        entries, _ = await walk(venue, between, status="open")
        times = Counter(entry["id"] for entry in entries)
        assert max(times.values()) == 1
        ids = [entry["id"] for entry in entries]
        assert ids == sorted(ids)
        assert {*full} - settled <= times.keys()
        assert times.keys() <= {*full, *posted}
        everything, counts = await walk(venue, between)
        assert max(Counter(entry["id"] for entry in everything).values()) == 1
        assert {entry["id"] for entry in everything} >= {*full}
        assert counts == sorted(counts)
        with closing(connect(venue.path)) as db:
            rows = dict(db.execute("SELECT status, COUNT(*) FROM request GROUP BY status").fetchall())
        for status in Status:
            page = await venue.invoker.run(
                "v/ops/hitl/list", {"status": status.value, "limit": 1}, venue.person(1)
            )
            assert page["count"] == rows.get(status.value, 0)

    run(scenario)


def test_what_was_deleted_is_passed_over(venue: Kernel, run: Run) -> None:
    """Also the very record that the cursor names."""

    async def scenario() -> None:
        owner = venue.person(1)
        made = [await venue.ask(owner) for _ in range(9)]
        page = await venue.invoker.run("v/ops/hitl/list", {"limit": 3}, owner)
        assert page["cursor"] == made[2]
        for request in made[1:5]:
            assert await venue.delete(owner, request)
        after = await venue.invoker.run("v/ops/hitl/list", {"limit": 3, "cursor": page["cursor"]}, owner)
        assert [entry["id"] for entry in after["items"]] == made[5:8]
        assert after["count"] == 5

    run(scenario)
