"""The OpenAPI document of the HTTP surface.

Paths and words come from the routes, the bodies from the models, every status from the one table of refusals;
what only a person can know of a route, its queries, its refusals and who may call it, stands in `ROUTES`.
It is made when somebody first asks for it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from ops.builtin import covia_read, proofs
from ops.model import Operation

from . import shapes
from .problems import STATUS
from .version import VERSION
from .wire import CancelBody, InvokeBody, LinkBody

JSON = "application/json"
_REF = "#/components/schemas/{model}"
_LARGEST = 10**15 - 1
Schema = dict[str, Any]

_ANYWAY = ("unknown_host",)
_STORED = ("store", "store_busy")
_SENT = ("foreign_origin", "unsupported_media_type", "body_too_large", "invalid_json", "invalid_input")
_CALLED = (*_STORED, "unauthorised", "not_admitted", "rate_limited")
_KNOWN = (*_CALLED, "auth_required", "operator_refused")
_READ = (
    *(*_KNOWN, "invalid_input", "too_large", "denied", "capability_denied"),
    *("weak_credential", "agent_refused"),
)
_JOB = (*_KNOWN, "invalid_input", "too_large", "not_found", "no_endpoint")
_JOB_CHANGED = (*_JOB, *_SENT, "denied")
_OPERATED = (
    *(*_READ, *_SENT, "unknown_operation", "token_refused", "not_writable", "not_found", "not_open"),
    *("expired", "stale_digest", "wrong_state", "idempotency_conflict", "too_many_open"),
)


@dataclass(frozen=True, slots=True)
class Said:
    """What is said of a route beyond its path and docstring."""

    answers: Mapping[int, Any] = field(default_factory=dict)
    codes: tuple[str, ...] = ()
    query: tuple[Schema, ...] = ()
    headers: tuple[str, ...] = ()
    body: type[BaseModel] | bool = False
    media: str = JSON
    bearer: bool | None = True
    """Whether a bearer is needed; None where one is looked at and not needed, False where it is ignored."""


def _query(name: str, schema: Schema, *, required: bool = False) -> Schema:
    described = {"description": schema["description"]} if "description" in schema else {}
    bare = {key: value for key, value in schema.items() if key not in ("description", "title")}
    return {"name": name, "in": "query", "required": required, "schema": bare, **described}


def _number(name: str, description: str, **bounds: int) -> Schema:
    return _query(name, {"type": "integer", "maximum": _LARGEST, **bounds, "description": description})


def _from_model(model: type[BaseModel], *, without: Iterable[str] = ()) -> tuple[Schema, ...]:
    """The query parameters that an operation's input has on its GET; the path is one string there."""
    parameters = []
    for name, schema in model.model_json_schema().get("properties", {}).items():
        if name in without:
            continue
        if name == "path":
            text = {"type": "string", "minLength": 1, "description": schema["description"]}
            parameters.append(_query("path", text, required=True))
        elif name == "fields":
            listed = {"type": "array", "items": {"type": "string"}, "maxItems": 16}
            plain = {**_query("fields", {**listed, "description": schema["description"]})}
            parameters.append({**plain, "style": "form", "explode": False})
        elif schema.get("type") == "integer":
            parameters.append(_query(name, {"maximum": _LARGEST, **schema}))
        else:
            kinds = [kind for kind in schema.get("anyOf", [schema]) if kind.get("type") != "null"]
            parameters.append(_query(name, {**kinds[0], "description": schema["description"]}))
    return tuple(parameters)


_PAGE = (
    _number("offset", "How many to pass over; below none is none."),
    _number("limit", "How many at most.", minimum=0, maximum=1_000),
)
_WAIT = _query(
    "wait",
    {
        "type": "string",
        "pattern": "^(true|false|[0-9]{1,15})$",
        "description": "Milliseconds to wait for the end of the job, at most 120,000 (true).",
    },
)
_IDEMPOTENT, _PROOFS = "Idempotency-Key", "X-Covia-Ucans"
_HEADERS: Mapping[str, Schema] = {
    _IDEMPOTENT: {
        "schema": {"type": "string", "pattern": "^[ -~]{1,255}$"},
        "description": "The same key and input give the same result once more, and change nothing (D20).",
    },
    _PROOFS: {
        "schema": {"type": "string"},
        "description": "Capability tokens as proofs, separated by commas; they never say who calls.",
    },
    "Last-Event-ID": {
        "schema": {"type": "string"},
        "description": "The version after which the stream goes on.",
    },
    "If-None-Match": {"schema": {"type": "string"}, "description": "The ETag of what the client has."},
}
_STREAM = (*_JOB, "not_acceptable", "too_many_streams")


