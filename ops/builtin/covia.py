"""`covia:read|list|write|delete`: documents and views by path (D24)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from .. import values
from ..errors import BadInput
from ..model import READERS, Call, Kind, Operation
from ..tree import Missing, type_word

_MAX_SIZE = 1_000_000
_PATH = Field(
    description="A path such as w/reports/q3; a bare one is your own, a foreign one begins with a DID."
)


class ReadInput(BaseModel):
    """Which value, and how large it may be."""

    model_config = ConfigDict(strict=True, populate_by_name=True)

    path: str | list[str] = _PATH
    max_size: int = Field(default=_MAX_SIZE, ge=0, alias="maxSize", description="In bytes of canonical JSON.")


class ReadOutput(BaseModel):
    """The value, or that there is none."""

    exists: bool
    value: Any
    valueBytes: int  # noqa: N815 - the wire's name
    type: str | None = None
    truncated: bool | None = None


class ListInput(BaseModel):
    """Which map, and which page of its keys."""

    model_config = ConfigDict(strict=True)

    path: str | list[str] = Field(default="", description="A path; your own root when absent.")
    limit: int = Field(default=1_000, ge=1, le=1_000)
    offset: int = Field(default=0, ge=0)


class ListOutput(BaseModel):
    """The keys of a map, the size of a list, or the type of anything else."""

    exists: bool
    type: str
    count: int | None = None
    keys: list[str] | None = None
    offset: int | None = None


class WriteInput(BaseModel):
    """What to write, and where; null is a value like any other."""

    model_config = ConfigDict(strict=True)

    path: str | list[str] = _PATH
    value: Any


class WriteOutput(BaseModel):
    """Whether a value was there before, and whether missing parents were made."""

    existed: bool
    pathCreated: bool | None = None  # noqa: N815 - the wire's name


class DeleteInput(BaseModel):
    """What to delete."""

    model_config = ConfigDict(strict=True)

    path: str | list[str] = _PATH


class DeleteOutput(BaseModel):
    """Whether anything was there."""

    deleted: bool


def read(call: Call, data: ReadInput) -> dict[str, Any]:
    """The value at a path; absence is an answer."""
    value = values.read(call, values.locate(call, data.path))
    if isinstance(value, Missing):
        return {"exists": False, "value": None, "valueBytes": 0}
    size = values.size_of(value)
    if size > data.max_size:
        return {
            "exists": True,
            "type": type_word(value),
            "value": None,
            "truncated": True,
            "valueBytes": size,
        }
    return {"exists": True, "value": value, "valueBytes": size}


def list_path(call: Call, data: ListInput) -> dict[str, Any]:
    """The keys below a path, a page at a time."""
    listing = values.list_keys(call, values.locate(call, data.path), data.offset, data.limit)
    if isinstance(listing, Missing):
        return {"exists": False, "type": "Nil"}
    result: dict[str, Any] = {"exists": True, "type": listing.type}
    if listing.count is not None:
        result["count"] = listing.count
    if listing.keys is not None:
        result |= {"keys": list(listing.keys), "offset": data.offset}
    return result


def write(call: Call, data: WriteInput) -> dict[str, bool]:
    """Write a value below `w/`."""
    existed, made = values.write(call, values.locate(call, data.path), data.value)
    return {"existed": existed, "pathCreated": True} if made else {"existed": existed}


def delete(call: Call, data: DeleteInput) -> dict[str, bool]:
    """Delete a value below `w/`, or a whole record of one's own inbox."""
    place = values.locate(call, data.path)
    if not place.segments:
        raise BadInput("path: name what to delete below a namespace")
    return {"deleted": values.delete(call, place)}


OPERATIONS = (
    Operation(
        path="v/ops/covia/read",
        adapter="covia:read",
        name="Read",
        description="Read the JSON value at a path: w/ documents, h/ inbox, j/ jobs, v/ catalogue.",
        input=ReadInput,
        output=ReadOutput,
        handler=read,
        callers=READERS,
        read_only=True,
    ),
    Operation(
        path="v/ops/covia/list",
        adapter="covia:list",
        name="List",
        description="List the keys of the map at a path.",
        input=ListInput,
        output=ListOutput,
        handler=list_path,
        callers=READERS,
        read_only=True,
    ),
    Operation(
        path="v/ops/covia/write",
        adapter="covia:write",
        name="Write",
        description="Write a JSON value at a path below w/; missing maps on the way are made.",
        input=WriteInput,
        output=WriteOutput,
        handler=write,
        callers=frozenset({Kind.USER, Kind.AGENT}),
        read_only=False,
    ),
    Operation(
        path="v/ops/covia/delete",
        adapter="covia:delete",
        name="Delete",
        description="Delete the value at a path below w/, or a whole record h/<id> of your own inbox.",
        input=DeleteInput,
        output=DeleteOutput,
        handler=delete,
        callers=frozenset({Kind.USER, Kind.AGENT}),
        read_only=False,
    ),
)
