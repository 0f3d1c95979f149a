"""Rows of the inbox to values and back; the one place that reads and writes the request table."""

from collections.abc import Sequence
from typing import Any

from .canonical import canonical, plain
from .model import Request, Settlement, Status
from .store.base import Row, Transaction


def insert(tx: Transaction, request: Request) -> None:
    """Store an open request."""
    tx.run(
        "request.insert",
        id=request.id,
        owner=request.owner,
        requester=request.requester,
        maker=request.maker,
        title=request.body["title"],
        body=canonical(request.body),
        digest=request.digest,
        created=request.created,
        expires=request.expires,
    )


def get(tx: Transaction, owner: str, request_id: str) -> Request | None:
    """A record of one inbox; a record of another inbox is as absent as one that never was (D14)."""
    row = tx.one("request.get", owner=owner, id=request_id)
    return None if row is None else _request(row)


def find(tx: Transaction, request_id: str) -> Request | None:
    """A record by its id alone, for the venue's own work: its job, its timer, its launch."""
    row = tx.one("request.find", id=request_id)
    return None if row is None else _request(row)


def settle_row(
    tx: Transaction,
    request_id: str,
    settlement: Settlement,
    resolver: str | None,
    channel: str | None,
    now: int,
) -> bool:
    """The guarded update that decides every race (D16; step 5 of the flow): whether this settlement landed.
    `now` in milliseconds.
    """
    row = tx.one(
        "request.settle",
        id=request_id,
        status=settlement.status.value,
        response=None if settlement.response is None else canonical(settlement.response),
        resolver=resolver,
        channel=channel,
        now=now,
    )
    return row is not None


def delete(tx: Transaction, owner: str, request_id: str) -> bool:
    """Remove a settled record from its inbox; says whether there was one."""
    return tx.run("request.delete", owner=owner, id=request_id) > 0


_BEYOND = "~"
"""Sorts after every id."""


def page(
    tx: Transaction,
    owner: str,
    *,
    status: Status | None,
    requester: str | None,
    after: str | None,
    limit: int,
    newest: bool = False,
) -> Sequence[Row]:
    """Summaries of an inbox in id order, which is time order, or the newest first; `requester` narrows to
    what one principal asked. `after` is the last id of the page before.
    """
    if newest:
        name, by = _narrowed("request.newest", status, requester)
        return tx.all(name, owner=owner, before=after or _BEYOND, limit=limit, **by)
    name, by = _narrowed("request.page", status, requester)
    return tx.all(name, owner=owner, after=after or "", limit=limit, **by)


def count(tx: Transaction, owner: str, *, status: Status | None = None, requester: str | None = None) -> int:
    """How many records an inbox holds."""
    name, by = _narrowed("request.count", status, requester)
    return _number(tx.one(name, owner=owner, **by))


def _narrowed(name: str, status: Status | None, requester: str | None) -> tuple[str, dict[str, str | None]]:
    """The statement whose index fits what is asked for, and what it takes besides the owner."""
    chosen = None if status is None else status.value
    if requester is not None:
        return f"{name}_by_requester", {"requester": requester, "status": chosen}
    return (name, {}) if chosen is None else (f"{name}_by_status", {"status": chosen})


def keys(tx: Transaction, owner: str, *, requester: str | None, offset: int, limit: int) -> Sequence[str]:
    """Ids of an inbox in order."""
    rows = tx.all("request.keys", owner=owner, requester=requester, offset=offset, limit=limit)
    return [row["id"] for row in rows]


def open_by_maker(tx: Transaction, user: str, now: int) -> int:
    """How many open requests a user family has posted, anywhere; one past its deadline is none (D17).

    `now` in epoch milliseconds.
    """
    return _number(tx.one("request.open_by_maker", maker=user, now=now))


def open_by_requester(tx: Transaction, user: str, requester: str) -> Sequence[str]:
    """Ids of the open requests of one principal of a user family, in whichever inbox."""
    return [row["id"] for row in tx.all("request.open_by_requester", maker=user, requester=requester)]


def open_by_owner(tx: Transaction, owner: str, now: int) -> int:
    """How many open requests wait in an inbox; one past its deadline is none. `now` in epoch milliseconds."""
    return _number(tx.one("request.open_by_owner", owner=owner, now=now))


def posted_since(tx: Transaction, user: str, since: int) -> int:
    """How many requests a user family has posted after an instant, in epoch milliseconds."""
    return _number(tx.one("request.posted_since", maker=user, since=since))


def next_deadline(tx: Transaction) -> int | None:
    """The earliest deadline of any open request, in epoch milliseconds."""
    row = tx.one("request.next_deadline")
    return None if row is None else row["expires"]


def due(tx: Transaction, now: int, limit: int) -> Sequence[str]:
    """Ids of open requests whose deadline has passed, the oldest deadline first."""
    return [row["id"] for row in tx.all("request.due", now=now, limit=limit)]


def any_due(tx: Transaction, now: int) -> bool:
    """Whether any open request is past its deadline; one look into an index."""
    return tx.one("request.any_due", now=now) is not None


def _number(row: Row | None) -> int:
    return 0 if row is None else int(row["count"])


def _request(row: Row) -> Request:
    values: dict[str, Any] = dict(row)
    del values["title"]
    values["body"] = plain(values["body"])
    values["response"] = None if values["response"] is None else plain(values["response"])
    values["status"] = Status(values["status"])
    return Request(**values)
