"""`covia:read|list|slice|inspect|aggregate`: documents and views by path, whole or in part (D24)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from .. import values, views
from ..errors import BadInput
from ..model import READERS, Call, Operation
from ..tree import Missing, type_word

MAX_SIZE = 1_000_000
PATH = Field(description="Such as w/reports/q3; a bare path is your own, a foreign one begins with a DID.")


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
    limit: int = Field(default=1_000, ge=1, le=1_000)
    offset: int = Field(default=0, ge=0)
    fields: list[str] | None = Field(default=None, max_length=16)


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
    offset: int = Field(default=0, ge=0)
    limit: int = Field(default=100, ge=1, le=1_000)
    max_size: int = Field(default=MAX_SIZE, ge=0, alias="maxSize")


class SliceOutput(BaseModel):
    """A page: elements of a list, or entries {key, value} of a map."""

    exists: bool
    type: str | None = None
    count: int | None = None
    values: list[Any] | None = None
    offset: int | None = None


class InspectInput(_Input):
    """One path or several, and how much text they may take together."""

    path: str | None = None
    paths: str | list[str] | None = None
    budget: int = Field(default=500, ge=10, le=100_000, description="In bytes, shared between the paths.")
    compact: bool = True


class InspectOutput(BaseModel):
    """The text, or one text a path."""

    result: str | dict[str, str]


class AggregateInput(_Input):
    """What to count: values so many levels below a path, grouped by what stands at a path below each."""

    path: str | list[str] = PATH
    depth: int = Field(default=1, ge=0, le=32)
    group_by: str | None = Field(default=None, alias="groupBy")


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
        result["values"] = {key: _fields(call, place, key, data.fields) for key in listing.keys}
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


def _fields(call: Call, place: values.Place, key: str, fields: list[str]) -> dict[str, Any]:
    shown = {}
    for field in fields:
        value = values.read(call, place.below(key, *filter(None, field.split("/"))))
        missing = isinstance(value, Missing)
        shown[field] = {"exists": not missing, "value": None if missing else value}
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
