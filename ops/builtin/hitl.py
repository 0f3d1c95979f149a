"""`hitl:request|respond|list`: ask a person, answer as that person, see what waits (D12-D19)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from inbox import blocks, events, requests, rules
from inbox.errors import NotFound, TooFast, TooManyOpen
from inbox.explain import explain
from inbox.model import Ask, Reply, Requester, Status, Submission
from inbox.tokens import without_tokens
from ucan.did import agent_id_of, is_did

from .. import access, jobs, ledger, settle, users
from ..errors import BadInput, CapabilityDenied, Forbidden
from ..model import ASKERS, PERSONS, Call, Done, Operation, Parked
from .shapes import Answers, Asks, Comment, Comments, Echoes

_MINUTE = 60_000
_DID = Annotated[str, Field(description="A DID.", examples=["did:key:z6Mk…"])]


class RequestInput(BaseModel):
    """What to ask, and whom.

    Keys that are not named here are ignored, but `grants` is refused: offers belong to choices.
    """

    model_config = ConfigDict(strict=True)

    title: str = Field(
        description="One line that says what is to be decided.", json_schema_extra={"minLength": 1}
    )
    asks: Asks = Field(description="The typed questions, each with an id of its own; kept exactly as sent.")
    description: str | None = Field(default=None, description="Markdown: what a person needs to know.")
    user: _DID | None = Field(default=None, description="Whose inbox; the caller's own user when absent.")
    timeout: int | None = Field(
        default=None,
        description="Seconds until it expires; for ever when absent.",
        json_schema_extra={"minimum": 1},
    )

    @model_validator(mode="before")
    @classmethod
    def _no_grants(cls, data: Any) -> Any:
        if isinstance(data, dict) and "grants" in data:
            raise ValueError("grants: offers belong to approval asks and to options, never to the request")
        return data


class RequestOutput(BaseModel):
    """What the waiting job completes with (D19); without an echo there is neither `grants` nor `token`."""

    id: str
    outcome: Literal["answer"]
    answers: dict[str, Any] = Field(description="The answers by ask id.")
    comments: dict[str, str] | None = Field(default=None, description="Remarks by ask id.")
    comment: str | None = Field(default=None, description="An overall remark.")
    grants: list[dict[str, Any]] | None = Field(default=None, description="What was echoed, as offered.")
    token: str | None = Field(default=None, description="A UCAN for what was echoed, signed by this venue.")
    tokens: dict[str, str] | None = Field(
        default=None, description="UCANs that the person signed, by the id of the token ask."
    )


class RespondInput(BaseModel):
    """An answer or a rejection. What is echoed in `grants` is conferred, and nothing else."""

    model_config = ConfigDict(strict=True, extra="forbid")

    id: str = Field(description="The request's id, with or without 0x.")
    outcome: Literal["answer", "reject"] = Field(description="To answer it, or to reject it whole.")
    answers: Answers = Field(default=None, description="Answers by ask id; an outcome `answer` needs them.")
    comments: Comments = Field(default=None, description="Remarks by ask id.")
    comment: Comment = Field(default=None, description="An overall remark, or why it is rejected.")
    grants: Echoes = Field(default=None, description="The offers to confer, as offered; nothing else is.")
    digest: str | None = Field(default=None, description="The digest of the record that was shown.")


class RespondOutput(BaseModel):
    """How the request stands now."""

    id: str
    status: Literal["answered", "rejected"]


class ListInput(BaseModel):
    """Which part of the inbox; pages run in id order, which is time order, or the other way round."""

    model_config = ConfigDict(strict=True)

    status: Status | None = Field(default=None, strict=False, description="Only requests that stand so.")
    limit: int = Field(default=100, ge=1, le=1_000, description="How many at most.")
    cursor: str | None = Field(default=None, description="The `cursor` of the page before.")
    newest: bool = Field(default=False, description="The newest first.")
    requester: _DID | None = Field(default=None, description="Only what this principal asked.")


class Summary(BaseModel):
    """One request, without its asks and answers."""

    id: str
    from_: str = Field(alias="from")
    title: str
    status: Status
    created: int
    expires: int | None = None


class ListOutput(BaseModel):
    """A page of summaries; `count` is how many there are in all, `cursor` is there when there is more."""

    items: list[Summary]
    count: int
    cursor: str | None = None


def request(call: Call, data: RequestInput) -> Parked:
    """Put a request into an inbox and park the job.

    Everything is checked before anything is written (D12).
    """
    target = _target(call, data.user)
    record = rules.post(
        _submission(data),
        Requester(call.caller.did, call.caller.user, call.caller.agent_id),
        target,
        call.job_id,
        call.now,
        call.world.terms,
    )
    _deliverable(call, target)
    _has_room(call, target)
    requests.insert(call.tx, record)
    events.append(call.tx, target, "request.open", record.id, call.now)
    if record.expires is not None:
        call.tx.tell(events.DEADLINES)
    return Parked()


def respond(call: Call, data: RespondInput) -> Done:
    """Settle a request of the caller's own inbox (D14). Agents never come this far.

    A signed token given as an answer goes to the requester and stays nowhere else, so not in this job's input
    (D15).
    """
    request_id = jobs.parse_request_id(data.id)
    settlement = settle.answer(call, request_id, _reply(data))
    kept = data.model_dump(exclude_unset=True)
    if settlement.signed:
        kept["answers"] = without_tokens(data.answers, settlement.signed)
    return Done({"id": request_id, "status": settlement.status.value}, kept)


def list_requests(call: Call, data: ListInput) -> dict[str, Any]:
    """A page of the caller's inbox; an agent sees what it asked itself (D23)."""
    if call.caller.is_agent and call.caller.caps is not None and not call.caller.caps:
        raise CapabilityDenied(
            "Capability denied: this agent's caps are empty, and let it do nothing. Ask the owner."
        )
    by = call.caller.did if call.caller.is_agent else data.requester
    owner = call.caller.user
    rows = requests.page(
        call.tx,
        owner,
        status=data.status,
        requester=by,
        after=None if data.cursor is None else jobs.parse_id(data.cursor),
        limit=data.limit + 1,
        newest=data.newest,
    )
    page = [_summary(dict(row)) for row in rows[: data.limit]]
    result = {"items": page, "count": requests.count(call.tx, owner, status=data.status, requester=by)}
    return {**result, "cursor": page[-1]["id"]} if len(rows) > data.limit else result


