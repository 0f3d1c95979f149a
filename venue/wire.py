"""What comes over the wire, decoded strictly, or refused with a sentence (D20, D22; `wire.md` 2.3)."""

from typing import Annotated, Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from inbox.explain import explain
from ucan.errors import Malformed
from ucan.strict import loads

from .problems import HttpProblem

M = TypeVar("M", bound=BaseModel)

MAX_WAIT = 120.0
"""The longest that an invoke waits, in seconds."""

_MAX_PROOFS = 16
_MAX_KEY = 255
_WAIT = {
    "anyOf": [
        {"type": ["boolean", "null"]},
        {"type": "integer", "minimum": 0},
        {"type": "string", "pattern": "^(true|false|[0-9]+)$"},
    ]
}


class InvokeBody(BaseModel):
    """The body of `invoke` and `run`. `ucans` are proofs; they never say who calls, and are never stored."""

    model_config = ConfigDict(strict=True)

    operation: str
    input: Any = None
    ucans: list[str] = Field(
        default=[],
        description="Capability tokens as proofs; never stored.",
        json_schema_extra={"maxItems": _MAX_PROOFS},
    )
    wait: Annotated[bool | int | str | None, WithJsonSchema(_WAIT)] = Field(
        default=None,
        description="Milliseconds to wait for the end of the job, at most 120,000 (true). Invoke only.",
    )
    private: Annotated[bool, WithJsonSchema({"const": False})] = Field(
        default=False, description="Every job of this venue is recorded."
    )

    @property
    def judged(self) -> list[str]:
        """A token that the operation is asked about, as `ucan:verify` and `ucan:revoke` are."""
        token = self.input.get("token") if isinstance(self.input, dict) else None
        return [token] if isinstance(token, str) else []

    def __repr__(self) -> str:
        return f"InvokeBody({self.operation!r})"


class LinkBody(BaseModel):
    """Whose link, its code, and a JWT by the fresh key that names the user as its subject."""

    model_config = ConfigDict(strict=True, extra="forbid")

    user: str
    code: str
    proof: str

    def __repr__(self) -> str:
        return f"LinkBody({self.user!r})"


class CancelBody(BaseModel):
    """The optional body of a cancel."""

    model_config = ConfigDict(strict=True)

    reason: str | None = None


async def json_body(request: Request) -> Any:
    """The body as JSON, or None when there is none. Raises HttpProblem (`invalid_json`)."""
    raw = await request.body()
    if not raw:
        return None
    try:
        return loads(raw, max_depth=request.app.state.settings.limits.depth)
    except Malformed as error:
        raise HttpProblem("invalid_json", f"Request body is not valid JSON: {error}") from None


async def invoke_body(request: Request) -> InvokeBody:
    """The body of `invoke` and `run`. Raises HttpProblem (`invalid_json`, `invalid_input`)."""
    body = _model(InvokeBody, await json_body(request))
    if body.private:
        raise HttpProblem("invalid_input", "private: every job of this venue is recorded")
    check_proofs(body.ucans)
    wait_seconds(None, body.wait)
    return body


async def cancel_body(request: Request) -> CancelBody:
    """The body of a cancel; none is as good as an empty one."""
    body = await json_body(request)
    return _model(CancelBody, {} if body is None else body)


def idempotency_key(request: Request) -> str | None:
    """The Idempotency-Key of a call. Raises HttpProblem (`invalid_input`)."""
    key = request.headers.get("idempotency-key")
    if key is not None and (not 1 <= len(key) <= _MAX_KEY or not key.isascii() or not key.isprintable()):
        raise HttpProblem("invalid_input", f"Idempotency-Key: 1 to {_MAX_KEY} printable ASCII characters")
    return key


def header_proofs(request: Request) -> tuple[str, ...]:
    """The proofs that came with a body-less read, in `X-Covia-Ucans`, separated by commas."""
    header = request.headers.get("x-covia-ucans", "")
    proofs = tuple(part.strip() for part in header.split(",") if part.strip())
    check_proofs(proofs)
    return proofs


def check_proofs(proofs: list[str] | tuple[str, ...]) -> None:
    """Raises HttpProblem (`too_large`) for more proofs than a chain may have (D8).

    One that is too large by itself is no error of the call, but void like any other bad proof.
    """
    if len(proofs) > _MAX_PROOFS:
        raise HttpProblem("too_large", f"ucans: at most {_MAX_PROOFS} proofs")


def wait_seconds(query: str | None, body: bool | int | str | None) -> float:
    """How long to wait for a job, in seconds; the query overrides the body. Raises HttpProblem
    (`invalid_input`).
    """
    asked: bool | int | str | None = query if query is not None else body
    if isinstance(asked, str):
        asked = {"true": True, "false": False}.get(asked, _milliseconds(asked))
    if asked is None or asked is False:
        return 0.0
    if asked is True:
        return MAX_WAIT
    if asked < 0:
        raise HttpProblem("invalid_input", "wait: must be true, false or a number of milliseconds")
    return min(asked / 1000, MAX_WAIT)


def _milliseconds(text: str) -> int:
    """The number that digits are, -1 for anything else; beyond any wait it is not read to its end."""
    return int(text[:16]) if text.isascii() and text.isdigit() else -1


def query_text(request: Request, name: str) -> str | None:
    """One value of the query, said at most once. Raises HttpProblem (`invalid_input`)."""
    said = request.query_params.getlist(name)
    if len(said) > 1:
        raise HttpProblem("invalid_input", f"{name}: is said {len(said)} times")
    return said[0] if said else None


def whole_number(request: Request, name: str, default: int) -> int:
    """A whole number of the query. Raises HttpProblem (`invalid_input`)."""
    text = query_text(request, name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise HttpProblem("invalid_input", f"{name}: must be a whole number, not negative")
    return int(text)


async def body_of(request: Request, kind: type[M]) -> M:
    """The body of a request as a model. Raises HttpProblem (`invalid_json`, `invalid_input`)."""
    return _model(kind, await json_body(request))


def page_offset(request: Request) -> int:
    """Where a page begins; before the beginning is the beginning (`wire.md` 2.5). Raises HttpProblem."""
    text = query_text(request, "offset") or ""
    if text.startswith("-") and text[1:].isascii() and text[1:].isdigit():
        return 0
    return whole_number(request, "offset", 0)


def _model(kind: type[M], value: Any) -> M:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise HttpProblem("invalid_input", explain(error)) from None
