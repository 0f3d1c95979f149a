"""An inbox of thousands: every record is reached, once, by few calls, and only some are drawn."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from inbox import requests, rules
from inbox.clock import millis, system_clock
from inbox.model import Ask, Requester, Settlement, Status, Submission, Terms
from inbox.store.base import Transaction
from ops.ids import IdSource
from venue.app import open_database

from .person import Person

ASKS = [{"id": "ok", "type": "approval", "prompt": "OK?"}]
AT_ONCE = 100


def _pour(data: Path, owner: str, number: int, *, settled: bool) -> list[str]:
    """Put so many records straight into the store, past every limit, in one transaction. Their ids, oldest
    first.
    """
    new_id, now, made = IdSource(system_clock, bytes), millis(system_clock()) - number, []
    rejected = Settlement(Status.REJECTED, response={"outcome": "reject"})

    def work(tx: Transaction) -> None:
        for place in range(number):
            said = Submission(f"Number {place:05d}", None, [Ask.model_validate(ASKS[0])], ASKS, None)
            record = rules.post(said, Requester(owner, owner), owner, new_id(), now + place, Terms())
            requests.insert(tx, record)
            if settled:
                requests.settle_row(tx, record.id, rejected, owner, "api", now + place)
            made.append(record.id)

    async def written() -> None:
        db = open_database(data / "venue.db")
        await db.open(lambda _: None)
        await db.write(work)
        await db.close()

    with ThreadPoolExecutor(1) as aside:  # the browser's loop runs in this thread
        aside.submit(asyncio.run, written()).result()
    return made


def _ids(page: Page) -> list[Any]:
    return page.locator(".rows li").evaluate_all("rows => rows.map(row => row.dataset.id)")


def _calls(ada: Person, status: str) -> list[Any]:
    """The cursors of the calls for the records of a status so far; one that only counts is left out."""
    calls = [call["input"] for call in ada.sent("hitl/list")]
    return [call.get("cursor") for call in calls if call["status"] == status and call["limit"] > 1]


def test_more_than_a_thousand_open_ones_are_all_there(ada: Person) -> None:
    """The count is that of the list; every one is reached, and once; what is not shown is not drawn."""
    made = _pour(ada.site.data, ada.did, 1_150, settled=False)
    page = ada.page
    before = len(_calls(ada, "open"))
    page.reload()
    rows, more = page.locator(".rows li"), page.get_by_role("button", name="more")
    expect(page.locator("#list-heading")).to_have_text("Open · 1150")
    expect(page.locator(".tab-count").first).to_have_text("1150")
    expect(rows).to_have_count(AT_ONCE)
    assert len(_calls(ada, "open")) - before <= 6  # two for a list, and it may have been asked for anew
    page.get_by_label("Search").fill("number 01149")
    expect(rows).to_have_count(1)
    ada.read(made[-1])
    page.get_by_label("Search").fill("")
    for shown in range(2 * AT_ONCE, len(made) + AT_ONCE, AT_ONCE):
        more.click()
        expect(rows).to_have_count(min(shown, len(made)))
    expect(more).to_be_hidden()
    assert _ids(page) == made


def test_a_long_history_is_read_page_by_page(ada: Person) -> None:
    """Five thousand: one call for the first page, one more for each page after it, and a search reaches the
    oldest.
    """
    made = _pour(ada.site.data, ada.did, 5_000, settled=True)
    page = ada.page
    rows = page.locator(".rows li")
    page.get_by_role("link", name="Rejected").click()
    expect(page.locator("#list-heading")).to_have_text("Rejected · 5000")
    assert _ids(page) == made[: -AT_ONCE - 1 : -1]
    assert len(_calls(ada, "rejected")) == 1

    page.get_by_role("button", name="Load older ones").click()
    expect(rows).to_have_count(2 * AT_ONCE)
    assert _ids(page) == made[: -2 * AT_ONCE - 1 : -1]
    assert len(_calls(ada, "rejected")) <= 3

    before = len(_calls(ada, "rejected"))
    page.get_by_label("Search").fill("number 00001")
    expect(rows).to_have_count(1)
    assert _ids(page) == [made[1]]
    cursors = _calls(ada, "rejected")[before:]
    assert len(cursors) <= 6
    assert len({*cursors}) == len(cursors)  # each page from where the one before it ended

    page.get_by_label("Search").fill("number")
    expect(rows).to_have_count(AT_ONCE)
    assert _ids(page) == made[: -AT_ONCE - 1 : -1]
    expect(page.locator(".filters .note")).to_have_text("5000 of 5000 shown.")
