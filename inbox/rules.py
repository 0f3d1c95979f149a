"""The rules of a request's life: post, decide, delete, expire, cancel (D12-D14, D17-D19). Pure.

Each returns what is to be written; none writes. Times of records are epoch milliseconds, those of grants unix
seconds.
"""

from typing import Any

from . import asks as forms
from . import consent
from .canonical import digest_of
from .errors import AlreadySettled, BadRequest, Expired, InboxError, StaleDigest
from .model import GrantPolicy, Limits, Reply, Request, Requester, Settlement, Status, Submission
from .settle import is_due

REJECTED = "HITL request rejected"
EXPIRED = "HITL request expired"


def post(
    posted: Submission,
    requester: Requester,
    owner: str,
    request_id: str,
    now: int,
    policy: GrantPolicy,
    limits: Limits,
) -> Request:
    """The record of a well-formed request. The venue alone sets who asked (D12); the digest covers all of it
    (D13).

    Raises BadRequest (`invalid_input`), LimitExceeded (`too_large`).
    """
    forms.check_submission(posted, owner, now // 1000, policy, limits)
    expires = None if posted.timeout is None else now + posted.timeout * 1000
    said: dict[str, Any] = {
        "id": request_id,
        "from": requester.did,
        "agent": None if requester.agent_id is None else f"g/{requester.agent_id}",
        "title": posted.title,
        "description": posted.description,
        "asks": posted.raw_asks,
        "created": now,
        "expires": expires,
    }
    body = {name: value for name, value in said.items() if value is not None}
    return Request(
        id=request_id,
        owner=owner,
        requester=requester.did,
        maker=requester.user,
        body=body,
        digest=digest_of(body),
        created=now,
        expires=expires,
    )


def why_closed(request: Request, now: int) -> InboxError | None:
    """What keeps a request from being settled now: AlreadySettled, Expired, or None when it is open."""
    if request.status is Status.EXPIRED or (request.status is Status.OPEN and is_due(now, request.expires)):
        return Expired(request.id, request.expires or 0)
    if request.status is not Status.OPEN:
        return AlreadySettled(request.id, request.status.value, request.settled or 0)
    return None


def check_open(request: Request, now: int) -> None:
    """Raises AlreadySettled (`not_open`) for a settled request, Expired (`expired`) for one past its
    deadline.
    """
    closed = why_closed(request, now)
    if closed is not None:
        raise closed


def decide(request: Request, reply: Reply, now: int, policy: GrantPolicy, limits: Limits) -> Settlement:
    """What a responder's reply comes to, all of it checked (step 4 of the flow).

    Raises AlreadySettled, Expired, StaleDigest (`stale_digest`), BadRequest (`invalid_input`), LimitExceeded
    (`too_large`).
    """
    check_open(request, now)
    if reply.digest is not None and reply.digest != request.digest:
        raise StaleDigest(
            f"Request {request.id} is not the one that was shown: its digest is {request.digest}"
        )
    return (
        _rejected(request, reply, limits)
        if reply.outcome == "reject"
        else _answered(request, reply, now, policy, limits)
    )


def delete_open(request: Request, now: int) -> Settlement:
    """Deleting an open record is the owner's rejection of it (D18). Raises AlreadySettled, Expired."""
    check_open(request, now)
    return Settlement(Status.REJECTED, response={"outcome": "reject"}, error=REJECTED)


def expire() -> Settlement:
    """The deadline passed: not a rejection, and nobody resolved it (D17)."""
    return Settlement(Status.EXPIRED, error=EXPIRED)


def cancel(reason: str | None) -> Settlement:
    """The requester, or its owner, withdrew the question (D18)."""
    return Settlement(Status.CANCELLED, error=reason or "HITL request cancelled")


def _rejected(request: Request, reply: Reply, limits: Limits) -> Settlement:
    forms.check_comments(request.asks, {}, reply.comment, limits)
    response: dict[str, Any] = {"outcome": "reject"} | _given(comment=reply.comment)
    error = f"{REJECTED}: {reply.comment}" if reply.comment else REJECTED
    return Settlement(Status.REJECTED, response=response, error=error)


def _answered(request: Request, reply: Reply, now: int, policy: GrantPolicy, limits: Limits) -> Settlement:
    asks = request.asks
    answers = forms.check_answers(asks, reply.answers, limits)
    forms.check_comments(asks, reply.comments, reply.comment, limits)
    if len(reply.echoes) > limits.offers:
        raise BadRequest(f"grants: more echoes than a request can have offers ({limits.offers})")
    grants = consent.consented(asks, reply, request.owner, now // 1000, policy)
    response: dict[str, Any] = {"outcome": "answer", "answers": answers} | _given(
        comments=dict(reply.comments),
        comment=reply.comment,
        grants=[dict(grant.offered) for grant in grants],
    )
    return Settlement(
        Status.ANSWERED, response=response, output={"id": request.id, **response}, grants=grants
    )


def _given(**parts: Any) -> dict[str, Any]:
    """The parts that say something: absent is absent, never null or empty (D19)."""
    return {name: part for name, part in parts.items() if part}
