"""From a named operation and its input to a committed effect (step 3 of the flow).

One call is one unit of work: who may call is decided before the input is looked at, the input before anything
is read, and the job is written in the transaction of its effect. A refusal leaves nothing behind but, where
the audit asks for it, its line.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import ValidationError

from inbox import audit, requests
from inbox.clock import millis
from inbox.errors import AlreadySettled, Expired, InboxError
from inbox.explain import explain
from inbox.store.base import Database, Transaction

from . import access, jobs, settle, sweep, values
from .errors import BadInput, Forbidden, NoSuchJob, OpsError
from .model import ASKERS, Call, Caller, Job, JobStatus, Operation, Parked, World
from .registry import Registry
from .rules import without_secrets

T = TypeVar("T")


class Invoker:
    """Runs operations for callers, on one database."""

    def __init__(self, db: Database, world: World, registry: Registry) -> None:
        self._db = db
        self._world = world
        self._registry = registry

    async def invoke(self, reference: str, data: Any, caller: Caller) -> Job:
        """Run an operation as a durable job and return that job, parked or finished.

        The returned job alone holds what the operation hands out once. Raises OpsError, InboxError.
        """
        operation = self._registry.find(reference)
        return await self._write(operation, reference, data, caller)

    async def run(self, reference: str, data: Any, caller: Caller) -> Job | Any:
        """Run an operation and return its bare output, or the parked job; one that only reads leaves no job.

        Raises OpsError, InboxError.
        """
        operation = self._registry.find(reference)
        if operation.read_only:
            return await self.read(operation, data, caller)
        job = await self._write(operation, reference, data, caller)
        return job.output if job.status.finished else job

    async def read(self, operation: Operation, data: Any, caller: Caller) -> Any:
        """Run an operation that only reads."""
        job_id = self._world.new_id()

        def work(tx: Transaction) -> Any:
            call = self._call(tx, caller, job_id)
            return operation.handler(call, _checked(operation, call, data))

        return await self.fresh(work)

    async def job(self, job_id: str, caller: Caller) -> dict[str, Any]:
        """A job as this caller may see it. Raises NoSuchJob (`not_found`), BadInput, AuthRequired."""
        stored = jobs.parse_id(job_id)

        def work(tx: Transaction) -> dict[str, Any]:
            call = self._call(tx, caller, stored)
            return values.served(call, _visible(call, stored))

        return await self.fresh(work)

    async def cancel(self, job_id: str, reason: str | None, caller: Caller) -> dict[str, Any]:
        """Cancel a job, as its maker or owner;
        a finished one is returned unchanged (D18). Raises NoSuchJob.
        """
        stored = jobs.parse_id(job_id)

        def work(tx: Transaction) -> None:
            call = self._call(tx, caller, stored)
            job = _changeable(call, stored)
            if not job.status.finished:
                settle.cancel(call, job, reason)

        with suppress(AlreadySettled, Expired):  # somebody or something was first: the job tells
            await self._db.write(work)
        return await self.job(job_id, caller)

    async def fresh(self, work: Callable[[Transaction], T]) -> T:
        """Read in one snapshot in which no open request is past its deadline (D17):
        what is due expires first.
        """
        now = millis(self._world.clock())

        def guarded(tx: Transaction) -> tuple[bool, T | None]:
            return (True, None) if requests.any_due(tx, now) else (False, work(tx))

        due, result = await self._db.read(guarded)
        if due:
            await sweep.expire_due(self._db, self._world)
            return await self._db.read(work)
        return result  # type: ignore[return-value]

    def _call(self, tx: Transaction, caller: Caller, job_id: str) -> Call:
        return Call(tx, self._world, caller, millis(self._world.clock()), job_id)

    async def _write(self, operation: Operation, reference: str, data: Any, caller: Caller) -> Job:
        job_id = self._world.new_id()

        def work(tx: Transaction) -> Job:
            call = self._call(tx, caller, job_id)
            output = operation.handler(call, _checked(operation, call, data))
            return _recorded(call, operation, reference, data, output)

        try:
            return await self._db.write(work)
        except Expired:
            await sweep.expire_due(self._db, self._world)
            raise
        except (InboxError, OpsError) as error:
            if operation.audits_refusals and not caller.anonymous:
                await self._audit_refusal(operation, data, caller, error)
            raise

    async def _audit_refusal(
        self,
        operation: Operation,
        data: Any,
        caller: Caller,
        error: InboxError | OpsError,
    ) -> None:
        named = data.get("id") if isinstance(data, dict) else None
        request = named[:64] if isinstance(named, str) else None

        def work(tx: Transaction) -> None:
            audit.append(
                tx,
                caller.user,
                f"{operation.adapter}.refused",
                millis(self._world.clock()),
                by=caller.did,
                channel=caller.channel,
                code=error.code,
                request=request,
            )

        await self._db.write(work)


def _checked(operation: Operation, call: Call, data: Any) -> Any:
    """Who may call, then what they say:
    in this order, so that an agent learns nothing from the input's fate (D14).
    """
    access.admit(call.caller, operation.callers)
    try:
        return operation.input.model_validate({} if data is None else data)
    except ValidationError as error:
        raise BadInput(explain(error)) from None


def _recorded(call: Call, operation: Operation, reference: str, data: Any, output: Any) -> Job:
    """Write the job of a call in the transaction of its effect;
    the returned one holds what is handed out once.
    """
    parked = isinstance(output, Parked)
    job = Job(
        id=call.job_id,
        op=reference,
        adapter=operation.adapter,
        name=operation.name,
        owner=call.caller.user,
        maker=call.caller.did,
        status=output.status if isinstance(output, Parked) else JobStatus.COMPLETE,
        input=data,
        output=None if parked else without_secrets(output, operation.secret),
        error=None,
        created=call.now,
        updated=call.now,
    )
    jobs.insert(call.tx, job)
    return job if parked else replace(job, output=output)


def _visible(call: Call, job_id: str) -> Job:
    """A job that this caller may see: its maker, its owner, or a proof of `crud/read` on it (D23)."""
    access.admit(call.caller, ASKERS)
    job = jobs.find(call.tx, job_id)
    if job is not None and _theirs(call, job):
        return job
    if job is not None and access.by_proof(call, "crud/read", f"{job.owner}/j/{job.id}"):
        return job
    raise NoSuchJob(f"No job {job_id}")


def _changeable(call: Call, job_id: str) -> Job:
    """A job that this caller may change; a proof is enough to see one, and never enough to change it."""
    job = _visible(call, job_id)
    if not _theirs(call, job):
        raise Forbidden("A job is changed by its maker or its owner, and by nobody else")
    return job


def _theirs(call: Call, job: Job) -> bool:
    return call.caller.did in (job.maker, job.owner)
