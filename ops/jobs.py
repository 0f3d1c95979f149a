"""Rows of jobs to values and back, and the chain of their states (D23).

Every change of status appends a state record: canonical JSON that names the hash of the one before it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from inbox import events
from inbox.audit import GENESIS
from inbox.canonical import canonical, plain
from inbox.errors import NotFound
from inbox.store.base import Row, Transaction

from .errors import BadInput, WrongState
from .model import Job, JobStatus
from .rules import TRANSITIONS, with_token_hashes

_ID_LENGTH = 32


def parse_id(text: str) -> str:
    """A job or request id in its one stored form: bare lower-case hex (D13).

    One leading `0x` is dropped. Raises BadInput (`invalid_input`) for what is no id at all.
    """
    bare = text[2:] if text[:2] in ("0x", "0X") else text
    if len(bare) != _ID_LENGTH or not all(char in "0123456789abcdefABCDEF" for char in bare):
        raise BadInput("an id is 32 hexadecimal digits, with or without a leading 0x")
    return bare.lower()


def parse_request_id(text: str) -> str:
    """Like `parse_id`, but what is no id at all is a request that is not there.

    Raises NotFound (`not_found`).
    """
    try:
        return parse_id(text)
    except BadInput as error:
        raise NotFound(f"No HITL request {text[:64]!r} in your inbox") from error


def newest_id(tx: Transaction) -> str | None:
    """The greatest id of all jobs and records that are there; None in a new database."""
    row = tx.one("job.newest_id")
    return None if row is None or row["id"] is None else str(row["id"])


def insert(tx: Transaction, job: Job) -> None:
    """Store a new job, parked or finished, with the first record of its chain."""
    tx.run(
        "job.insert",
        id=job.id,
        op=job.op,
        adapter=job.adapter,
        name=job.name,
        owner=job.owner,
        maker=job.maker,
        status=job.status.value,
        input=_stored(job.input),
        output=_stored(job.output),
        error=job.error,
        created=job.created,
        updated=job.updated,
    )
    _changed(tx, job)


def finish_row(
    tx: Transaction,
    job: Job,
    status: JobStatus,
    now: int,
    *,
    output: Any = None,
    error: str | None = None,
) -> Job:
    """Move a parked job to its end (step 6 of the flow). `now` in epoch milliseconds; a job's time never runs
    backwards.

    Raises WrongState (`wrong_state`) when the job may not move there, or was moved by somebody else first.
    """
    if status not in TRANSITIONS[job.status]:
        raise WrongState(f"job {job.id} is {job.status.value} and cannot become {status.value}")
    updated = max(now, job.updated)
    changed = tx.run(
        "job.finish", id=job.id, status=status.value, output=_stored(output), error=error, updated=updated
    )
    if changed != 1:
        raise WrongState(f"job {job.id} was finished by somebody else")
    finished = replace(job, status=status, output=output, error=error, updated=updated)
    _changed(tx, finished)
    return finished


def find(tx: Transaction, job_id: str) -> Job | None:
    """A job by its stored id, whoever it belongs to."""
    row = tx.one("job.get", id=job_id)
    return None if row is None else _job(row)


def delete(tx: Transaction, job: Job) -> None:
    """Remove a finished job with its chain and the key that merged posts into it."""
    tx.run("job.delete", id=job.id)
    events.append(tx, job.owner, "job.deleted", job.id, job.updated)
    tx.tell(events.job_topic(job.id))


def keys(tx: Transaction, owner: str, *, maker: str | None, offset: int, limit: int) -> Sequence[str]:
    """Ids of a user's jobs in order, which is time order; `maker` narrows to what one principal made."""
    return [row["id"] for row in tx.all("job.keys", owner=owner, maker=maker, offset=offset, limit=limit)]


def count(tx: Transaction, owner: str, *, maker: str | None = None) -> int:
    """How many jobs a user has."""
    row = tx.one("job.count", owner=owner, maker=maker)
    return 0 if row is None else int(row["count"])


def history(tx: Transaction, job_id: str) -> Sequence[Row]:
    """The state records of a job, oldest first: seq, record (the text that was hashed) and hash."""
    return tx.all("job_state.read", job=job_id)


def _changed(tx: Transaction, job: Job) -> None:
    head = tx.one("job_state.head", job=job.id)
    seq, before = (head["seq"] + 1, head["hash"]) if head else (1, GENESIS)
    said = {
        "job": job.id,
        "seq": seq,
        "at": job.updated,
        "status": job.status.value,
        "before": before,
        "output": with_token_hashes(job.output),
        "error": job.error,
    }
    record = canonical({key: value for key, value in said.items() if value is not None})
    tx.run(
        "job_state.insert",
        job=job.id,
        seq=seq,
        record=record,
        hash=hashlib.sha256(record.encode("utf-8")).hexdigest(),
    )
    events.append(tx, job.owner, f"job.{job.status.value.lower()}", job.id, job.updated)
    tx.tell(events.job_topic(job.id))


def _stored(value: Any) -> str | None:
    return None if value is None else canonical(value)


def _job(row: Row) -> Job:
    values: dict[str, Any] = dict(row)
    for name in ("input", "output"):
        values[name] = None if values[name] is None else plain(values[name])
    values["status"] = JobStatus(values["status"])
    return Job(**values)
