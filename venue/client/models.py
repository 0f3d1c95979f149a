"""What comes back from a venue, typed. Unknown fields are kept: a newer venue may say more."""

from typing import Any, Required, TypedDict

from pydantic import BaseModel, ConfigDict, Field

Offer = TypedDict(
    "Offer",
    {"with": Required[str], "can": Required[str], "exp": int, "lifetime": int, "nb": dict[str, Any]},
    total=False,
)
"""A capability to put on a choice: `with` and `can`, and `exp` (unix seconds) or `lifetime` (seconds)."""


class Summary(BaseModel):
    """One request in an inbox, without its asks. Times are epoch milliseconds."""

    model_config = ConfigDict(frozen=True, extra="allow")

    id: str
    from_: str = Field(alias="from")
    title: str
    status: str
    created: int
    expires: int | None = None


class Page(BaseModel):
    """A page of an inbox: `count` is how many there are in all, `cursor` is there when there is more."""

    model_config = ConfigDict(frozen=True, extra="allow")

    items: list[Summary]
    count: int
    cursor: str | None = None


class Change(BaseModel):
    """Something changed in one's own feed: what (`kind`, such as `request.open`), to which `id`.

    The kind `resync` says that everything is to be loaded anew, `lost` that nothing is heard just now,
    `refused` that nothing will be heard any more.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    kind: str
    version: int
    id: str = ""
    at: int | None = None


class Record(Summary):
    """A whole request, as it stands in the inbox. `digest` is what an answer should name."""

    asks: list[dict[str, Any]]
    digest: str
    agent: str | None = None
    origin: str | None = None
    description: str | None = None
    response: dict[str, Any] | None = None


class Answered(BaseModel):
    """What a request came to: the answers by ask id, the remarks, and what was conferred.

    `token` was signed by the venue for what was echoed; `tokens` by the responder, by ask id. Neither is in
    its repr.
    """

    model_config = ConfigDict(frozen=True, extra="allow", hide_input_in_errors=True)

    id: str
    outcome: str
    answers: dict[str, Any]
    comments: dict[str, str] = {}
    comment: str | None = None
    grants: list[dict[str, Any]] = []
    token: str | None = Field(default=None, repr=False)
    tokens: dict[str, str] = Field(default={}, repr=False)