def _values(model: type[BaseModel], output: type[BaseModel], **more: Any) -> Said:
    without = more.pop("without", ())
    answers = {200: output, **more.pop("answers", {})}
    headers = (_PROOFS, *more.pop("headers", ()))
    return Said(answers, _READ, _from_model(model, without=without), headers, bearer=None)


ROUTES: Mapping[str, Said] = {
    "GET /api/v1/status": Said({200: shapes.VenueStatus}, bearer=False),
    "GET /.well-known/did.json": Said({200: shapes.DidDocument}, media="application/did+json", bearer=False),
    "GET /.well-known/mcp": Said({200: shapes.McpPointer}, bearer=False),
    "GET /.well-known/agent-card.json": Said({}, ("not_configured",), bearer=False),
    "GET /u/{name}/did.json": Said(
        {200: shapes.DidDocument},
        (*_STORED, "not_found", "no_endpoint"),
        media="application/did+json",
        bearer=False,
    ),
    "GET /healthz": Said({200: shapes.Health}, bearer=False),
    "GET /readyz": Said({200: shapes.Health}, ("store",), bearer=False),
    "POST /api/v1/invoke": Said(
        {200: shapes.JobRecord, 201: shapes.JobRecord},
        (*_OPERATED, "not_found"),
        (_WAIT,),
        (_IDEMPOTENT,),
        InvokeBody,
    ),
    "POST /api/v1/run": Said(
        {200: None},
        (*_OPERATED, "not_completed", "shutting_down"),
        (),
        (_IDEMPOTENT,),
        InvokeBody,
        bearer=None,
    ),
    "POST /api/v1/link": Said(
        {200: proofs.KeyOutput}, (*_CALLED, *_SENT, "link_refused", "wrong_state"), body=LinkBody, bearer=None
    ),
    "GET /api/v1/jobs": Said({200: shapes.IdPage}, (*_KNOWN, "invalid_input"), _PAGE),
    "GET /api/v1/jobs/{job_id}": Said({200: shapes.JobRecord}, _JOB, (), (_PROOFS,)),
    "POST /api/v1/jobs/{job_id}": Said({}, (*_JOB_CHANGED, "wrong_state"), body=True),
    "PUT /api/v1/jobs/{job_id}/cancel": Said({200: shapes.JobRecord}, _JOB_CHANGED, body=CancelBody),
    "PUT /api/v1/jobs/{job_id}/delete": Said({200: shapes.Deleted}, _JOB_CHANGED),
    "PUT /api/v1/jobs/{job_id}/pause": Said({}, (*_JOB_CHANGED, "wrong_state")),
    "PUT /api/v1/jobs/{job_id}/resume": Said({}, (*_JOB_CHANGED, "wrong_state")),
    "GET /api/v1/jobs/{job_id}/history": Said({200: shapes.History}, _JOB, (), (_PROOFS,)),
    "GET /api/v1/jobs/{job_id}/receipt": Said({200: shapes.Receipt}, _JOB, (), (_PROOFS,)),
    "GET /api/v1/jobs/{job_id}/sse": Said(
        {200: ("job-update",)}, _STREAM, (), (_PROOFS,), media="text/event-stream"
    ),
    "GET /api/v1/inbox/sse": Said(
        {200: ("resync", "change")},
        (*_KNOWN, "agent_refused", "weak_credential", "not_acceptable", "too_many_streams"),
        (),
        ("Last-Event-ID",),
        media="text/event-stream",
    ),
    "GET /api/v1/operations": Said({200: [shapes.OperationInfo]}, _CALLED, bearer=None),
    "GET /api/v1/operations/{path}": Said({200: shapes.OperationInfo}, (*_CALLED, "not_found"), bearer=None),
    "GET /api/v1/adapters/{name}/operations": Said(
        {200: {"": shapes.OperationMetadata}}, (*_CALLED, "not_found", "no_endpoint"), bearer=None
    ),
    "GET /api/v1/assets": Said({200: shapes.IdPage}, (*_KNOWN, "invalid_input"), _PAGE),
    "GET /api/v1/values/read": _values(
        covia_read.ReadInput,
        covia_read.ReadOutput,
        answers={304: None},
        headers=("If-None-Match",),
    ),
    "GET /api/v1/values/list": _values(covia_read.ListInput, covia_read.ListOutput),
    "GET /api/v1/values/slice": _values(covia_read.SliceInput, covia_read.SliceOutput),
    "GET /api/v1/values/inspect": _values(
        covia_read.InspectInput, covia_read.InspectOutput, without=("paths",)
    ),
    "GET /api/v1/values/count": _values(
        covia_read.AggregateInput, covia_read.AggregateOutput, without=("groupBy",)
    ),
    "GET /api/v1/values/aggregate": _values(covia_read.AggregateInput, covia_read.AggregateOutput),
}
"""What is said of each route, by method and path."""


