"""Who calls, what they call, and the job that carries it, as values."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel

from inbox.clock import Clock
from inbox.model import Terms
from inbox.store.base import Transaction
from ucan.keys import PublicKey, Signer

from .ids import IdSource


class JobStatus(StrEnum):
    """The states of a job that this venue has: it runs, it parks, or it is finished."""

    STARTED = "STARTED"
    INPUT_REQUIRED = "INPUT_REQUIRED"
    COMPLETE = "COMPLETE"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def finished(self) -> bool:
        """Whether this state is terminal."""
        return self not in (JobStatus.STARTED, JobStatus.INPUT_REQUIRED)


class Kind(StrEnum):
    """What sort of caller it is, which decides what it may call at all (D2, D5, D9)."""

    ANONYMOUS = "anonymous"
    RELAYED = "relayed"
    """A user by an identity UCAN, which may have passed through a relay: enough to ask and read, no more."""
    AGENT = "agent"
    USER = "user"
    OPERATOR = "operator"


PERSONS = frozenset({Kind.USER})
ASKERS = frozenset({Kind.USER, Kind.AGENT, Kind.RELAYED})
READERS = ASKERS | {Kind.ANONYMOUS}
OPERATORS = frozenset({Kind.OPERATOR})


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, as the venue verified it, and the proofs that came along; nobody calls without one (rule 7).

    `did` acts; `user` owns the namespace it acts in: the same for a person, the owner for an agent. `caps`
    are an agent's configured capabilities, None when none are configured. `channel` is how the call came in:
    web, cli or api.
    """

    did: str
    user: str
    kind: Kind = Kind.USER
    agent_id: str | None = None
    caps: Sequence[Mapping[str, Any]] | None = None
    channel: str = "api"
    proofs: Sequence[str] = ()

    @property
    def anonymous(self) -> bool:
        """Whether nobody has said who they are."""
        return self.kind is Kind.ANONYMOUS

    @property
    def is_agent(self) -> bool:
        """Whether an agent acts."""
        return self.kind is Kind.AGENT

    def __repr__(self) -> str:
        return f"Caller({self.did!r}, proofs={len(self.proofs)})"


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it is stored. Times are epoch milliseconds."""

    id: str
    op: str
    adapter: str
    name: str
    owner: str
    maker: str
    status: JobStatus
    input: Any
    output: Any
    error: str | None
    created: int
    updated: int

    def record(self) -> dict[str, Any]:
        """The job as it is served; what is absent is left out."""
        served: dict[str, Any] = {
            "id": f"0x{self.id}",
            "op": self.op,
            "adapter": self.adapter,
            "name": self.name,
            "status": self.status.value,
            "caller": self.owner,
            "actor": self.maker if self.maker != self.owner else None,
            "created": self.created,
            "updated": self.updated,
            "input": self.input,
            "output": self.output,
            "error": self.error,
        }
        return {key: value for key, value in served.items() if value is not None}


@dataclass(frozen=True, slots=True)
class World:
    """What an operation may know of the venue it runs in. Built once, in the composition root."""

    did: str
    aliases: frozenset[str]
    signer: Signer
    clock: Clock
    entropy: Callable[[int], bytes]
    new_id: IdSource
    terms: Terms
    issue_max_lifetime: int | None
    workspace_bytes: int
    trusted: frozenset[str]
    web_keys: Callable[[str], Sequence[PublicKey]]
    catalogue: Mapping[str, Any]

    @property
    def dids(self) -> frozenset[str]:
        """Every DID that names this venue."""
        return self.aliases | {self.did}


@dataclass(frozen=True, slots=True)
class Call:
    """One call under way, inside its unit of work.

    `now` is epoch milliseconds; `job_id` is the job that it will be.
    """

    tx: Transaction
    world: World
    caller: Caller
    now: int
    job_id: str

    @property
    def now_seconds(self) -> int:
        """The time of this call in unix seconds, as tokens count it."""
        return self.now // 1000


@dataclass(frozen=True, slots=True)
class Parked:
    """What an operation returns when its job goes on beyond the call, and where the job stands until then."""

    status: JobStatus = JobStatus.INPUT_REQUIRED


@dataclass(frozen=True, slots=True)
class Done:
    """What an operation returns when its job must not keep the input as it came: the output, and what to
    keep.
    """

    output: Any
    input: Any


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of the catalogue. The models are its schemas.

    `callers` says who may call it, before anything is read (D9); `read_only` whether a run leaves no job,
    `secret` names the fields of its output that are handed out once and not kept, `hidden` those of its input
    that are not kept.
    """

    path: str
    adapter: str
    name: str
    description: str
    input: type[BaseModel]
    output: type[BaseModel]
    handler: Callable[[Call, Any], Any]
    callers: frozenset[Kind]
    read_only: bool
    audits_refusals: bool = False
    secret: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()

    @property
    def tool_name(self) -> str:
        """The name by which a model's tool list knows it."""
        return self.adapter.replace(":", "_")
