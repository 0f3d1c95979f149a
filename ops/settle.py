"""THE transaction: whatever settles a request goes through `_land` (D16; steps 4 to 6 of the flow).

The decision was made on values; here the row is claimed by one guarded update, the winner alone signs, and
job, event, audit and ledger are written with it. Zero rows is an answer: it is read again and named. Nobody
is told before the commit.
"""

from inbox import audit, events, requests, rules
from inbox.consent import earliest
from inbox.errors import AlreadySettled, InboxError, NotFound, StoreError
from inbox.model import Reply, Request, Settlement, Status

from . import access, granting, jobs, receipts
from .errors import WrongState
from .model import Call, Job, JobStatus

_ENDS = {
    Status.ANSWERED: JobStatus.COMPLETE,
    Status.REJECTED: JobStatus.FAILED,
    Status.EXPIRED: JobStatus.FAILED,
    Status.CANCELLED: JobStatus.CANCELLED,
}


def answer(call: Call, request_id: str, reply: Reply) -> Settlement:
    """Settle a request of the caller's own inbox by an answer or a rejection; returns what it came to.

    The caller is a person: the operation refuses agents before it looks anything up. Raises NotFound
    (`not_found`), AlreadySettled (`not_open`), Expired (`expired`), StaleDigest, BadRequest, NotGrantable.
    """
    request = _mine(call, request_id)
    settlement = rules.decide(request, reply, call.now, call.world.terms, access.revocations(call.tx))
    _land(call, request, settlement, resolver=call.caller.did)
    return settlement


def delete(call: Call, request_id: str) -> bool:
    """Remove a record from the caller's own inbox; an open one is rejected first (D18). False: none."""
    request = requests.get(call.tx, call.caller.user, request_id)
    if request is None:
        return False
    if request.status is Status.OPEN:
        _land(call, request, rules.delete_open(request, call.now), resolver=call.caller.did)
    requests.delete(call.tx, request.owner, request.id)
    audit.append(call.tx, request.owner, "request.deleted", call.now, request=request.id, by=call.caller.did)
    events.append(call.tx, request.owner, "request.deleted", request.id, call.now)
    return True


def cancel(call: Call, job: Job, reason: str | None) -> None:
    """Withdraw the question behind a parked job (D18).

    Raises AlreadySettled, Expired when it was settled first.
    """
    request = requests.find(call.tx, job.id)
    if request is None:
        raise WrongState(
            f"The request behind job {job.id} is gone; the venue will close the job when it starts again"
        )
    rules.check_open(request, call.now)
    _land(call, request, rules.cancel(reason), resolver=call.caller.did)


def expire(call: Call, request_id: str) -> bool:
    """Settle a request whose deadline passed (D17); False when somebody else was first, or it is not due."""
    request = requests.find(call.tx, request_id)
    if request is None or request.status is not Status.OPEN:
        return False
    try:
        _land(call, request, rules.expire(), resolver=None)
    except AlreadySettled:
        return False
    return True


def withdraw_all(call: Call, requester: str, reason: str) -> int:
    """Cancel every open request of one principal; returns how many there were."""
    withdrawn = 0
    for request_id in requests.open_by_requester(call.tx, call.caller.user, requester):
        request = requests.find(call.tx, request_id)
        if request is not None and rules.why_closed(request, call.now) is None:
            _land(call, request, rules.cancel(reason), resolver=call.caller.did)
            withdrawn += 1
    return withdrawn


def withdraw(call: Call, request: Request) -> None:
    """Cancel an open request whose job is gone: the safe side at launch (D21)."""
    _land(call, request, rules.cancel(None), resolver=None)


def _mine(call: Call, request_id: str) -> Request:
    request = requests.get(call.tx, call.caller.user, request_id)
    if request is None:
        raise NotFound(f"No HITL request {request_id} in your inbox")
    return request


def _land(call: Call, request: Request, settlement: Settlement, resolver: str | None) -> None:
    """Claim the row, then write everything that must be true together with it."""
    tx, now = call.tx, call.now
    channel = None if resolver is None else call.caller.channel
    if not requests.settle_row(tx, request.id, settlement, resolver, channel, now):
        raise _lost(call, request)
    _finish_job(call, request, settlement)
    kind = f"request.{settlement.status.value}"
    events.append(tx, request.owner, kind, request.id, now)
    line = audit.append(
        tx,
        request.owner,
        kind,
        now,
        request=request.id,
        digest=request.digest,
        requester=request.requester,
        resolver=resolver,
        channel=channel,
    )
    receipts.write(call, request, settlement, line, resolver, channel)


def _finish_job(call: Call, request: Request, settlement: Settlement) -> None:
    job = jobs.find(call.tx, request.id)
    if job is None or job.status.finished:
        if settlement.status in (Status.ANSWERED, Status.REJECTED):
            raise WrongState(f"The job behind request {request.id} is gone: nobody would hear the answer")
        return
    output = None if settlement.output is None else dict(settlement.output)
    if output is not None and settlement.grants:
        output["token"] = granting.confer(
            call,
            settlement.grants,
            audience=request.requester,
            exp=earliest(settlement.grants),
            request=request.id,
        )
    jobs.finish_row(call.tx, job, _ENDS[settlement.status], call.now, output=output, error=settlement.error)


def _lost(call: Call, request: Request) -> InboxError:
    """Zero rows: somebody else was first. Read the row again and say who won."""
    current = requests.find(call.tx, request.id)
    if current is None:
        return NotFound(f"No HITL request {request.id} in your inbox")
    return rules.why_closed(current, call.now) or StoreError(f"request {request.id} could not be settled")