def install(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Serve this document at /openapi.json in the place of the one that FastAPI would guess."""
    made: list[Schema] = []

    def openapi() -> Schema:
        if not made:
            made.append(document(app, routers))
        return made[0]

    app.openapi = openapi  # type: ignore[method-assign]


def document(app: FastAPI, routers: Sequence[APIRouter]) -> Schema:
    """The whole document."""
    operations: list[Operation] = list(app.state.registry)
    models = _Models(operations)
    paths: dict[str, Schema] = {}
    for key, route in routes(routers):
        method, path = key.split(" ")
        paths.setdefault(path, {})[method.lower()] = _operation(route, ROUTES[key], models, operations)
    bearer = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
    said = "A JWT signed by your own key, an agent's token, a sign-in, or an identity UCAN."
    return {
        "openapi": "3.1.0",
        "info": {
            "title": app.state.settings.name,
            "version": VERSION,
            "description": "Agents ask, people decide, a yes becomes a capability token.",
        },
        "servers": [{"url": app.state.settings.public_url or "/"}],
        "paths": paths,
        "components": {
            "schemas": models.schemas,
            "securitySchemes": {"bearer": {**bearer, "description": said}},
        },
    }


def routes(routers: Sequence[APIRouter]) -> Iterator[tuple[str, APIRoute]]:
    """Every route of these routers, by method and path."""
    for router in routers:
        for route in router.routes:
            if isinstance(route, APIRoute):
                yield from (
                    (f"{method} {route.path_format}", route) for method in sorted(route.methods or ())
                )


class _Models:
    """The schemas of every model that the document speaks of, under names of their own."""

    def __init__(self, operations: list[Operation]) -> None:
        wanted: dict[tuple[type[BaseModel], JsonSchemaMode], None] = {(shapes.Refusal, "serialization"): None}
        for operation in operations:
            wanted[(operation.input, "validation")] = None
            wanted[(operation.output, "serialization")] = None
        for body in (CancelBody, LinkBody):
            wanted[(body, "validation")] = None
        for said in ROUTES.values():
            for answer in said.answers.values():
                if isinstance(model := _inner(answer), type) and issubclass(model, BaseModel):
                    wanted[(model, "serialization")] = None
        self._refs, defined = models_json_schema(list(wanted), ref_template=_REF)
        self.schemas: Schema = defined.get("$defs", {})

    def of(self, answer: Any, mode: JsonSchemaMode = "serialization") -> Schema:
        """The schema of a model, a list of one, an object of them, a stream's event, or of anything."""
        if answer is None:
            return {}
        if isinstance(answer, list):
            return {"type": "array", "items": self.of(answer[0])}
        if isinstance(answer, dict):
            return {"type": "object", "additionalProperties": self.of(answer[""])}
        return _event(answer) if isinstance(answer, tuple) else self._refs[(answer, mode)]


def _inner(answer: Any) -> Any:
    return (
        next(iter(answer.values() if isinstance(answer, dict) else answer))
        if isinstance(answer, dict | list)
        else answer
    )


def _event(names: tuple[str, ...]) -> Schema:
    """One event of a stream; its data is JSON."""
    data = {"type": "string", "contentMediaType": JSON}
    fields = {"event": {"enum": list(names)}, "data": data, "id": {"type": "string"}}
    return {"type": "object", "required": ["event", "data"], "properties": fields}


def _operation(route: APIRoute, said: Said, models: _Models, operations: list[Operation]) -> Schema:
    summary, _, description = (route.endpoint.__doc__ or "").strip().partition("\n")
    told: Schema = {
        "operationId": f"{route.endpoint.__module__.rpartition('.')[2]}.{route.name}",
        "tags": [route.endpoint.__module__.rpartition(".")[2]],
        "summary": summary,
        "parameters": [*map(_in_path, route.param_convertors), *said.query, *map(_header, said.headers)],
        "responses": _responses(said, models, operations),
        "security": {True: [{"bearer": []}], None: [{"bearer": []}, {}], False: []}[said.bearer],
    }
    if description.strip():
        told["description"] = " ".join(description.split())
    if said.body is not False:
        required, schema = _body(said.body, models, operations)
        told["requestBody"] = {"required": required, "content": {JSON: {"schema": schema}}}
    return told


def _in_path(name: str) -> Schema:
    schema: Schema = {"type": "string"}
    if name == "job_id":
        schema["pattern"] = "^(0[xX])?[0-9a-fA-F]{32}$"
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _header(name: str) -> Schema:
    return {"name": name, "in": "header", "required": False, **_HEADERS[name]}


def _responses(said: Said, models: _Models, operations: list[Operation]) -> Schema:
    told: Schema = {}
    for status, answer in said.answers.items():
        told[str(status)] = {"description": "Done.", "headers": _answered_with(status, said)}
        if status == 304:
            told["304"]["description"] = "The client has it already."
        elif answer is None:
            outputs = [models.of(operation.output) for operation in operations]
            told["200"]["content"] = {JSON: {"schema": {"anyOf": outputs}}}
        else:
            told[str(status)]["content"] = {said.media: {"schema": models.of(answer)}}
    by_status: dict[int, set[str]] = {}
    for code in (*_ANYWAY, *said.codes):
        by_status.setdefault(STATUS[code], set()).add(code)
    for status, found in sorted(by_status.items()):
        codes = sorted(found)
        coded = {"properties": {"code": {"enum": codes}}}
        schema = {"allOf": [models.of(shapes.Refusal), coded]}
        told[str(status)] = {
            "description": "Refused: " + ", ".join(codes) + ".",
            "headers": _refused_with(status),
            "content": {JSON: {"schema": schema}},
        }
    return told


def _answered_with(status: int, said: Said) -> Schema:
    text = {"schema": {"type": "string"}}
    headers: Schema = {"X-Request-Id": text}
    if status == 201 or (status == 200 and 201 in said.answers):
        headers["Location"] = {**text, "required": True}
    if 304 in said.answers:
        headers["ETag"] = {**text, "required": status == 304}
    return headers


def _refused_with(status: int) -> Schema:
    text = {"schema": {"type": "string"}}
    headers: Schema = {"X-Request-Id": text}
    if status == 401:
        headers["WWW-Authenticate"] = {**text, "required": True}
    if status in (429, 503):
        seconds = {"type": "integer", "minimum": 1}
        headers["Retry-After"] = {"schema": seconds, "required": status == 429}
    return headers


def _body(body: type[BaseModel] | bool, models: _Models, operations: list[Operation]) -> tuple[bool, Schema]:
    if body is InvokeBody:
        return True, {"oneOf": [_invocation(operation, models) for operation in operations]}
    if isinstance(body, bool):
        return False, {}
    if any(info.is_required() for info in body.model_fields.values()):
        return True, models.of(body, "validation")
    return False, {"anyOf": [models.of(body, "validation"), {"type": "null"}]}


def _invocation(operation: Operation, models: _Models) -> Schema:
    """The body that calls one operation; an input that has to say nothing may be left out, or be null."""
    fields = dict(InvokeBody.model_json_schema()["properties"])
    needed = any(info.is_required() for info in operation.input.model_fields.values())
    taken = models.of(operation.input, "validation")
    fields["operation"] = {"const": operation.path}
    fields["input"] = taken if needed else {"anyOf": [taken, {"type": "null"}]}
    required = ["operation", "input"] if needed else ["operation"]
    return {"title": operation.name, "type": "object", "required": required, "properties": fields}