def _target(call: Call, user: str | None) -> str:
    if user is None:
        return call.caller.user
    if not is_did(user):
        raise BadInput("user: must be a DID")
    if agent_id_of(user) is not None:
        raise BadInput("user: an agent has no inbox; ask the person it works for")
    return user


def _submission(data: RequestInput) -> Submission:
    try:
        asks = [Ask.model_validate(ask) for ask in data.asks]
    except ValidationError:
        asks = _asks_with_place(data.asks)
    return Submission(data.title, data.description, asks, data.asks, data.timeout)


def _asks_with_place(raw: list[Any]) -> list[Ask]:
    """Validate once more, so that the sentence names which ask it is."""
    asks = []
    for index, ask in enumerate(raw):
        try:
            asks.append(Ask.model_validate(ask))
        except ValidationError as error:
            raise BadInput(explain(error, f"asks[{index}]")) from None
    return asks


def _deliverable(call: Call, target: str) -> None:
    """Free within the caller's own family; elsewhere by delegation, and unless the owner has blocked it
    (D12).

    One denial for known and unknown targets, and for blocked requesters. Raises CapabilityDenied, Forbidden,
    NotFound (`not_found`) for a target that gave a delegation but has no inbox here.
    """
    if call.caller.is_agent and call.caller.caps is not None and not call.caller.caps:
        raise CapabilityDenied("Capability denied: hitl/request. This agent's caps are empty.")
    if target == call.caller.user:
        return
    verdict = access.by_proof(call, "hitl/request", f"{target}/h/")
    heard_of = {call.caller.did, *(token.iss for token in verdict.chain)}
    heard_of |= ledger.grantors(call.tx, [token.hash for token in verdict.chain])
    heard_of -= {target, *call.world.dids}
    if not verdict or blocks.any_blocked(call.tx, target, heard_of):
        raise Forbidden(f"Access denied: hitl/request on {target}/h/ - no proof presented covers it")
    if not users.registered(call.tx, target):
        raise NotFound(f"{target} has no inbox here")


def _has_room(call: Call, target: str) -> None:
    limits, maker = call.world.terms.limits, call.caller.user
    if limits.posts_per_minute is not None:
        posted = requests.posted_since(call.tx, maker, call.now - _MINUTE)
        if posted >= limits.posts_per_minute:
            raise TooFast(f"At most {limits.posts_per_minute} requests a minute (posts_per_minute)", 60)
    if requests.open_by_maker(call.tx, maker, call.now) >= limits.open_per_requester:
        raise TooManyOpen(f"You have as many open requests as you may: {limits.open_per_requester}")
    if requests.open_by_owner(call.tx, target, call.now) >= limits.open_per_inbox:
        raise TooManyOpen(f"That inbox has as many open requests as it may: {limits.open_per_inbox}")


def _reply(data: RespondInput) -> Reply:
    if data.outcome == "reject":
        return Reply("reject", comment=_text("comment", data.comment), digest=data.digest)
    if not isinstance(data.answers, dict):
        raise BadInput("answers: an answer needs an object of answers by ask id")
    return Reply(
        "answer",
        answers=data.answers,
        comments=_object("comments", data.comments),
        comment=_text("comment", data.comment),
        echoes=_objects("grants", data.grants),
        digest=data.digest,
    )


def _text(name: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise BadInput(f"{name}: must be a text")
    return value


def _object(name: str, value: Any) -> dict[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise BadInput(f"{name}: must be an object")
    return value or {}


def _objects(name: str, value: Any) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise BadInput(f"{name}: must be a list of objects")
    return value


def _summary(row: dict[str, Any]) -> dict[str, Any]:
    summary = {
        "id": row["id"],
        "from": row["requester"],
        **{key: row[key] for key in ("title", "status", "created")},
    }
    return summary if row["expires"] is None else {**summary, "expires": row["expires"]}


OPERATIONS = (
    Operation(
        path="v/ops/hitl/request",
        adapter="hitl:request",
        name="HITL Request",
        description=(
            "Ask a person. The request lands in their inbox and the job waits (INPUT_REQUIRED) until they "
            "answer, reject it, or it expires. Asks are text, approval, choice, checkboxes or token (a UCAN "
            "that the person signs); an approval and an option may offer grants, which the person confers "
            "by echoing them. Agents cannot answer."
        ),
        input=RequestInput,
        output=RequestOutput,
        handler=request,
        callers=ASKERS,
        read_only=False,
    ),
    Operation(
        path="v/ops/hitl/respond",
        adapter="hitl:respond",
        name="HITL Respond",
        description="Answer or reject a request in your own inbox. Only a person may, and only in their own.",
        input=RespondInput,
        output=RespondOutput,
        handler=respond,
        callers=PERSONS,
        read_only=False,
        audits_refusals=True,
    ),
    Operation(
        path="v/ops/hitl/list",
        adapter="hitl:list",
        name="HITL List",
        description="List the requests in your inbox, a page at a time, without their contents.",
        input=ListInput,
        output=ListOutput,
        handler=list_requests,
        callers=ASKERS,
        read_only=True,
    ),
)
