"""The catalogue says of every operation what a person and a model need in order to call it."""

from collections.abc import Iterator
from typing import Any

import pytest

from ops.model import Operation
from ops.registry import metadata, schema_of
from venue.app import OPERATIONS


def _objects(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    yield from schema.get("$defs", {}).values()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.adapter)
def test_operation_describes_itself(operation: Operation) -> None:
    """A sentence for the operation, for its input, and for each field of it; objects on both sides."""
    assert operation.description.endswith(".")
    assert operation.path == f"v/ops/{operation.adapter.replace(':', '/')}"
    for side in ("input", "output"):
        schema = schema_of(operation, side)
        assert (schema["type"], bool(schema["description"])) == ("object", True)
    for shape in _objects(schema_of(operation, "input")):
        unsaid = [name for name, field in shape.get("properties", {}).items() if "description" not in field]
        assert not unsaid, shape.get("title")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.adapter)
def test_fields_have_types(operation: Operation) -> None:
    """No field is left open but the JSON values that anybody may store."""
    for shape in _objects(schema_of(operation, "input")):
        for name, field in shape.get("properties", {}).items():
            open_ended = not field.keys() & {"type", "anyOf", "$ref", "enum", "const", "items"}
            assert open_ended == (name == "value"), (shape.get("title"), name)


def test_asks_are_published_whole() -> None:
    """Every type of ask is named, with its options, offers and token spec."""
    request = next(op for op in OPERATIONS if op.adapter == "hitl:request")
    schema = schema_of(request, "input")
    ask = schema["$defs"]["Ask"]
    assert schema["properties"]["asks"]["items"] == {"$ref": "#/$defs/Ask"}
    assert ask["properties"]["type"]["enum"] == ["text", "approval", "choice", "checkboxes", "token"]
    assert {"Ask", "Option", "Offer", "TokenSpec", "WantedCapability"} <= schema["$defs"].keys()
    assert schema["$defs"]["Offer"]["additionalProperties"] is False


def test_metadata_is_the_protocols_asset_shape() -> None:
    """`{name, description, operation: {adapter, toolName, readOnly, input, output}}` (`wire.md` 5.1)."""
    for operation in OPERATIONS:
        said = metadata(operation)
        assert said.keys() == {"name", "description", "operation"}
        inner = said["operation"]
        assert inner["toolName"] == inner["adapter"].replace(":", "_")
        assert isinstance(inner["readOnly"], bool)


def test_read_only_operations_are_those_that_only_read() -> None:
    """The flags of `wire.md` 4.5 and 5.1, and of what is our own."""
    reads = {operation.adapter for operation in OPERATIONS if operation.read_only}
    assert reads == {
        *(f"covia:{name}" for name in ("read", "list", "slice", "inspect", "aggregate")),
        *("hitl:list", "hitl:blocked", "ucan:verify", "ucan:list"),
        *("agent:list", "agent:keys", "user:list", "user:keys", "audit:read"),
    }
