"""The one table from a refusal's code to its HTTP status, and the body that carries it (house rule 5).

Every error body is `{"error": <a sentence>, "code": <stable>}`; a settled request adds how and when, an
idempotency key that was used otherwise the job it had made. A refusal is never a 500, and a 500 never says
more than that something failed here.
"""

import logging
from typing import Any

from fastapi import FastAPI, Request
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Match

from inbox.errors import AlreadySettled, Expired, InboxError, TooFast
from ops.errors import IdempotencyConflict, OpsError

from .respond import json_response

log = logging.getLogger("venue")

STATUS = {
    "invalid_json": 400,
    "invalid_input": 400,
    "unknown_operation": 400,
    "too_large": 400,
    "unauthorised": 401,
    "auth_required": 401,
    "denied": 403,
    "not_admitted": 403,
    "link_refused": 403,
    "agent_refused": 403,
    "capability_denied": 403,
    "operator_refused": 403,
    "weak_credential": 403,
    "token_refused": 403,
    "not_writable": 403,
    "unknown_host": 403,
    "foreign_origin": 403,
    "not_found": 404,
    "no_endpoint": 404,
    "method_not_allowed": 405,
    "not_acceptable": 406,
    "not_open": 409,
    "expired": 409,
    "stale_digest": 409,
    "wrong_state": 409,
    "idempotency_conflict": 409,
    "not_completed": 409,
    "body_too_large": 413,
    "unsupported_media_type": 415,
    "too_many_open": 429,
    "rate_limited": 429,
    "too_many_streams": 429,
    "internal": 500,
    "not_configured": 501,
    "store": 503,
    "store_busy": 503,
    "schema": 503,
    "shutting_down": 503,
}
"""Every code that a client can meet, and its status."""

_RETRY_AFTER = {
    "too_many_open": 60,
    "too_many_streams": 10,
    "store_busy": 1,
    "shutting_down": 2,
}


class HttpProblem(Exception):
    """A refusal that only exists on HTTP: a body that is no JSON, a credential that is no good."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def problem(code: str, message: str, retry_after: int | None = None, **more: Any) -> Response:
    """The response that a refusal amounts to; `retry_after` is in seconds."""
    headers = {"WWW-Authenticate": "Bearer"} if STATUS[code] == 401 else {}
    seconds = retry_after or _RETRY_AFTER.get(code)
    if seconds is not None:
        headers["Retry-After"] = str(seconds)
    return json_response({"error": message, "code": code, **more}, STATUS[code], headers)


def install(app: FastAPI) -> None:
    """Answer every error of every package through the table."""
    for kind in (OpsError, InboxError, HttpProblem):
        app.add_exception_handler(kind, _refusal)
    app.add_exception_handler(HTTPException, _framework)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _failure)


async def _refusal(_: Request, error: Exception) -> Response:
    code = error.code if isinstance(error, OpsError | InboxError | HttpProblem) else "store"
    if STATUS[code] >= 500 and not isinstance(error, HttpProblem):
        log.error("a request failed: %s", code, exc_info=error)
        return problem(code, "The venue cannot do this just now; nothing was changed")
    if isinstance(error, TooFast):
        return problem(code, str(error), retry_after=error.retry_after)
    if isinstance(error, AlreadySettled | Expired):
        return problem(code, str(error), how=error.how, when=error.when)
    if isinstance(error, IdempotencyConflict):
        return problem(code, str(error), job=error.job)
    return problem(code, str(error))


async def _framework(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 404:
        return problem("no_endpoint", f"Endpoint {request.method} {request.url.path} not found")
    if status == 405:
        allowed = {"Allow": ", ".join(_allowed(request))}
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=allowed)
        refusal = problem("method_not_allowed", f"{request.method} is not allowed on {request.url.path}")
        refusal.headers.update(allowed)
        return refusal
    return json_response({"error": "The request could not be read", "code": "invalid_json"}, status)


def _allowed(request: Request) -> list[str]:
    """Every method that this path has, over all its routes."""
    found = {"OPTIONS"}
    for router in request.app.state.routers:
        for route in router.routes:
            if route.matches(request.scope)[0] is not Match.NONE:
                found |= route.methods
    return sorted(found | {"HEAD"} if "GET" in found else found)


async def _failure(_: Request, error: Exception) -> Response:
    log.error("a request failed", exc_info=error)
    return problem("internal", "Something failed here; nothing was changed")


async def _gone(_: Request, __: Exception) -> Response:
    """A client that left in the middle of its request; nobody reads this."""
    return problem("invalid_json", "The request was not sent to its end")
