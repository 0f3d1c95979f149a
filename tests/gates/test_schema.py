"""Types as JSON Schema, references resolved, and the check at the boundary."""

import enum
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model

from inbox.jsonvalue import MAX_DEPTH, json_copy, json_equal, json_issues
from inbox.schema import (
    SchemaUnusable,
    Shape,
    ValueUnfit,
    check_against_json_schema,
    stored_schema,
    unchecked_keywords,
)


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Item(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    colour: Colour = Colour.RED
    count: Annotated[int, Field(ge=1)] = 1


class Order(BaseModel):
    first: Item
    rest: list[Item] = []
    by_name: dict[str, Item] = {}
    either: Item | str | None = None
    at: date | None = None


class Tree(BaseModel):
    value: int
    children: list["Tree"] = []


def paths(schema: Mapping[str, Any], value: Any) -> list[str]:
    return [issue.path for issue in check_against_json_schema(schema, value)]


# -- references ------------------------------------------------------------------------------------


def test_a_nested_model_is_checked_at_the_boundary() -> None:
    schema = Shape[Order](Order).json_schema()
    assert schema is not None
    assert "$ref" not in str(schema)
    assert "$defs" not in str(schema)
    good = {"first": {"name": "a"}, "rest": [{"name": "b", "colour": "blue"}], "either": None}
    assert paths(schema, good) == []
    bad = {"first": {"name": 1}, "rest": [{}, {"name": "b", "colour": "green"}], "by_name": {"x": {"nam": 1}}}
    assert paths(schema, bad) == [
        "first.name",
        "rest.0.name",
        "rest.1.colour",
        "by_name.x.name",
        "by_name.x.nam",
    ]


def test_a_recursive_model_is_checked_down_to_where_it_begins_again() -> None:
    schema = Shape[Tree](Tree).json_schema()
    assert schema is not None
    assert paths(schema, {"value": 1, "children": [{"value": 2}]}) == []
    assert paths(schema, {"value": "1"}) == ["value"]
    with pytest.raises(ValueUnfit):
        Shape[Tree](Tree).read({"value": 1, "children": [{"value": 2, "children": [{"value": "x"}]}]})


@pytest.mark.parametrize(
    "reference",
    [
        "http://127.0.0.1:1/x.json",
        "file:///etc/passwd",
        "other.json#/$defs/A",
        "#/$defs/nowhere",
        "#/$defs/A/type",
        "A",
        7,
        None,
    ],
)
def test_only_local_references_that_lead_somewhere(reference: Any) -> None:
    document = {"properties": {"a": {"$ref": reference}}, "$defs": {"A": {"type": "string"}}}
    with pytest.raises(SchemaUnusable) as caught:
        stored_schema(document)
    assert [issue.path for issue in caught.value.issues] == ["properties.a"]


def test_what_is_no_schema_is_no_reference() -> None:
    document = {
        "properties": {
            "$ref": {"type": "string"},
            "default": {"type": "integer"},
            "$defs": {"const": {"$ref": "x"}},
        },
        "enum": [{"$ref": "#/nowhere"}],
    }
    assert stored_schema(document) == document


def test_a_reference_keeps_what_stands_beside_it_unless_that_widens() -> None:
    definitions = {"A": {"type": "string", "title": "A"}, "T": True, "F": False}
    beside = stored_schema({"$ref": "#/$defs/A", "title": "mine", "default": "x", "$defs": definitions})
    assert beside == {"type": "string", "title": "mine", "default": "x"}
    with pytest.raises(SchemaUnusable):
        stored_schema({"$ref": "#/$defs/A", "type": ["string", "null"], "$defs": definitions})
    assert paths(stored_schema({"$ref": "#/$defs/T", "$defs": definitions}), 1) == []
    assert paths(stored_schema({"$ref": "#/$defs/F", "$defs": definitions}), 1) == ["$"]


def test_escaped_names_in_references() -> None:
    document = {"$ref": "#/$defs/a~1b~0c", "$defs": {"a/b~c": {"type": "null"}}}
    assert stored_schema(document) == {"type": "null"}


def test_a_schema_that_unfolds_without_end_is_refused() -> None:
    laughs: dict[str, Any] = {"L0": {"type": "string"}}
    for level in range(1, 40):
        twice = {"$ref": f"#/$defs/L{level - 1}"}
        laughs[f"L{level}"] = {"anyOf": [twice, {"properties": {"a": twice}}]}
    with pytest.raises(SchemaUnusable):
        stored_schema({"$ref": "#/$defs/L39", "$defs": laughs})
    chain = {f"C{level}": {"items": {"$ref": f"#/$defs/C{level + 1}"}} for level in range(3000)}
    with pytest.raises(SchemaUnusable):
        stored_schema({"$ref": "#/$defs/C0", "$defs": {**chain, "C3000": {}}})


def test_a_schema_is_a_copy() -> None:
    given_schema: dict[str, Any] = {"properties": {"a": {"type": "string"}}}
    kept = stored_schema(given_schema)
    given_schema["properties"]["a"]["type"] = "integer"
    assert kept == {"properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"type": "text"}, "type"),
        ({"type": []}, "type"),
        ({"properties": []}, "properties"),
        ({"properties": {"a": 7}}, "properties.a"),
        ({"required": "a"}, "required"),
        ({"required": [1]}, "required"),
        ({"items": [{"type": "string"}]}, "items"),
        ({"anyOf": []}, "anyOf"),
        ({"anyOf": [{"enum": 1}]}, "anyOf.0.enum"),
        ({"additionalProperties": None}, "additionalProperties"),
    ],
)
def test_what_the_check_relies_on_must_have_its_form(schema: dict[str, Any], path: str) -> None:
    with pytest.raises(SchemaUnusable) as caught:
        stored_schema(schema)
    assert [issue.path for issue in caught.value.issues] == [path]


