"""What a caller may do with jobs (D18, D23): see those that are theirs, cancel and delete them; a proof only
lets see.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from inbox import events, requests
from inbox.errors import AlreadySettled, Expired
from inbox.events import Event
from inbox.store.base import Row

from . import access, agents, jobs, receipts, settle, values
from .errors import AuthRequired, BadInput, Forbidden, NoSuchJob, WrongState
from .model import ASKERS, Call, Caller, Job, JobStatus
from .units import Units

MAX_PAGE = 1_000


class Desk:
    """Hands out jobs and takes back what their makers and owners do with them."""

    def __init__(self, units: Units) -> None:
        self._units = units

    async def job(self, job_id: str, caller: Caller) -> dict[str, Any]:
        """A job as this caller may see it. Raises NoSuchJob (`not_found`), BadInput, AuthRequired."""
        stored = jobs.parse_id(job_id)
        return await self._units.read(caller, lambda call: values.served(call, _visible(call, stored)))

    async def page(self, caller: Caller, offset: int, limit: int) -> dict[str, Any]:
        """A page of the caller's own jobs, oldest first; an agent sees those that it made."""
        if not 0 <= limit <= MAX_PAGE:
            raise BadInput(f"limit: must be between 0 and {MAX_PAGE}")

        def work(call: Call) -> dict[str, Any]:
            access.admit(caller, ASKERS)
            maker = caller.did if caller.is_agent else None
            items = list(jobs.keys(call.tx, caller.user, maker=maker, offset=offset, limit=limit))
            total = jobs.count(call.tx, caller.user, maker=maker)
            return {"items": items, "total": total, "offset": offset, "limit": limit}

        return await self._units.read(caller, work)

    async def history(self, job_id: str, caller: Caller) -> Sequence[Row]:
        """The chain of a job's states, oldest first; tokens stand in it by their hash."""
        stored = jobs.parse_id(job_id)
        return await self._units.read(caller, lambda call: jobs.history(call.tx, _visible(call, stored).id))

    async def receipt(self, job_id: str, caller: Caller) -> str:
        """The venue's signed receipt of how the request was settled. Raises NoSuchJob until it is."""
        stored = jobs.parse_id(job_id)

        def work(call: Call) -> str:
            receipt = receipts.find(call.tx, _visible(call, stored).id)
            if receipt is None:
                raise NoSuchJob(f"No receipt for job {stored}: it is no settled request")
            return receipt

        return await self._units.read(caller, work)

    async def cancel(self, job_id: str, reason: str | None, caller: Caller) -> dict[str, Any]:
        """Cancel a job, as its maker or owner; a finished one is unchanged (D18). Raises NoSuchJob."""
        stored = jobs.parse_id(job_id)
        with suppress(AlreadySettled, Expired):  # somebody or something was first: the job tells
            await self._units.write(caller, lambda call: _cancel(call, _changeable(call, stored), reason))
        return await self.job(job_id, caller)

    async def delete(self, job_id: str, caller: Caller) -> None:
        """Delete a job, as its maker or owner; a parked one is cancelled first (D18). Raises NoSuchJob."""
        stored = jobs.parse_id(job_id)

        def work(call: Call) -> None:
            job = _changeable(call, stored)
            _cancel(call, job, None)
            jobs.delete(call.tx, job)

        try:
            await self._units.write(caller, work)
        except Expired:
            await self._units.expire_due()
            await self._units.write(caller, work)

    async def feed(self, caller: Caller, after: int) -> tuple[int, Sequence[Event]]:
        """The version of the caller's own feed, and what came after one, oldest first, a page at a time."""

        def work(call: Call) -> tuple[int, Sequence[Event]]:
            found = events.read_after(call.tx, caller.user, after)
            return events.version(call.tx, caller.user), found

        return await self._units.read(caller, work)

    async def refuse(self, job_id: str, what: str, caller: Caller) -> None:
        """A message, a pause or a resume: no job of this venue takes one. Raises WrongState, NoSuchJob."""
        stored = jobs.parse_id(job_id)

        def work(call: Call) -> JobStatus:
            return _changeable(call, stored).status

        status = await self._units.read(caller, work)
        raise WrongState(f"Job {stored} is {status.value} and does not take a {what}")


def _cancel(call: Call, job: Job, reason: str | None) -> None:
    if job.status.finished:
        return
    if requests.find(call.tx, job.id) is not None:
        settle.cancel(call, job, reason)
    else:
        jobs.finish_row(call.tx, job, JobStatus.CANCELLED, call.now, error=reason or "Job cancelled")


def _visible(call: Call, job_id: str) -> Job:
    """A job that this caller may see: its maker, its owner, or a proof of `crud/read` on it (D23)."""
    access.admit(call.caller, ASKERS)
    _check_live(call)
    job = jobs.find(call.tx, job_id)
    if job is not None and _theirs(call, job):
        return job
    if job is not None and access.by_proof(call, "crud/read", f"{job.owner}/j/{job.id}"):
        return job
    raise NoSuchJob(f"No job {job_id}")


def _check_live(call: Call) -> None:
    """An agent that was revoked while it waited gets nothing more. Raises AuthRequired (`auth_required`)."""
    caller = call.caller
    if caller.agent_id is not None and agents.by_id(call.tx, caller.user, caller.agent_id) is None:
        raise AuthRequired("This agent was revoked")


def _changeable(call: Call, job_id: str) -> Job:
    """A job that this caller may change; a proof is enough to see one, and never enough to change it."""
    job = _visible(call, job_id)
    if not _theirs(call, job):
        raise Forbidden("A job is changed by its maker or its owner, and by nobody else")
    return job


def _theirs(call: Call, job: Job) -> bool:
    return call.caller.did in (job.maker, job.owner)
