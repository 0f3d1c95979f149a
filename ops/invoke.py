"""From a named operation and its input to a committed effect (step 3 of the flow).

One call is one unit of work: who may call is decided before the input is looked at, the input before anything
is read, and the job is written in the transaction of its effect. A refusal leaves nothing behind but, where
the audit asks for it, its line.
"""

from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from inbox import audit
from inbox.canonical import digest_of
from inbox.errors import Expired, InboxError
from inbox.explain import explain

from . import access, jobs
from .errors import BadInput, IdempotencyConflict, OpsError
from .model import Call, Caller, Done, Job, JobStatus, Kind, Operation, Parked
from .registry import Registry
from .rules import without_secrets
from .units import Units


class Invoker:
    """Runs operations for callers."""

    def __init__(self, units: Units, registry: Registry) -> None:
        self._units = units
        self._registry = registry

    async def invoke(self, reference: str, data: Any, caller: Caller, key: str | None = None) -> Job:
        """Run an operation as a durable job and return that job, parked or finished.

        With an idempotency key, the same input gives the same job once more (D20). The returned job alone
        holds what the operation hands out once. Raises OpsError, InboxError.
        """
        operation = self._registry.find(reference)
        job_id = self._units.world.new_id()

        def work(call: Call) -> Job:
            access.admit(call.caller, operation.callers - {Kind.ANONYMOUS})  # a job belongs to somebody
            return _merged(call, operation, data, key) or _performed(call, operation, reference, data, key)

        try:
            return await self._units.write(caller, work, job_id)
        except (InboxError, OpsError) as error:
            if isinstance(error, Expired):
                await self._units.expire_due()
            if operation.audits_refusals and not caller.anonymous:
                await self._audit_refusal(operation, data, caller, error)
            raise

    async def run(self, reference: str, data: Any, caller: Caller, key: str | None = None) -> Job | Any:
        """Run an operation and return its bare output, or the parked job; one that only reads leaves no job.

        Raises OpsError, InboxError.
        """
        operation = self._registry.find(reference)
        if operation.read_only:
            return await self.read(operation, data, caller)
        job = await self.invoke(reference, data, caller, key)
        return job.output if job.status is JobStatus.COMPLETE else job

    async def read(self, operation: Operation, data: Any, caller: Caller) -> Any:
        """Run an operation that only reads."""

        def work(call: Call) -> Any:
            access.admit(call.caller, operation.callers)
            return operation.handler(call, _checked(operation, data))

        return await self._units.read(caller, work)

    async def _audit_refusal(
        self, operation: Operation, data: Any, caller: Caller, error: InboxError | OpsError
    ) -> None:
        named = data.get("id") if isinstance(data, dict) else None
        request = named[:64] if isinstance(named, str) else None

        def work(call: Call) -> None:
            audit.append(
                call.tx,
                caller.user,
                f"{operation.adapter}.refused",
                call.now,
                by=caller.did,
                channel=caller.channel,
                code=error.code,
                request=request,
            )

        await self._units.write(caller, work)


def _checked(operation: Operation, data: Any) -> Any:
    try:
        return operation.input.model_validate({} if data is None else data)
    except ValidationError as error:
        raise BadInput(explain(error)) from None


def _merged(call: Call, operation: Operation, data: Any, key: str | None) -> Job | None:
    """The job that this key has made before, if its input was the same.

    Raises IdempotencyConflict (`idempotency_conflict`) for another input.
    """
    if key is None:
        return None
    row = call.tx.one("idempotency.get", actor=call.caller.did, operation=operation.path, key=key)
    if row is None:
        return None
    if row["input"] != digest_of(data):
        raise IdempotencyConflict(row["job"])
    return jobs.find(call.tx, row["job"])


def _performed(call: Call, operation: Operation, reference: str, data: Any, key: str | None) -> Job:
    """Do it, and write the job in the same transaction; the returned one holds what is handed out once."""
    result = operation.handler(call, _checked(operation, data))
    output, kept = (result.output, result.input) if isinstance(result, Done) else (result, data)
    parked = isinstance(output, Parked)
    job = Job(
        id=call.job_id,
        op=reference,
        adapter=operation.adapter,
        name=operation.name,
        owner=call.caller.user,
        maker=call.caller.did,
        status=output.status if isinstance(output, Parked) else JobStatus.COMPLETE,
        input=without_secrets(kept, operation.hidden),
        output=None if parked else without_secrets(output, operation.secret),
        error=None,
        created=call.now,
        updated=call.now,
    )
    jobs.insert(call.tx, job)
    if key is not None:
        call.tx.run(
            "idempotency.insert",
            actor=call.caller.did,
            operation=operation.path,
            key=key,
            input=digest_of(data),
            job=job.id,
        )
    return job if parked else replace(job, output=output)
