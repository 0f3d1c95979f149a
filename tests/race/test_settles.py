"""Eight processes, one venue: whatever races to settle a request, one try wins and all agree on it (D16).

What the clients were told is held against the tables, which are read from the SQLite file itself.
"""

import json
import random
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier, Thread
from typing import Any

import httpx

from tests.harness.books import Books, Story

from .clients import ASKS, OFFER, PATIENCE, Told, answer_each, settle_all, until
from .conftest import CLIENTS, Arena

ROUNDS = 5
ENDLESS, TIMED = 80, 20
VERBS = ("grant", "approve", "decline", "grab", "reject", "cancel", "withdraw")
RESPONDS = ("grant", "approve", "decline", "grab", "reject")


def test_five_hundred_requests_are_settled_once_each(arena: Arena) -> None:
    """Every verb at every request, in another order in each process; some expire, some are deleted."""
    dice = random.Random(16)
    told: dict[str, list[Told]] = defaultdict(list)
    for _ in range(ROUNDS):
        for answers in arena.everywhere(settle_all, _round(arena, dice)):
            for answer in answers:
                told[answer.request].append(answer)
    assert len(told) == ROUNDS * (ENDLESS + TIMED)

    books = Books.of(arena.file)
    stories = books.check()
    for request, answers in told.items():
        _agree(request, stories[request], answers)
    assert 0 < len(books.requests) < len(told), "some records are left, and some were deleted"
    ends = Counter(stories[request].status for request in told)
    assert ends.keys() == {"answered", "rejected", "expired", "cancelled"}, ends
    refused = sum(
        answer.code != "" for answers in told.values() for answer in answers if answer.verb in RESPONDS
    )
    assert len(books.said("hitl:respond.refused")) == refused, "a line for every refused answer"


def test_an_answer_at_the_deadline_is_in_time_or_expired_and_nothing_else(arena: Arena) -> None:
    """Five milliseconds around the deadline: 200 if and only if the row is answered and the waiter got it."""
    dice = random.Random(6)
    for number in range(4):
        offsets = [-250, *(dice.randint(-5, 5) for _ in range(40))]
        for strike, story, heard in _around_the_deadline(arena, f"round {number}", offsets):
            outcome = (strike.status, story.status, heard)
            assert outcome in ((200, "answered", "COMPLETE"), (409, "expired", "FAILED")), strike
            assert strike.status == 409 or strike.sent < strike.deadline, "the deadline is inclusive"
            assert strike.status == 200 or strike.heard >= strike.deadline, "in good time is in time"


def test_what_was_posted_can_be_answered_at_once(arena: Arena) -> None:
    """The id that a post returns is known to every other process the moment it is returned."""
    tries = [arena.clients.submit(answer_each, [arena.agent.ask(asks=ASKS)]) for _ in range(300)]
    assert Counter(status for done in tries for status in done.result(PATIENCE)) == {200: 300}


def test_who_begins_to_wait_as_it_is_settled_hears_of_it(arena: Arena) -> None:
    """Opening the stream and answering at the same instant: no waiter is left to wait for the next event."""
    start = Barrier(2, timeout=PATIENCE)
    requests = [arena.agent.ask(asks=ASKS) for _ in range(200)]
    heard: list[tuple[str, float]] = []

    def wait() -> None:
        with httpx.Client(base_url=arena.venue.url, timeout=PATIENCE) as http:
            for request in requests:
                start.wait()
                answer = http.get(f"/api/v1/jobs/{request}/sse", headers=arena.agent.headers())
                heard.append((_last_frame(answer.text)["status"], answer.elapsed.total_seconds()))

    waiter = Thread(target=wait)
    waiter.start()
    for request in requests:
        start.wait()
        arena.owner.respond(request, answers={"ok": True}).ok()
    waiter.join(PATIENCE)
    assert Counter(status for status, _ in heard) == {"COMPLETE": len(requests)}
    assert max(seconds for _, seconds in heard) < 4, "the heartbeat, at five seconds, had to help"


@dataclass(frozen=True)
class Strike:
    """An answer around a deadline: when it was sent and when its status was heard, in epoch milliseconds."""

    deadline: int
    sent: int
    heard: int
    status: int


def _around_the_deadline(arena: Arena, name: str, offsets: list[int]) -> list[tuple[Strike, Story, str]]:
    """Let a caller post and wait for each, and answer each so many milliseconds from its deadline.

    Returns the answer, how the request stands in the end, and the status that the waiter got, of each.
    """
    titles = [f"{name}, number {number}" for number in range(len(offsets))]
    with ThreadPoolExecutor(2 * len(offsets)) as pool:
        waiting = [pool.submit(_post_and_wait, arena, title) for title in titles]
        posted = _posted(arena, titles)
        struck = [
            pool.submit(_answer, arena, *posted[title], offset)
            for title, offset in zip(titles, offsets, strict=True)
        ]
        strikes = [done.result(PATIENCE) for done in struck]
        heard = [done.result(PATIENCE) for done in waiting]
    stories = Books.of(arena.file).check()
    ends = [stories[posted[title][0]] for title in titles]
    return list(zip(strikes, ends, heard, strict=True))


