"""Reading and writing by path: `w/` is stored, `h/`, `j/` and `v/` are views of what is elsewhere (D24)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from inbox import requests
from inbox.canonical import canonical
from inbox.model import Request
from ucan.capability import absolute, split
from ucan.errors import UcanError

from . import access, jobs, settle, workspace
from .errors import BadInput, Forbidden, NotWritable, refused
from .model import PERSONS, Call, Job
from .rules import without_tokens
from .tree import MISSING, Missing, type_word, walk

NAMESPACES = ("h", "j", "v", "w")
_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a path leads: whose namespace, which one (empty for the root of it all), and the segments below
    it.
    """

    owner: str
    namespace: str
    segments: Sequence[str]

    @property
    def resource(self) -> str:
        """The absolute resource of this place, as capabilities name it."""
        path = (self.namespace, *self.segments)
        return self.owner if path == ("",) else "/".join((self.owner, *path))

    def below(self, *segments: str) -> "Place":
        """A place below this one."""
        first, rest = _first((self.namespace, *self.segments, *segments) if self.namespace else segments)
        return Place(self.owner, first, rest)


@dataclass(frozen=True, slots=True)
class Listing:
    """The keys of a map, or how many elements a list has."""

    type: str
    count: int | None = None
    keys: Sequence[str] | None = None


def locate(call: Call, path: str | Sequence[str]) -> Place:
    """Resolve a path as the caller wrote it: a bare one is their own. Raises BadInput (`invalid_input`)."""
    if not isinstance(path, str):
        if call.caller.is_agent and any("/" in segment for segment in path):
            raise BadInput("path: an agent's capabilities cannot name a key with a slash in it")
        return Place(call.caller.user, *_first(path))
    try:
        owner, segments = split(absolute(path, call.caller.user) if path.strip("/") else call.caller.user)
    except UcanError as error:
        raise refused(error) from error
    return Place(owner, *_first(segments))


def read(call: Call, place: Place) -> Any:
    """The value at a place, or MISSING. Raises Forbidden, AuthRequired, CapabilityDenied."""
    if place.namespace == "v":
        return walk(call.world.catalogue, place.segments)
    maker = access.sees(call, place.resource)
    match place.namespace:
        case "w":
            return workspace.get(call.tx, place.owner, place.segments)
        case "h":
            return _read_records(call, place, maker)
        case "j":
            return _read_jobs(call, place, maker)
        case "" if not place.segments:
            return {name: {} for name in NAMESPACES}
    return MISSING


def list_keys(call: Call, place: Place, offset: int, limit: int) -> Listing | Missing:
    """What is below a place, page by page; `limit` counts keys. A view of many rows reads only its page."""
    if place.namespace in ("h", "j") and not place.segments:
        return _list_rows(call, place, offset, limit)
    if place.namespace == "w":
        access.sees(call, place.resource)
        names = workspace.keys(call.tx, place.owner, place.segments)
        if names is not None:
            return Listing("Map", len(names), names[offset : offset + limit])
    return _listing(read(call, place), offset, limit)


def _list_rows(call: Call, place: Place, offset: int, limit: int) -> Listing:
    maker = access.sees(call, place.resource)
    if place.namespace == "h":
        count = requests.count(call.tx, place.owner, requester=maker)
        keys = requests.keys(call.tx, place.owner, requester=maker, offset=offset, limit=limit)
    else:
        count = jobs.count(call.tx, place.owner, maker=maker)
        keys = jobs.keys(call.tx, place.owner, maker=maker, offset=offset, limit=limit)
    return Listing("Map", count, keys)


def peek(call: Call, place: Place) -> Any:
    """What a writer finds in `w/`, for whoever may write there; it is not shown to them."""
    return workspace.get(call.tx, place.owner, place.segments)


