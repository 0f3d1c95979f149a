"""What fell due expires, by one timer; and what a launch puts right before the port opens (D17, D21)."""

import asyncio
import contextlib
import logging

from inbox import events, requests
from inbox.clock import millis
from inbox.errors import InboxError, StoreError
from inbox.store.base import Database, Transaction

from . import jobs, settle
from .errors import OpsError
from .model import Call, Caller, JobStatus, Kind, World

log = logging.getLogger("venue.sweep")

_BATCH = 200
_LONGEST_SLEEP = 60.0
_RETRY = 1.0
_STOPPED = "The venue was stopped while this job was running"
_INTERRUPTED = "The request behind this job is gone"


async def expire_due(db: Database, world: World) -> int:
    """Settle every open request whose deadline has passed; returns how many this call settled.

    One that cannot be settled is logged, and does not keep the others from it.
    """

    def batch(tx: Transaction) -> tuple[int, int]:
        call = _venue_call(tx, world)
        due = requests.due(tx, call.now, _BATCH)
        return len(due), sum(settle.expire(call, request_id) for request_id in due)

    total, found = 0, _BATCH
    while found == _BATCH:
        try:
            found, settled = await db.write(batch)
        except StoreError:
            raise
        except (OpsError, InboxError):
            return total + await _expire_one_by_one(db, world)
        total += settled
    return total


async def _expire_one_by_one(db: Database, world: World) -> int:
    now, settled = millis(world.clock()), 0
    for request_id in await db.read(lambda tx: requests.due(tx, now, _BATCH)):

        def work(tx: Transaction, request_id: str = request_id) -> bool:
            return settle.expire(_venue_call(tx, world), request_id)

        try:
            settled += await db.write(work)
        except (OpsError, InboxError):
            log.exception("request %s is past its deadline and cannot be settled", request_id)
    return settled


def breaches(tx: Transaction) -> tuple[list[str], list[str]]:
    """The ids that break *parked job <-> open record* (D21): jobs without a record, records without a job."""
    jobs_alone = [str(row["id"]) for row in tx.all("job.parked_without_request")]
    records_alone = [str(row["id"]) for row in tx.all("job.request_without_parked")]
    return jobs_alone, records_alone


async def launch(db: Database, world: World) -> int:
    """Settle what fell due while the venue was down, then check that every parked job has its open record;
    and let ids go on after those that were made, though the clock may have been set back meanwhile.

    A breach is repaired toward the safe side (job failed, record cancelled) and logged with its id. Returns
    how many there were.
    """
    await expire_due(db, world)

    def work(tx: Transaction) -> list[str]:
        call = _venue_call(tx, world)
        if newest := jobs.newest_id(tx):
            world.new_id.go_on_after(newest)
        for row in tx.all("job.running"):
            job = jobs.find(tx, row["id"])
            if job is not None:
                jobs.finish_row(tx, job, JobStatus.FAILED, call.now, error=_STOPPED)
        broken = []
        jobs_alone, records_alone = breaches(tx)
        for job_id in jobs_alone:
            job = jobs.find(tx, job_id)
            if job is not None:
                jobs.finish_row(tx, job, JobStatus.FAILED, call.now, error=_INTERRUPTED)
                broken.append(job.id)
        for request_id in records_alone:
            request = requests.find(tx, request_id)
            if request is not None:
                settle.withdraw(call, request)
                broken.append(request.id)
        return broken

    broken = await db.write(work)
    for job_id in broken:
        log.error("job %s and record h/%s disagreed at launch: job failed, record cancelled", job_id, job_id)
    return len(broken)


async def run(db: Database, world: World, bells: events.Bells) -> None:
    """Sleep until the earliest deadline and expire what is due, for as long as the venue runs.

    The deadline is read on the venue's clock; the sleep runs on the loop's time and is cut short when a
    request with a deadline is posted, and after a minute in any case, for a clock may be set. A store that
    cannot do it just now does not end the timer.
    """
    with bells.listening(events.DEADLINES) as bell:
        while True:
            bell.clear()
            try:
                wait = await _next_wait(db, world)
                if wait <= 0:
                    if await expire_due(db, world):
                        continue
                    wait = _RETRY
            except StoreError:
                log.exception("what is due could not be expired; it is tried again in %s s", _RETRY)
                wait = _RETRY
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await bell.wait()


async def _next_wait(db: Database, world: World) -> float:
    """Seconds until the earliest deadline, a minute at most."""
    deadline = await db.read(requests.next_deadline)
    if deadline is None:
        return _LONGEST_SLEEP
    return min(_LONGEST_SLEEP, (deadline - millis(world.clock())) / 1000)


def _venue_call(tx: Transaction, world: World) -> Call:
    """The venue's own doing: it settles by time or by repair, and is nobody's resolver."""
    return Call(tx, world, Caller(world.did, world.did, Kind.OPERATOR), millis(world.clock()), "")