def _posted(arena: Arena, titles: list[str]) -> dict[str, tuple[str, int]]:
    """Id and deadline of each request, once all are there."""
    end = _now() + PATIENCE * 1000
    since = f"{_now() - 5_000:012x}{0:020x}"  # ids begin with the time
    while _now() < end:
        items = arena.owner.run("v/ops/hitl/list", {"limit": 1000, "cursor": since}).ok()["items"]
        found = {item["title"]: (item["id"], item.get("expires", 0)) for item in items}
        if found.keys() >= set(titles):
            return found
        until(_now() + 20)
    raise AssertionError("they were not all posted")


def _post_and_wait(arena: Arena, title: str) -> str:
    asked = {"title": title, "asks": ASKS, "timeout": 1}
    return str(arena.agent.invoke("v/ops/hitl/request", asked, wait=30_000).ok()["status"])


def _answer(arena: Arena, request: str, deadline: int, offset: int) -> Strike:
    until(deadline + offset)
    sent = _now()
    reply = arena.owner.respond(request, answers={"ok": True}, grants=[OFFER])
    return Strike(deadline, sent, _now(), reply.status)


def _now() -> int:
    return int(time.time() * 1000)


def _last_frame(text: str) -> Any:
    frames = [line for line in text.splitlines() if line.startswith("data: ")]
    return json.loads(frames[-1].removeprefix("data: "))


def _round(arena: Arena, dice: random.Random) -> list[list[tuple[str, str, str, int | None]]]:
    """Post a hundred requests, and deal each process one try at each; the timed ones fall due meanwhile."""
    asked = {"title": "T", "asks": ASKS, "timeout": 1}
    timed = [arena.agent.invoke("v/ops/hitl/request", asked).ok() for _ in range(TIMED)]
    due = [(job["id"].removeprefix("0x"), job["created"] + 1000) for job in timed]
    endless: list[tuple[str, int | None]] = [(arena.agent.ask(asks=ASKS), None) for _ in range(ENDLESS)]
    parts: list[list[tuple[str, str, str, int | None]]] = [[] for _ in range(CLIENTS)]
    for request, deadline in (*endless, *due):
        verbs = [*VERBS, "reject" if dice.randrange(4) else "delete"]
        dice.shuffle(verbs)
        lead = dice.choice((0, 10, 30))  # 0: nobody can be in time
        for client, verb in enumerate(verbs):
            at = None if deadline is None else deadline - dice.randint(0, lead)
            parts[client].append((request, verb, f"by process {client}", at))
    return parts


def _agree(request: str, story: Story, told: list[Told]) -> None:
    """One winner at most among those who can tell, and it is the one in the tables; losers hear who won."""
    winners = [answer for answer in told if answer.won]
    deleters = [answer for answer in told if answer.verb == "delete" and answer.body.get("deleted")]
    assert len(winners) <= 1, (request, winners)
    if winners:
        (winner,) = winners
        ends = {"reject": "rejected", "cancel": "cancelled", "withdraw": "cancelled"}
        assert story.status == ends.get(winner.verb, "answered"), (request, winner, story)
        assert winner.verb != "grab", (request, winner)
        assert (story.token is not None) == (winner.verb == "grant"), (request, winner)
    else:  # a delete that found it open rejects it, and nobody resolves what expired
        assert story.status == "expired" or (story.status, story.error) == (
            "rejected",
            "HITL request rejected",
        )
        assert story.status == "expired" or len(deleters) == 1
    assert bool(deleters) == story.deleted
    for answer in told:
        if answer not in winners and answer.verb in RESPONDS:
            _lost(story, answer)
        elif answer not in winners and answer.verb != "delete":
            assert (answer.status, answer.body["status"]) == (200, _job_status(story)), (request, answer)


def _lost(story: Story, answer: Told) -> None:
    """A refusal that names the winner: how it was settled and when; what was deleted is not there."""
    match answer.code:
        case "not_open":
            assert (answer.status, answer.body["how"], answer.body["when"]) == (409, story.status, story.at)
        case "expired":
            assert (answer.status, answer.body["how"], story.status) == (409, "expired", "expired")
        case "not_found":
            assert answer.status == 404
            assert story.deleted
        case code:
            assert (code, answer.verb) == ("invalid_input", "grab"), answer


def _job_status(story: Story) -> str:
    return {"answered": "COMPLETE", "cancelled": "CANCELLED"}.get(story.status, "FAILED")
