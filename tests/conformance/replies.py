"""What came of a step, and the one table from the venue's codes to the catalogue's kinds of error."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

KINDS: Mapping[str, str] = {
    "invalid_json": "invalid_input",
    "invalid_input": "invalid_input",
    "too_large": "invalid_input",
    "body_too_large": "invalid_input",
    "stale_digest": "invalid_input",
    "not_found": "not_found",
    "unknown_operation": "not_found",
    "not_open": "not_open",
    "wrong_state": "not_open",
    "expired": "expired",
    "unauthorised": "auth_required",
    "auth_required": "auth_required",
    "denied": "denied",
    "not_admitted": "denied",
    "not_writable": "denied",
    "operator_refused": "denied",
    "weak_credential": "denied",
    "token_refused": "denied",
    "unknown_host": "denied",
    "foreign_origin": "denied",
    "agent_refused": "agent_refused",
    "capability_denied": "capability_denied",
    "too_many_open": "limit",
    "too_many_streams": "limit",
    "rate_limited": "rate_limited",
    "config_error": "config_error",
}
"""From each code of ours that a scenario can meet to its kind. A code that is not here has no kind: an
endpoint that does not exist, or a failure of the venue, must never pass for a refusal."""


@dataclass
class Reply:
    """What came of a step. `code` is the venue's own; `settled` says whether the step changed a state."""

    ok: bool = True
    result: Any = None
    job: dict[str, Any] | None = None
    http: int | None = None
    code: str | None = None
    error: str | None = None
    settled: bool = False
    verdict: Any = None

    @property
    def kind(self) -> str | None:
        """The catalogue's kind of this error."""
        return None if self.code is None else KINDS.get(self.code)

    @property
    def job_id(self) -> str | None:
        """The id of the job in bare hex."""
        return None if self.job is None else str(self.job["id"]).removeprefix("0x")


def refused(code: str, error: str, http: int | None = None) -> Reply:
    """A step that was refused."""
    return Reply(ok=False, http=http, code=code, error=error)


def refusal_in(answer: httpx.Response) -> Reply | None:
    """The refusal that an HTTP answer is, if it is one."""
    if answer.status_code < 400:
        return None
    try:
        body = answer.json()
        return refused(str(body["code"]), str(body["error"]), answer.status_code)
    except (ValueError, KeyError, TypeError):
        return refused("unreadable", answer.text[:500], answer.status_code)


def of_job(answer: httpx.Response) -> Reply:
    """The reply of an endpoint that answers with a job: its output is the result, and FAILED is a refusal."""
    refusal = refusal_in(answer)
    if refusal is not None:
        return refusal
    job = answer.json()
    if job["status"] in ("FAILED", "CANCELLED", "REJECTED"):
        return Reply(ok=False, job=job, http=answer.status_code, error=job.get("error"))
    return Reply(result=job.get("output"), job=job, http=answer.status_code)


def of_value(answer: httpx.Response) -> Reply:
    """The reply of an endpoint that answers with a value, or with nothing."""
    refusal = refusal_in(answer)
    return refusal or Reply(result=answer.json() if answer.content else None, http=answer.status_code)
