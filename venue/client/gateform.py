"""A gate's schema as asks, and the answers as its payload (D27). Pure.

A boolean is an approval, an enum a choice, a list of an enum checkboxes, a string a text; an object is one of
these for each of its properties. Everything else cannot be asked in an inbox.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from inbox.gates import GateSchemaInvalid
from inbox.jsonvalue import ROOT, Issue, join, to_json

ONLY = "answer"
"""The id of the one ask of a schema that is no object."""


class GateNotAskable(GateSchemaInvalid):
    """No asks of an inbox amount to this schema; no request was made."""

    code = "not_askable"
    _subject = "a schema that no inbox can ask"


@dataclass(frozen=True)
class _Part:
    """One ask: its kind, what may be chosen by option id, and whether it may go unanswered."""

    id: str
    kind: Literal["approval", "choice", "checkboxes", "text"]
    values: dict[str, Any] = field(default_factory=dict)
    nullable: bool = False
    required: bool = True
    prompt: str = ""

    def ask(self) -> dict[str, Any]:
        needed = self.required and not self.nullable
        ask = {"id": self.id, "type": self.kind, "prompt": self.prompt, "required": needed}
        options = [{"id": id, "label": id} for id in self.values]
        return {**ask, "options": options} if options else ask

    def value(self, answer: Any) -> Any:
        if self.kind == "choice":
            return self.values.get(answer, answer)
        if self.kind == "checkboxes":
            return [self.values.get(chosen, chosen) for chosen in answer]
        return answer


class _Refused(Exception):
    """Why one part of a schema cannot be asked."""

    def __init__(self, *issues: Issue) -> None:
        super().__init__()
        self.issues = issues


def asks_of(gate_id: str, schema: Mapping[str, Any] | None, title: str) -> list[dict[str, Any]]:
    """The asks that a schema amounts to; `title` is what a schema that is no object asks.

    Raises GateNotAskable, naming every part that no ask can carry.
    """
    try:
        return [replace(part, prompt=part.prompt or title).ask() for part in _parts(schema)]
    except _Refused as refused:
        raise GateNotAskable(gate_id, refused.issues) from None


def payload_of(schema: Mapping[str, Any] | None, answers: Mapping[str, Any]) -> Any:
    """The payload that the answers to its asks amount to; what went unanswered is null, or left out."""
    parts = _parts(schema)
    given = {part.id: part.value(answers[part.id]) for part in parts if part.id in answers}
    if not _is_object(schema):
        return given.get(ONLY)
    return {**{part.id: None for part in parts if part.nullable and part.required}, **given}


def _parts(schema: Mapping[str, Any] | None) -> list[_Part]:
    if not schema:
        raise _Refused(Issue(ROOT, "any JSON value will do, and a person must be asked something"))
    if not _is_object(schema):
        return [_part(ONLY, schema, ROOT)]
    properties, required = schema.get("properties", {}), schema.get("required", [])
    issues = [Issue(name, "required, and never described") for name in required if name not in properties]
    parts: list[_Part] = []
    for name, part in properties.items():
        try:
            prompt = part.get("description") or part.get("title") or name if isinstance(part, dict) else name
            parts.append(replace(_part(name, part, name), required=name in required, prompt=prompt))
        except _Refused as refused:
            issues += refused.issues
    if not properties:
        issues.append(Issue(ROOT, "an object without properties asks nothing"))
    if issues:
        raise _Refused(*issues)
    return parts


def _is_object(schema: Mapping[str, Any] | None) -> bool:
    return schema is not None and (schema.get("type") == "object" or "properties" in schema)


def _part(id: str, schema: Any, path: str) -> _Part:
    if not isinstance(schema, dict):
        raise _Refused(Issue(path, "any JSON value will do, and a person must be asked something"))
    if "anyOf" in schema:
        branches = [each for each in schema["anyOf"] if each != {"type": "null"}]
        if len(branches) != 1:
            raise _Refused(Issue(path, "one of several kinds of answer"))
        part = _part(id, branches[0], path)
        return replace(part, nullable=part.nullable or len(schema["anyOf"]) > 1)
    kinds = schema.get("type", ())
    kinds = {kinds} if isinstance(kinds, str) else {*kinds}
    part = _of_kind(id, schema, kinds - {"null"}, path)
    return replace(part, nullable="null" in kinds or part.nullable)


def _of_kind(id: str, schema: dict[str, Any], kinds: set[str], path: str) -> _Part:
    if "enum" in schema or "const" in schema:
        values = [schema["const"]] if "const" in schema else schema["enum"]
        nullable = any(value is None for value in values)
        return _Part(id, "choice", dict(_options(values, path)), nullable=nullable)
    if kinds == {"boolean"}:
        return _Part(id, "approval")
    if kinds == {"string"}:
        return _Part(id, "text")
    if kinds == {"array"} and isinstance(schema.get("items"), dict) and "prefixItems" not in schema:
        element = _part(id, schema["items"], join(path, "items"))
        if element.kind == "choice" and not element.nullable:
            return replace(element, kind="checkboxes")
    kind = " or ".join(sorted(kinds)) or "anything"
    raise _Refused(Issue(path, f"{kind}: an inbox asks for booleans, enums, lists of an enum, and strings"))


def _options(values: list[Any], path: str) -> Iterator[tuple[str, Any]]:
    seen: list[str] = []
    for value in values:
        if value is None:
            continue
        id = value if isinstance(value, str) else to_json(value)
        if isinstance(value, dict | list) or not id or id in seen:
            raise _Refused(Issue(path, f"the choice {to_json(value)} has no name of its own"))
        seen.append(id)
        yield id, value
    if not seen:
        raise _Refused(Issue(path, "there is nothing to choose from"))
