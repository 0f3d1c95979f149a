"""Requests, asks and offers as values (D12, D13).

The models are strict: a boolean is a boolean and `1.0` is no integer. What a requester sent is kept beside
them exactly as it came, for the digest is taken over that; the models only say what it means.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_SECONDS = 10**11
"""No time in seconds lies beyond this; what does was meant as milliseconds (D10)."""

DAY = 24 * 60 * 60


class Status(StrEnum):
    """Where a request stands: open, then one terminal state for ever."""

    OPEN = "open"
    ANSWERED = "answered"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class Offer(BaseModel):
    """A capability attached to a choice.

    Unknown keys are refused: a misspelt scope must not widen a grant.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", populate_by_name=True)

    with_: str = Field(alias="with", min_length=1, description="A bare path is the responder's own.")
    can: str = Field(min_length=1, description="The ability, such as crud/read.")
    exp: int | None = Field(default=None, description="When the grant ends, in unix seconds.")
    lifetime: int | None = Field(default=None, gt=0, description="Or seconds from approval.")
    nb: dict[str, Any] | None = Field(default=None, description="Caveats, carried into the token unchanged.")

    @property
    def key(self) -> tuple[str, str]:
        """What an echo must repeat: resource and ability, letter for letter."""
        return self.with_, self.can

    def claim(self) -> dict[str, str]:
        """What it is about, as a capability without caveats."""
        return {"with": self.with_, "can": self.can}

    def raw(self) -> dict[str, Any]:
        """The offer's own object, as it was offered."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class WantedCapability(BaseModel):
    """A capability that a token ask asks for; unknown keys are refused, as in an offer."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    with_: str = Field(alias="with", min_length=1, description="The resource.")
    can: str = Field(min_length=1, description="The ability, such as crud/read.")
    nb: dict[str, Any] | None = Field(default=None, description="Caveats.")


class TokenSpec(BaseModel):
    """What a token ask wants signed. The person decides what the token really says (D15)."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")

    caps: list[WantedCapability] = Field(min_length=1, description="What the token should confer.")
    audience: str | None = Field(default=None, description="For whom; the requester when absent.")
    lifetime: int | None = Field(default=None, gt=0, description="A hint, in seconds; at most ten years.")
    venue: str | None = Field(default=None, description="Where it is to be used.")


class Option(BaseModel):
    """One choice of a choice or checkboxes ask."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")

    id: str = Field(min_length=1, description="Unique in its ask; the answer names it.")
    label: str | None = Field(default=None, description="What the person reads; the id when absent.")
    description: str | None = Field(default=None, description="What choosing it means.")
    grants: list[Offer] = Field(default=[], description="What choosing this option offers to confer.")


class Ask(BaseModel):
    """One typed question of a request. Keys that are not named here are stored and never interpreted."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")

    id: str = Field(min_length=1, description="Unique in its request; answers name it.")
    type: Literal["text", "approval", "choice", "checkboxes", "token"] = Field(
        description=(
            "What answers it: a text; true or false (approval); one option's id (choice); a list of "
            "distinct option ids (checkboxes); a UCAN that the person signs (token)."
        )
    )
    prompt: str = Field(min_length=1, description="What the person is asked.")
    required: bool = Field(default=False, description="Whether there is no answer without this one.")
    comment: bool = Field(default=False, description="Invite a remark beside the answer.")
    options: list[Option] = Field(default=[], description="On choice and checkboxes, and only there.")
    grants: list[Offer] = Field(default=[], description="What approving offers to confer; on approval only.")
    token: TokenSpec | None = Field(default=None, description="What to sign; on token asks, and only there.")


@dataclass(frozen=True, slots=True)
class Limits:
    """The sizes and counts of D22 that bind requests and answers."""

    title: int = 280
    description: int = 64 * 1024
    asks: int = 50
    options: int = 100
    prompt: int = 4_000
    text: int = 64 * 1024
    offers: int = 50
    timeout: int = 3_653 * DAY
    token: int = 64 * 1024
    open_per_requester: int = 100
    open_per_inbox: int = 1_000
    posts_per_minute: int | None = None


@dataclass(frozen=True, slots=True)
class GrantPolicy:
    """What the operator allows to be conferred: the ceiling of D10 in seconds (None lifts it), and D7's
    `attest`.
    """

    max_lifetime: int | None = 90 * DAY
    attest: Literal["all", "managed"] = "all"

    @property
    def default_lifetime(self) -> int:
        """Seconds that a grant lives when its offer says nothing: 7 days, or the ceiling if that is less."""
        return min(7 * DAY, self.max_lifetime) if self.max_lifetime is not None else 7 * DAY


@dataclass(frozen=True, slots=True)
class Terms:
    """What binds requests in one venue: what may be conferred, the limits, and the venue's DIDs."""

    grants: GrantPolicy = GrantPolicy()
    limits: Limits = Limits()
    venue: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Submission:
    """A request as it was posted: the asks as models, and beside them exactly as they came."""

    title: str
    description: str | None
    asks: Sequence[Ask]
    raw_asks: Sequence[Any]
    timeout: int | None


@dataclass(frozen=True, slots=True)
class Requester:
    """Who asked, as the venue verified it: the acting DID, its user, and the agent id when an agent asked."""

    did: str
    user: str
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A record in an inbox. Times are epoch milliseconds; `body` is what the digest was taken over (D13)."""

    id: str
    owner: str
    requester: str
    maker: str
    body: Mapping[str, Any]
    digest: str
    created: int
    expires: int | None
    status: Status = Status.OPEN
    response: Mapping[str, Any] | None = None
    resolver: str | None = None
    channel: str | None = None
    settled: int | None = None

    @property
    def asks(self) -> list[Ask]:
        """The typed questions."""
        return [Ask.model_validate(ask) for ask in self.body["asks"]]

    def record(self) -> dict[str, Any]:
        """What stands at `h/<id>`: the body, its digest, and how it was settled."""
        served = {**self.body, "status": self.status.value, "digest": self.digest}
        return served if self.response is None else {**served, "response": self.response}


@dataclass(frozen=True, slots=True)
class Reply:
    """What a responder sent: the outcome, and for an answer the answers, remarks and echoes as they came."""

    outcome: Literal["answer", "reject"]
    answers: Mapping[str, Any] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    echoes: Sequence[Mapping[str, Any]] = ()
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """One thing consented to: the absolute resource, the ability, and until when (unix seconds).

    `said` is what the record keeps: the offer as offered and, if it was narrowed, how.
    """

    said: Mapping[str, Any]
    resource: str
    can: str
    nb: Mapping[str, Any] | None
    exp: int | None


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a request leaves the open state, decided before anything is written (step 4 of the flow).

    `signed` names the asks that were answered with a token of the responder's own (D15). `output` is the
    job's (D19) without the token that the venue signs, which only the winner of the race may do; `error` is
    the sentence of a job that does not complete.
    """

    status: Status
    response: Mapping[str, Any] | None = None
    output: Mapping[str, Any] | None = None
    error: str | None = None
    grants: Sequence[Grant] = ()
    signed: frozenset[str] = frozenset()
