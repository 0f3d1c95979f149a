"""Pydantic type <-> JSON Schema, and the check of a JSON value where it is submitted (D27).

Whoever asks has the real type; whoever answers may be another program that has only the row. So a `Shape`
describes the type as JSON Schema, which travels, and reads an answer back as the type, which does not.
`check_against_json_schema` is the check for the side without the type: a fixed subset of JSON Schema, on
purpose no validator. Nothing is ever fetched: a reference that is not local is refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError

from .jsonvalue import MAX_DEPTH, ROOT, Issue, IssuesError, join, json_copy, json_equal, json_issues, to_json

T = TypeVar("T")

MAX_SCHEMA_NODES = 10_000
MAX_SCHEMA_DEPTH = 2 * MAX_DEPTH

CHECKED = {"type", "required", "properties", "items", "enum", "const", "anyOf", "additionalProperties"}
"""The keywords that the boundary check knows."""

ANNOTATIONS = {
    *("$schema", "$id", "$comment", "$defs", "definitions"),
    *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
}
"""Keywords that say something to a reader and constrain nothing."""


class SchemaUnusable(IssuesError):
    """What was given as a schema is none, or none that can be stored."""


class ValueUnfit(IssuesError):
    """A value is not of the type that was asked for."""


# -- the check at the boundary ---------------------------------------------------------------------


def check_against_json_schema(schema: Mapping[str, Any] | bool, value: object) -> tuple[Issue, ...]:
    """Check a JSON value against the subset of JSON Schema that the boundary knows; name each offending path.

    Known are type, required, properties, items, enum, const, anyOf and additionalProperties; every other
    keyword is left to whoever has the real type. A boolean is not a number. No issue: the value passed.
    """
    return tuple(_mismatches(schema, value, ROOT))


def _mismatches(schema: Mapping[str, Any] | bool, value: object, path: str) -> Iterator[Issue]:
    if isinstance(schema, bool):
        if not schema:
            yield Issue(path, "not allowed")
        return
    if "type" in schema and not _has_type(value, schema["type"]):
        yield Issue(path, f"expected {_named(schema['type'])}, got {_type_of(value)}")
        return
    if "const" in schema and not json_equal(schema["const"], value):
        yield Issue(path, f"expected {to_json(schema['const'])}")
    if "enum" in schema and not any(json_equal(choice, value) for choice in schema["enum"]):
        yield Issue(path, f"expected one of {to_json(schema['enum'])}")
    if "anyOf" in schema and all(any(_mismatches(branch, value, path)) for branch in schema["anyOf"]):
        yield Issue(path, "matches none of the alternatives")
    if isinstance(value, dict):
        yield from _object_mismatches(schema, value, path)
    if isinstance(value, list | tuple) and "items" in schema:
        for index in range(len(schema.get("prefixItems", ())), len(value)):
            yield from _mismatches(schema["items"], value[index], join(path, str(index)))


def _object_mismatches(schema: Mapping[str, Any], value: dict[str, Any], path: str) -> Iterator[Issue]:
    properties = schema.get("properties", {})
    # What a pattern may name is no additional property, and patterns are left to the real type.
    others = True if "patternProperties" in schema else schema.get("additionalProperties", True)
    for name in schema.get("required", ()):
        if name not in value:
            yield Issue(join(path, name), "required")
    for name, member in value.items():
        yield from _mismatches(properties.get(name, others), member, join(path, name))


# In this order: a bool is an int to Python.
_TYPES: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int,),
    "number": (float,),
    "string": (str,),
    "array": (list, tuple),
    "object": (dict,),
}


def _has_type(value: object, wanted: str | Sequence[str]) -> bool:
    names = (wanted,) if isinstance(wanted, str) else wanted
    actual = _type_of(value)
    return any(name == actual or (name == "number" and actual == "integer") for name in names)


def _type_of(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        return "integer"
    return next((name for name, types in _TYPES.items() if isinstance(value, types)), type(value).__name__)


def _named(wanted: str | Sequence[str]) -> str:
    return wanted if isinstance(wanted, str) else " or ".join(wanted)


# -- schemas as they are stored --------------------------------------------------------------------


def stored_schema(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON Schema as it goes on a row: a copy, with every local reference replaced by what it names.

    A schema that contains itself is cut where it would begin again; what lies below is left to the real type.

    Raises `SchemaUnusable` when it is no JSON Schema, refers to anything outside itself, or unfolds beyond
    10,000 nodes or 128 levels.
    """
    if issues := [*json_issues(dict(raw))]:
        raise SchemaUnusable(issues)
    unfolded = _Unfolding(json_copy(dict(raw))).result()
    if issues := [*_shape_issues(unfolded, ROOT)]:
        raise SchemaUnusable(issues)
    # A schema that is nothing but a reference to `true` or `false` unfolds into a boolean.
    return unfolded if isinstance(unfolded, dict) else {"anyOf": [unfolded]}