# -- types -----------------------------------------------------------------------------------------

TYPES: list[tuple[Any, Any, Any]] = [
    (Order, {"first": {"name": "a"}}, Order(first=Item(name="a"))),
    (bool, True, True),
    (list[int], [1, 2], [1, 2]),
    (Literal["ship", "hold"], "ship", "ship"),
    (Colour, "blue", Colour.BLUE),
    (date, "2026-01-02", date(2026, 1, 2)),
    (UUID | None, None, None),
    (tuple[int, str], [1, "a"], (1, "a")),
    (set[str], ["a"], {"a"}),
    (TypeAdapter(dict[str, int]), {"a": 1}, {"a": 1}),
    (create_model("Strict", __config__=ConfigDict(strict=True), at=(date, ...)), {"at": "2026-01-02"}, None),
    ({"type": "integer"}, 3, 3),
    (None, {"any": ["thing"]}, {"any": ["thing"]}),
]


@pytest.mark.parametrize(("schema", "value", "read"), TYPES, ids=lambda each: str(each)[:30])
def test_a_value_that_fits_is_read_as_the_type(schema: Any, value: Any, read: Any) -> None:
    shape = Shape[Any](schema)
    assert check_against_json_schema(shape.json_schema() or {}, value) == ()
    answer = shape.read(value)
    assert read is None or (answer == read and type(answer) is type(read))


@pytest.mark.parametrize("schema", [object(), 7, "Nowhere", type("Plain", (), {})])
def test_what_is_no_type_is_no_schema(schema: Any) -> None:
    with pytest.raises(SchemaUnusable):
        Shape[Any](schema).json_schema()


def test_every_problem_of_a_value_is_named() -> None:
    with pytest.raises(ValueUnfit) as caught:
        Shape[Order](Order).read({"first": {"count": 0}, "rest": [1]})
    assert {issue.path for issue in caught.value.issues} == {"first.name", "first.count", "rest.0"}


# -- the check -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, [3, 3.0, 10**18], [True, 3.5, "3", None]),
        ({"type": "number"}, [3, 3.5], [False, "3"]),
        ({"type": ["string", "null"]}, ["a", None], [1, [], {}]),
        ({"enum": [1, "a", None, [1]]}, [1, 1.0, "a", None, [1]], [True, "1", [True], 0]),
        ({"const": {"a": [1, True]}}, [{"a": [1, True]}], [{"a": [True, 1]}, {"a": [1, 1]}, {}]),
        ({"additionalProperties": {"type": "string"}}, [{}, {"a": "b"}], [{"a": 1}]),
        ({"properties": {"a": False}}, [{}, {"b": 1}], [{"a": 1}]),
        ({"patternProperties": {"^x": {}}, "additionalProperties": False}, [{"x1": 1}], []),
        ({"prefixItems": [{}], "items": {"type": "string"}}, [[1], [1, "a"]], [[1, 2]]),
        ({"items": False}, [[]], [[1]]),
        ({"anyOf": [{"type": "string"}, {"required": ["a"]}]}, ["x", {"a": 1}, 7], [{}]),
        ({"oneOf": [False], "minimum": 9, "not": {}}, [1, "a", None], []),
    ],
)
def test_the_subset(schema: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    assert [value for value in good if paths(schema, value)] == []
    assert [value for value in bad if not paths(schema, value)] == []


def test_unchecked_keywords_are_found_wherever_they_stand() -> None:
    schema = {
        "title": "T",
        "anyOf": [{"items": {"format": "date"}}, True],
        "additionalProperties": {"oneOf": []},
        "properties": {"minimum": {"type": "string"}},
    }
    assert [issue.path for issue in unchecked_keywords(schema)] == [
        "additionalProperties.oneOf",
        "anyOf.0.items.format",
    ]


# -- JSON values -----------------------------------------------------------------------------------

numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(json_values)
def test_what_hypothesis_calls_json_survives_a_copy(value: Any) -> None:
    if not any(json_issues(value)):
        assert json_equal(json_copy(value), value)


@given(json_values, json_values)
def test_equality_is_symmetric_and_sees_booleans(one: Any, other: Any) -> None:
    assert json_equal(one, one)
    assert json_equal(one, other) == json_equal(other, one)
    assert not json_equal(True, 1)
    assert not json_equal([0], [False])


def test_depth_is_bounded() -> None:
    value: Any = 1
    for _ in range(MAX_DEPTH):
        value = {"a": value}
    assert not any(json_issues(value))
    assert any(json_issues([value]))