def write(call: Call, place: Place, value: Any) -> tuple[bool, bool]:
    """Write into `w/`; returns whether a value was there, and whether missing parents were made.

    Raises NotWritable (`not_writable`) for any other namespace, Forbidden, BadInput, QuotaExceeded.
    """
    check_writable(place)
    access.require(call, "crud/write", place.resource)
    return workspace.put(call.tx, place.owner, place.segments, value, call.world.workspace_bytes)


def delete(call: Call, place: Place) -> bool:
    """Delete below `w/`, or a whole record of the caller's own inbox; says whether anything was there (D18).

    Raises AgentRefused (`agent_refused`): to delete an open record is to answer it. Raises NotWritable,
    Forbidden.
    """
    if place.namespace == "h":
        return _delete_record(call, place)
    check_writable(place)
    access.require(call, "crud/delete", place.resource)
    return workspace.delete(call.tx, place.owner, place.segments, call.world.workspace_bytes)


def size_of(value: Any) -> int:
    """The size of a value in bytes, as its canonical text."""
    return len(canonical(value).encode("utf-8"))


def _first(segments: Sequence[str]) -> tuple[str, Sequence[str]]:
    return (segments[0], tuple(segments[1:])) if segments else ("", ())


def check_writable(place: Place) -> None:
    """Raises NotWritable (`not_writable`) for every namespace but `w/`."""
    if place.namespace != "w":
        raise NotWritable(f"Namespace {place.namespace or '/'!r} is not writable: only w/ is")


def _delete_record(call: Call, place: Place) -> bool:
    access.admit(call.caller, PERSONS)  # to delete an open record is to answer it
    if place.owner != call.caller.user:
        raise Forbidden("Access denied: a record is deleted by the owner of its inbox, and by nobody else")
    if len(place.segments) != 1:
        raise NotWritable("A record is deleted whole: h/<id>")
    return settle.delete(call, jobs.parse_id(place.segments[0]))


def _read_records(call: Call, place: Place, maker: str | None) -> Any:
    if not place.segments:
        ids = requests.keys(call.tx, place.owner, requester=maker, offset=0, limit=_PAGE)
        found = (requests.get(call.tx, place.owner, request_id) for request_id in ids)
        return {request.id: request.record() for request in found if request is not None}
    request = _record(call, place, maker)
    return MISSING if request is None else walk(request.record(), place.segments[1:])


def _record(call: Call, place: Place, maker: str | None) -> Request | None:
    try:
        request = requests.get(call.tx, place.owner, jobs.parse_id(place.segments[0]))
    except BadInput:
        return None
    return request if request is not None and maker in (None, request.requester) else None


def _read_jobs(call: Call, place: Place, maker: str | None) -> Any:
    if not place.segments:
        ids = jobs.keys(call.tx, place.owner, maker=maker, offset=0, limit=_PAGE)
        found = (jobs.find(call.tx, job_id) for job_id in ids)
        return {job.id: served(call, job) for job in found if job is not None}
    try:
        job = jobs.find(call.tx, jobs.parse_id(place.segments[0]))
    except BadInput:
        return MISSING
    if job is None or job.owner != place.owner or maker not in (None, job.maker):
        return MISSING
    return walk(served(call, job), place.segments[1:])


def served(call: Call, job: Job) -> dict[str, Any]:
    """A job as this caller may see it: tokens only for its maker and its owner (D15).

    Not for them either where the reading leaves a job or a document of its own, which would keep them.
    """
    record = job.record()
    if call.caller.did in (job.maker, job.owner) and not call.job_id:
        return record
    return {**record, "output": without_tokens(job.output)} if job.output is not None else record


def _listing(value: Any, offset: int, limit: int) -> Listing | Missing:
    if isinstance(value, Missing):
        return MISSING
    if isinstance(value, dict):
        return Listing("Map", len(value), sorted(value)[offset : offset + limit])
    if isinstance(value, list):
        return Listing("Vector", len(value))
    return Listing(type_word(value))
