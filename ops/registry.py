"""The catalogue: operations by name, filled by explicit calls (house rule 9), and the virtual `v/` that shows
it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import JsonSchemaMode

from .errors import UnknownOperation
from .model import Operation


class Registry:
    """Every operation of a venue.

    A reference is a catalogue path, or the adapter form such as `hitl:request`.
    """

    def __init__(self, operations: Iterable[Operation], dids: Iterable[str] = ()) -> None:
        self._operations: dict[str, Operation] = {}
        self._aliases: dict[str, str] = {}
        for operation in operations:
            self._add(operation)
        self._dids = tuple(dids)

    def _add(self, operation: Operation) -> None:
        if operation.path in self._operations or operation.adapter in self._aliases:
            raise ValueError(f"the operation {operation.path} is registered twice")
        self._operations[operation.path] = operation
        self._aliases[operation.adapter] = operation.path

    def __iter__(self) -> Iterator[Operation]:
        return iter(self._operations.values())

    def __len__(self) -> int:
        return len(self._operations)

    def find(self, reference: str) -> Operation:
        """The operation that a reference names; this venue's own DID may stand before the path.

        Raises UnknownOperation (`unknown_operation`).
        """
        path = reference
        for did in self._dids:
            path = path.removeprefix(f"{did}/")
        path = path.strip("/")
        operation = self._operations.get(self._aliases.get(path, path))
        if operation is None:
            raise UnknownOperation(f"Cannot resolve operation: {reference[:200]}")
        return operation


def info(operation: Operation) -> dict[str, Any]:
    """An operation as the catalogue lists it."""
    return {
        "name": operation.path,
        "asset": operation.path,
        "title": operation.name,
        "description": operation.description,
        "input": schema_of(operation, "input"),
        "output": schema_of(operation, "output"),
        "readOnly": operation.read_only,
        "internal": False,
    }


def metadata(operation: Operation) -> dict[str, Any]:
    """An operation as `v/ops/…` holds it."""
    return {
        "name": operation.name,
        "description": operation.description,
        "operation": {
            "adapter": operation.adapter,
            "toolName": operation.tool_name,
            "readOnly": operation.read_only,
            "input": schema_of(operation, "input"),
            "output": schema_of(operation, "output"),
        },
    }


def catalogue(
    operations: Sequence[Operation],
    adapters: Mapping[str, Mapping[str, Any]],
    skills: Mapping[str, Any],
) -> dict[str, Any]:
    """The virtual namespace `v/`: every operation, what there is to know of each adapter, and skills for
    agents.
    """
    ops: dict[str, dict[str, Any]] = {}
    for operation in operations:
        adapter, name = operation.adapter.split(":")
        ops.setdefault(adapter, {})[name] = metadata(operation)
    described = {
        name: {
            "name": name,
            "description": "",
            "operations": [f"v/ops/{name}/{op}" for op in found],
            **adapters.get(name, {}),
        }
        for name, found in ops.items()
    }
    return {"ops": ops, "info": {"adapters": described}, "skills": skills}


def schema_of(operation: Operation, side: str) -> dict[str, Any]:
    """The JSON Schema of an operation's input or output."""
    return (
        _schema(operation.input, "validation")
        if side == "input"
        else _schema(operation.output, "serialization")
    )


@cache
def _schema(model: type[BaseModel], mode: JsonSchemaMode) -> dict[str, Any]:
    """Kept, for making one takes milliseconds; whoever serves it only reads it."""
    return model.model_json_schema(by_alias=True, mode=mode)
