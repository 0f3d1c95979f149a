"""The rules of a request's life: post, decide, delete, expire, cancel (D12-D14, D17-D19). Pure.

Each returns what is to be written; none writes. Times of records are epoch milliseconds, those of grants unix
seconds.
"""

from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from . import asks as forms
from . import consent, tokens
from .canonical import digest_of
from .errors import AlreadySettled, BadRequest, Expired, InboxError, LimitExceeded, StaleDigest
from .model import Ask, Reply, Request, Requester, Settlement, Status, Submission, Terms
from .settle import is_due

REJECTED = "HITL request rejected"
EXPIRED = "HITL request expired"


def post(
    posted: Submission, requester: Requester, owner: str, request_id: str, now: int, terms: Terms
) -> Request:
    """The record of a well-formed request. The venue alone sets who asked (D12); the digest covers all of it
    (D13).

    Raises BadRequest (`invalid_input`), LimitExceeded (`too_large`).
    """
    forms.check_submission(posted, owner, now // 1000, terms)
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


def decide(
    request: Request, reply: Reply, now: int, terms: Terms, revoked: Callable[[str], bool]
) -> Settlement:
    """What a responder's reply comes to, all of it checked (step 4 of the flow).

    `revoked` says of a token's hash whether it was revoked, for tokens given as answers. Raises
    AlreadySettled, Expired, StaleDigest (`stale_digest`), BadRequest (`invalid_input`), LimitExceeded
    (`too_large`), TokenRefused (`token_refused`).
    """
    check_open(request, now)
    if reply.digest is not None and reply.digest != request.digest:
        raise StaleDigest(f"Request {request.id} is not what was shown: its digest is {request.digest}")
    if reply.outcome == "reject":
        return _rejected(reply, terms)
    return _answered(request, reply, now // 1000, terms, revoked)


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


def _rejected(reply: Reply, terms: Terms) -> Settlement:
    forms.check_comments((), {}, reply.comment, terms.limits)
    response: dict[str, Any] = {"outcome": "reject"} | _given(comment=reply.comment)
    error = f"{REJECTED}: {reply.comment}" if reply.comment else REJECTED
    return Settlement(Status.REJECTED, response=response, error=error)


def _answered(
    request: Request, reply: Reply, now: int, terms: Terms, revoked: Callable[[str], bool]
) -> Settlement:
    asks, limits = _known(request), terms.limits
    answers = forms.check_answers(asks, reply.answers, limits)
    forms.check_comments(asks, reply.comments, reply.comment, limits)
    signed = tokens.check_tokens(request, answers, now, revoked)
    if len(reply.echoes) > limits.offers:
        raise LimitExceeded(f"grants: {len(reply.echoes)} is over the limit of {limits.offers} (offers)")
    grants = consent.consented(asks, reply, request.owner, now, terms.grants)
    response = {"outcome": "answer", "answers": tokens.without_tokens(answers, signed)} | _given(
        comments=dict(reply.comments),
        comment=reply.comment,
        grants=[dict(grant.said) for grant in grants],
    )
    output = {"id": request.id, **response} | _given(tokens={name: answers[name] for name in sorted(signed)})
    return Settlement(Status.ANSWERED, response=response, output=output, grants=grants, signed=signed)


def _known(request: Request) -> Sequence[Ask]:
    """The asks, all of which this version must know: what it cannot check it does not let anybody answer."""
    try:
        return request.asks
    except ValidationError:
        raise BadRequest(
            f"Request {request.id} holds an ask that this venue does not know; it can only be rejected"
        ) from None


def _given(**parts: Any) -> dict[str, Any]:
    """The parts that say something: absent is absent, never null or empty (D19)."""
    return {name: part for name, part in parts.items() if part}
