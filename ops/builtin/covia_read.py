"""`covia:read|list|slice|inspect|aggregate`: documents and views by path, whole or in part (D24)."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from .. import values, views
from ..errors import BadInput
from ..model import READERS, Call, Operation
from ..tree import Missing, type_word

MAX_SIZE = 1_000_000
PATH = Field(description="Such as w/reports/q3; a bare path is your own, a foreign one begins with a DID.")

OFFSET = Field(default=0, ge=0, description="How many to pass over.")


class _Input(BaseModel):
    model_config = ConfigDict(strict=True, populate_by_name=True)


class ReadInput(_Input):
    """Which value, and how large it may be."""

    path: str | list[str] = PATH
    max_size: int = Field(default=MAX_SIZE, ge=0, alias="maxSize", description="In bytes of canonical JSON.")


class ReadOutput(BaseModel):
    """The value, or that there is none."""

    exists: bool
    value: Any
    valueBytes: int  # noqa: N815 - the wire's name
    type: str | None = None
    truncated: bool | None = None


class ListInput(_Input):
    """Which map, which page of its keys, and which fields of its entries to show beside them."""

    path: str | list[str] = Field(default="", description="A path; your own root when absent.")
    limit: int = Field(default=1_000, ge=1, le=1_000, description="How many keys at most.")
    offset: int = OFFSET
    fields: list[str] | None = Field(
        default=None, max_length=16, description="Paths below each entry, to show what stands there."
    )
    max_size: int = Field(
        default=MAX_SIZE,
        ge=0,
        alias="maxSize",
        description="How many bytes the fields may take together; what no longer fits is truncated.",
    )


class ListOutput(BaseModel):
    """The keys of a map, the size of a list, or the type of anything else."""

    exists: bool
    type: str
    count: int | None = None
    keys: list[str] | None = None
    offset: int | None = None
    values: dict[str, Any] | None = None


class SliceInput(_Input):
    """Which map or list, and which page of it."""

    path: str | list[str] = PATH
    offset: int = OFFSET
    limit: int = Field(default=100, ge=1, le=1_000, description="How many at most.")
    max_size: int = Field(
        default=MAX_SIZE, ge=0, alias="maxSize", description="How many bytes the page may have."
    )


class SliceOutput(BaseModel):
    """A page: elements of a list, or entries {key, value} of a map."""

    exists: bool
    type: str | None = None
    count: int | None = None
    values: list[Any] | None = None
    offset: int | None = None


class InspectInput(_Input):
    """One path or several, and how much text they may take together."""

    path: str | None = Field(default=None, description="One path.")
    paths: str | list[str] | None = Field(default=None, description="Or several, or one.")
    budget: int = Field(default=500, ge=10, le=100_000, description="In bytes, shared between the paths.")
    compact: bool = Field(default=True, description="On one line.")


class InspectOutput(BaseModel):
    """The text, or one text a path."""

    result: str | dict[str, str]


class AggregateInput(_Input):
    """What to count: values so many levels below a path, grouped by what stands at a path below each."""

    path: str | list[str] = PATH
    depth: int = Field(default=1, ge=0, le=32, description="How many levels below; 0 is the value itself.")
    group_by: str | None = Field(
        default=None, alias="groupBy", description="A path below each counted value, to group by."
    )


class AggregateOutput(BaseModel):
    """The count, and the counts of the groups."""

    exists: bool
    count: int | None = None
    groups: dict[str, dict[str, int]] | None = None


def read(call: Call, data: ReadInput) -> dict[str, Any]:
    """The value at a path; absence is an answer."""
    value = values.read(call, values.locate(call, data.path))
    if isinstance(value, Missing):
        return {"exists": False, "value": None, "valueBytes": 0}
    size = values.size_of(value)
    if size > data.max_size:
        cut = {"type": type_word(value), "value": None, "truncated": True}
        return {"exists": True, **cut, "valueBytes": size}
    return {"exists": True, "value": value, "valueBytes": size}


def list_path(call: Call, data: ListInput) -> dict[str, Any]:
    """The keys below a path, a page at a time."""
    place = values.locate(call, data.path)
    listing = values.list_keys(call, place, data.offset, data.limit)
    if isinstance(listing, Missing):
        return {"exists": False, "type": "Nil"}
    result: dict[str, Any] = {"exists": True, "type": listing.type}
    if listing.count is not None:
        result["count"] = listing.count
    if listing.keys is not None:
        result |= {"keys": list(listing.keys), "offset": data.offset}
    if data.fields is not None:
        if listing.keys is None:
            raise BadInput(f"fields: a {listing.type} has no keyed entries")
        result["values"] = _fields(call, place, listing.keys, data.fields, data.max_size)
    return result


def slice_path(call: Call, data: SliceInput) -> dict[str, Any]:
    """A page of a map or list."""
    place = values.locate(call, data.path)
    listing = values.list_keys(call, place, data.offset, data.limit)
    if isinstance(listing, Missing):
        return {"exists": False}
    if listing.keys is not None:
        found = ((key, values.read(call, place.below(key))) for key in listing.keys)
        page = [{"key": key, "value": value} for key, value in found if not isinstance(value, Missing)]
    else:
        page = views.page_of(values.read(call, place), data.offset, data.limit)
    if values.size_of(page) > data.max_size:
        raise BadInput(f"maxSize: this page is larger than {data.max_size} bytes; ask for fewer")
    return {
        "exists": True,
        "type": listing.type,
        "count": listing.count,
        "values": page,
        "offset": data.offset,
    }


def inspect(call: Call, data: InspectInput) -> dict[str, Any]:
    """A text that shows what is there, within a budget."""
    paths = data.paths if data.paths is not None else data.path
    if paths is None or paths == [] or (data.paths is not None and data.path is not None):
        raise BadInput("path: give one path, or paths with at least one")
    if isinstance(paths, str):
        return {"result": _inspected(call, paths, data.budget, compact=data.compact)}
    share = max(10, data.budget // len(paths))
    return {"result": {path: _inspected(call, path, share, compact=data.compact) for path in paths}}


def aggregate(call: Call, data: AggregateInput) -> dict[str, Any]:
    """Count values below a path, and group them."""
    value = values.read(call, values.locate(call, data.path))
    if not isinstance(value, dict | list):
        return {"exists": False}
    result: dict[str, Any] = {"exists": True, "count": views.count_at(value, data.depth)}
    if data.group_by is not None:
        path = [segment for segment in data.group_by.split("/") if segment]
        result["groups"] = views.groups_at(value, data.depth, path)
    return result


def _fields(
    call: Call, place: values.Place, keys: Sequence[str], fields: list[str], left: int
) -> dict[str, dict[str, Any]]:
    """What stands at some paths below each key, until `left` bytes are spent."""
    shown: dict[str, dict[str, Any]] = {key: {} for key in keys}
    for key in keys:
        for field in fields:
            value = values.read(call, place.below(key, *filter(None, field.split("/"))))
            if isinstance(value, Missing):
                shown[key][field] = {"exists": False, "value": None}
            elif (size := values.size_of(value)) > left:
                shown[key][field] = {"exists": True, "value": None, "truncated": True}
            else:
                shown[key][field] = {"exists": True, "value": value}
                left -= size
    return shown


def _inspected(call: Call, path: str, budget: int, *, compact: bool) -> str:
    value = values.read(call, values.locate(call, path))
    if isinstance(value, Missing):
        return f"null /* nothing at {path} */"
    return views.text_of(value, budget, compact=compact)


def _operation(name: str, title: str, description: str, models: tuple[Any, Any], handler: Any) -> Operation:
    return Operation(
        path=f"v/ops/covia/{name}",
        adapter=f"covia:{name}",
        name=title,
        description=description,
        input=models[0],
        output=models[1],
        handler=handler,
        callers=READERS,
        read_only=True,
    )


OPERATIONS = (
    _operation(
        "read",
        "Read",
        "Read the JSON value at a path: w/ documents, h/ inbox, j/ jobs, v/ catalogue.",
        (ReadInput, ReadOutput),
        read,
    ),
    _operation("list", "List", "List the keys of the map at a path.", (ListInput, ListOutput), list_path),
    _operation("slice", "Slice", "Read a page of a map or list.", (SliceInput, SliceOutput), slice_path),
    _operation(
        "inspect",
        "Inspect",
        "Show what is at a path, within a budget.",
        (InspectInput, InspectOutput),
        inspect,
    ),
    _operation(
        "aggregate",
        "Aggregate",
        "Count the values below a path, and group them.",
        (AggregateInput, AggregateOutput),
        aggregate,
    ),
)
