"""`covia:write|append|delete|copy`: the workspace by path (D24)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from .. import access, values
from ..errors import BadInput
from ..model import Call, Kind, Operation
from ..tree import Missing
from .covia_read import PATH

_WRITERS = frozenset({Kind.USER, Kind.AGENT})


class _Input(BaseModel):
    model_config = ConfigDict(strict=True, populate_by_name=True)


class WriteInput(_Input):
    """What to write, and where; null is a value like any other, and a string is stored as given."""

    path: str | list[str] = PATH
    value: Any = Field(description="Any JSON value.")


class WriteOutput(BaseModel):
    """Whether a value was there before, and whether missing parents were made."""

    existed: bool
    pathCreated: bool | None = None  # noqa: N815 - the wire's name


class AppendOutput(WriteOutput):
    """Besides, where the value stands now and how long the list is."""

    index: int
    newSize: int  # noqa: N815 - the wire's name


class DeleteInput(_Input):
    """What to delete."""

    path: str | list[str] = PATH


class DeleteOutput(BaseModel):
    """Whether anything was there."""

    deleted: bool


class CopyInput(_Input):
    """From where, and to where."""

    from_: str | list[str] = Field(alias="from", description="What to copy.")
    to: str | list[str] = Field(description="Where to, below w/.")


def write(call: Call, data: WriteInput) -> dict[str, bool]:
    """Write a value below `w/`."""
    return _written(*values.write(call, values.locate(call, data.path), data.value))


def append(call: Call, data: WriteInput) -> dict[str, Any]:
    """Add a value to the end of a list below `w/`; a list that is not there is made."""
    place = values.locate(call, data.path)
    values.check_writable(place)
    access.require(call, "crud/write", place.resource)
    current = values.peek(call, place)
    elements = [] if isinstance(current, Missing) else current
    if not isinstance(elements, list):
        raise BadInput("path: only a list can be appended to")
    written = _written(*values.write(call, place, [*elements, data.value]))
    return {**written, "index": len(elements), "newSize": len(elements) + 1}


def delete(call: Call, data: DeleteInput) -> dict[str, bool]:
    """Delete a value below `w/`, or a whole record of one's own inbox."""
    return {"deleted": values.delete(call, values.locate(call, data.path))}


def copy(call: Call, data: CopyInput) -> dict[str, bool]:
    """Copy what stands at one path to another."""
    target = values.locate(call, data.to)
    values.check_writable(target)
    value = values.read(call, values.locate(call, data.from_))
    if isinstance(value, Missing):
        raise BadInput("from: there is nothing to copy")
    return _written(*values.write(call, target, value))


def _written(existed: bool, made: bool) -> dict[str, bool]:
    return {"existed": existed, "pathCreated": True} if made else {"existed": existed}


def _operation(name: str, description: str, models: tuple[Any, Any], handler: Any) -> Operation:
    return Operation(
        path=f"v/ops/covia/{name}",
        adapter=f"covia:{name}",
        name=name.capitalize(),
        description=description,
        input=models[0],
        output=models[1],
        handler=handler,
        callers=_WRITERS,
        read_only=False,
    )


OPERATIONS = (
    _operation(
        "write",
        "Write a JSON value at a path below w/; missing maps on the way are made.",
        (WriteInput, WriteOutput),
        write,
    ),
    _operation("append", "Add a value to the end of the list at a path.", (WriteInput, AppendOutput), append),
    _operation(
        "delete",
        "Delete the value at a path below w/, or a whole record h/<id> of your own inbox.",
        (DeleteInput, DeleteOutput),
        delete,
    ),
    _operation("copy", "Copy the value at one path to another.", (CopyInput, WriteOutput), copy),
)
