"""A token that the responder signed, given as the answer to a token ask (D15). Pure.

Its capabilities are not judged: the person decided. What is judged is that this person signed it, for the one
that it was asked for, and that it ends.
"""

from collections.abc import Callable, Mapping
from typing import Any

from ucan.chain import is_did_key
from ucan.verify import verify

from .errors import BadRequest, TokenRefused
from .model import Ask, Request

DELIVERED = "<signed token delivered to requester>"
"""Stands wherever a signed token was given, but in the output of the job that asked for it."""

_FORM = {"malformed", "unsupported", "too_large", "expired", "not_yet", "too_deep"}


def check_tokens(
    request: Request, answers: Mapping[str, Any], now: int, revoked: Callable[[str], bool]
) -> frozenset[str]:
    """Check every answer to a token ask; returns the ids of those asks. `now` is in unix seconds.

    Raises BadRequest (`invalid_input`) for what is no live token that ends, TokenRefused (`token_refused`)
    for one that is another's, or for another.
    """
    asked = {ask.id: ask for ask in request.asks if ask.type == "token" and ask.id in answers}
    for name, ask in asked.items():
        _check(request, ask, answers[name], now, revoked)
    return frozenset(asked)


def without_tokens(answers: Mapping[str, Any], signed: frozenset[str]) -> dict[str, Any]:
    """Answers as everybody but the requester may see them."""
    return {name: DELIVERED if name in signed else answer for name, answer in answers.items()}


def _check(request: Request, ask: Ask, text: str, now: int, revoked: Callable[[str], bool]) -> None:
    place = f"answers.{ask.id}"
    verdict = verify(text, now=now, revoked=revoked)
    if not verdict and verdict.link == 0 and verdict.code in _FORM:
        raise BadRequest(f"{place}: {verdict.reason}")
    if not verdict or verdict.token is None:
        raise TokenRefused(f"{place}: {verdict.reason}")
    token = verdict.token
    if not token.att:
        raise BadRequest(f"{place}: the token confers nothing")
    if token.exp is None:
        raise BadRequest(f"{place}: the token must end at some time")
    if token.iss != request.owner or not is_did_key(token.iss):
        raise TokenRefused(f"{place}: the token must be signed by your own key")
    if token.aud != (ask.token.audience if ask.token and ask.token.audience else request.requester):
        raise TokenRefused(f"{place}: the token is for somebody else than this ask names")