def unchecked_keywords(schema: Mapping[str, Any] | bool, path: str = ROOT) -> Iterator[Issue]:
    """Each keyword that constrains a value and that the boundary check does not know (`strict_schema`)."""
    if isinstance(schema, bool):
        return
    for keyword in schema:
        if keyword not in CHECKED and keyword not in ANNOTATIONS:
            yield Issue(join(path, keyword), "the boundary check does not know this keyword")
    for step, part in _parts(schema):
        yield from unchecked_keywords(part, join(path, step))


def _parts(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas directly inside a schema, each with the path to it."""
    for keyword in ("items", "additionalProperties"):
        if keyword in schema:
            yield keyword, schema[keyword]
    for name, part in schema.get("properties", {}).items():
        yield f"properties.{name}", part
    for index, part in enumerate(schema.get("anyOf", ())):
        yield f"anyOf.{index}", part


def _shape_issues(schema: object, path: str) -> Iterator[Issue]:
    """Whether the keywords that the check reads have the form that it relies on."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        yield Issue(path, "a schema is an object or a boolean")
        return
    sound = True
    for keyword, (is_sound, expectation) in _FORMS.items():
        if keyword in schema and not is_sound(schema[keyword]):
            sound = False
            yield Issue(join(path, keyword), expectation)
    if sound:
        for step, part in _parts(schema):
            yield from _shape_issues(part, join(path, step))


def _is_type(value: object) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and all(isinstance(name, str) and name in _TYPES for name in names)


_FORMS: dict[str, tuple[Any, str]] = {
    "type": (_is_type, f"one or more of {', '.join(_TYPES)}"),
    "required": (
        lambda value: isinstance(value, list) and all(isinstance(name, str) for name in value),
        "a list of names",
    ),
    "properties": (lambda value: isinstance(value, dict), "an object of schemas"),
    "enum": (lambda value: isinstance(value, list), "a list of values"),
    "anyOf": (lambda value: isinstance(value, list) and bool(value), "a list of schemas"),
}


_ONE_SCHEMA = {
    *("items", "contains", "unevaluatedItems"),
    *("additionalProperties", "propertyNames", "unevaluatedProperties"),
    *("not", "if", "then", "else"),
}
_LIST_OF_SCHEMAS = {"anyOf", "oneOf", "allOf", "prefixItems"}
_NAMED_SCHEMAS = {"properties", "patternProperties", "dependentSchemas"}


class _Unfolding:
    """Replaces local references by what they name. Where no schema can stand, `$ref` is data and stays."""

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document
        self._nodes = 0

    def result(self) -> Any:
        return self._schema(self._document, ROOT, ())

    def _schema(self, schema: Any, path: str, within: tuple[str, ...]) -> Any:
        self._nodes += 1
        if self._nodes > MAX_SCHEMA_NODES:
            raise SchemaUnusable([Issue(ROOT, f"unfolds beyond {MAX_SCHEMA_NODES} nodes")])
        if len(within) + path.count(".") > MAX_SCHEMA_DEPTH:
            raise SchemaUnusable([Issue(ROOT, f"unfolds beyond {MAX_SCHEMA_DEPTH} levels")])
        if not isinstance(schema, dict):
            return schema
        own = {
            keyword: self._keyword(keyword, value, join(path, keyword), within)
            for keyword, value in schema.items()
            if keyword not in ("$ref", "$defs", "definitions")
        }
        return self._replace(schema["$ref"], own, path, within) if "$ref" in schema else own

    def _keyword(self, keyword: str, value: Any, path: str, within: tuple[str, ...]) -> Any:
        if keyword in _ONE_SCHEMA:
            return self._schema(value, path, within)
        if keyword in _LIST_OF_SCHEMAS and isinstance(value, list):
            return [self._schema(part, join(path, str(index)), within) for index, part in enumerate(value)]
        if keyword in _NAMED_SCHEMAS and isinstance(value, dict):
            return {name: self._schema(part, join(path, name), within) for name, part in value.items()}
        return value

    def _replace(self, reference: object, own: dict[str, Any], path: str, within: tuple[str, ...]) -> Any:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise SchemaUnusable([Issue(path, f"the reference {reference!r} is not local")])
        if reference in within:
            return own
        named = self._schema(self._look_up(reference, path), path, (*within, reference))
        if isinstance(named, bool):
            return own if named else False
        for keyword in sorted(own.keys() & named.keys() & CHECKED):
            if not json_equal(own[keyword], named[keyword]):
                # Both hold at once, which the subset cannot say; keeping either would widen the schema.
                raise SchemaUnusable([Issue(join(path, keyword), f"{reference} says otherwise")])
        return {**named, **own}

    def _look_up(self, reference: str, path: str) -> Any:
        found: Any = self._document
        for step in reference[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or name not in found:
                raise SchemaUnusable([Issue(path, f"the reference {reference!r} leads nowhere")])
            found = found[name]
        if not isinstance(found, dict | bool):
            raise SchemaUnusable([Issue(path, f"the reference {reference!r} names no schema")])
        return found


# -- types -----------------------------------------------------------------------------------------


class Shape(Generic[T]):
    """What an answer must look like: JSON Schema for the row, the real type for whoever waits.

    Takes a pydantic model, any type that pydantic's TypeAdapter takes, a TypeAdapter, a JSON Schema as a
    mapping, or None for any JSON value.

    Raises `SchemaUnusable` when pydantic knows no such type.
    """

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._adapter: TypeAdapter[Any] | None = None
        if schema is None or isinstance(schema, Mapping):
            return
        try:
            self._adapter = schema if isinstance(schema, TypeAdapter) else TypeAdapter(schema)
        except (PydanticUserError, PydanticUndefinedAnnotation) as error:
            raise SchemaUnusable([Issue(ROOT, error.message)]) from error

    def json_schema(self) -> dict[str, Any] | None:
        """The JSON Schema to store, local references resolved; None when any JSON value will do.

        Raises `SchemaUnusable` when the type has no JSON Schema, or one that cannot be stored.
        """
        if self._adapter is None:
            return stored_schema(self._schema) if isinstance(self._schema, Mapping) else None
        try:
            return stored_schema(self._adapter.json_schema())
        except PydanticUserError as error:
            raise SchemaUnusable([Issue(ROOT, error.message)]) from error

    def read(self, value: Any) -> T:
        """A JSON value as the real type.

        Raises `ValueUnfit`, naming every problem.
        """
        if self._adapter is None:
            if issues := check_against_json_schema(self.json_schema() or {}, value):
                raise ValueUnfit(issues)
            return cast("T", value)
        try:
            # As JSON, not as Python: a strict model takes a date from JSON text, not from a Python string.
            return cast("T", self._adapter.validate_json(to_json(value)))
        except ValidationError as error:
            raise ValueUnfit(
                Issue(".".join(map(str, problem["loc"])) or ROOT, problem["msg"])
                for problem in error.errors(include_url=False, include_context=False, include_input=False)
            ) from error
