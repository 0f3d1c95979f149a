"""What the routes answer with, as shapes for the OpenAPI document; the routes themselves build plain JSON."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ops.model import JobStatus


class _Shape(BaseModel):
    # Built when somebody asks for the document, not when the venue starts.
    model_config = ConfigDict(extra="forbid", defer_build=True)


class Refusal(_Shape):
    """Every refusal: a sentence for a person, and a stable code."""

    error: str
    code: str
    how: str | None = Field(default=None, description="How the request was settled, if it was.")
    when: int | None = Field(default=None, description="When, in epoch milliseconds.")
    hint: str | None = None
    job: str | None = Field(default=None, description="The job that an idempotency key had made before.")


class Access(_Shape):
    """What strangers may do."""

    public: bool
    publicCaps: str  # noqa: N815 - the wire's name
    userAutoCreate: bool  # noqa: N815 - the wire's name


class Stats(_Shape):
    """What is served."""

    assets: int
    ops: int


class Profile(_Shape):
    """The UCAN profile of the tokens that this venue signs and understands."""

    ucv: str


class VenueStatus(_Shape):
    """Who this venue is."""

    status: Literal["OK"]
    name: str
    did: str
    url: str
    version: str
    ucanProfile: Profile  # noqa: N815 - the wire's name
    ts: int = Field(description="Now, in epoch milliseconds.")
    stats: Stats
    access: Access


class KeyMethod(_Shape):
    """A public key of a DID document."""

    id: str
    type: Literal["Multikey"]
    controller: str
    publicKeyMultibase: str  # noqa: N815 - the wire's name


class Service(_Shape):
    """Where the API is."""

    id: str
    type: Literal["Covia.API.v1"]
    serviceEndpoint: str  # noqa: N815 - the wire's name


class DidDocument(_Shape):
    """A DID document over Multikeys."""

    context: list[str] = Field(alias="@context")
    id: str
    verificationMethod: list[KeyMethod]  # noqa: N815 - the wire's name
    authentication: list[str]
    assertionMethod: list[str]  # noqa: N815 - the wire's name
    capabilityDelegation: list[str]  # noqa: N815 - the wire's name
    capabilityInvocation: list[str]  # noqa: N815 - the wire's name
    alsoKnownAs: list[str] | None = None  # noqa: N815 - the wire's name
    controller: str | None = None
    service: list[Service] | None = None


class McpPointer(_Shape):
    """Where an MCP client would connect."""

    mcp_version: str
    server_url: str
    description: str


class Health(_Shape):
    """Well, in a word."""

    status: Literal["ok", "ready"]


class JobRecord(_Shape):
    """A job as its caller may see it; what is absent is left out."""

    id: str = Field(pattern="^0x[0-9a-f]{32}$")
    op: str = Field(description="The operation as it was named when it was invoked.")
    adapter: str
    name: str
    status: JobStatus
    caller: str = Field(description="The DID of the user whose job it is.")
    actor: str | None = Field(default=None, description="The agent that made it, if one did.")
    created: int
    updated: int
    input: Any = None
    output: Any = None
    error: str | None = None


class IdPage(_Shape):
    """A page of ids, in bare hex, oldest first."""

    items: list[str]
    total: int = Field(ge=0)
    offset: int = Field(ge=0)
    limit: int = Field(ge=0)


class Deleted(_Shape):
    """It is gone."""

    deleted: Literal[True]


class State(_Shape):
    """One state of a job: the text that was hashed, and its hash, which the next text names."""

    seq: int
    record: str
    hash: str


class History(_Shape):
    """Every state of a job, oldest first."""

    items: list[State]
    total: int


class Receipt(_Shape):
    """A JWT that the venue signed: how a request was settled."""

    receipt: str


class OperationInfo(_Shape):
    """An operation of the catalogue, with its JSON Schemas."""

    name: str
    asset: str
    title: str
    description: str
    input: dict[str, Any]
    output: dict[str, Any]
    readOnly: bool  # noqa: N815 - the wire's name
    internal: bool


class OperationMetadata(_Shape):
    """An operation as the protocol's assets hold it."""

    name: str
    description: str
    operation: dict[str, Any]
