"""Walking and changing JSON by path segments: map keys by name, list elements by index (D24). Pure.

Nothing here changes a value in place; a change returns a new value that shares what it did not touch.
"""

import re
from collections.abc import Sequence
from typing import Any, Final

from .errors import BadInput

_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")


class Missing:
    """The value of what is not there; it is no JSON value, so a stored null is not mistaken for it."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()

_TYPES: Final = {dict: "Map", list: "Vector", str: "String", bool: "Boolean", int: "Long", float: "Double"}


def type_word(value: Any) -> str:
    """The protocol's word for the type of a value: Map, Vector, String, Boolean, Long, Double or Nil."""
    return _TYPES.get(type(value), "Nil")


def walk(value: Any, segments: Sequence[str]) -> Any:
    """What stands at a path below a value, or MISSING."""
    for segment in segments:
        if isinstance(value, dict) and segment in value:
            value = value[segment]
        elif isinstance(value, list) and (place := _place(value, segment)) is not None:
            value = value[place]
        else:
            return MISSING
    return value


def placed(value: Any, segments: Sequence[str], leaf: Any) -> Any:
    """The value with `leaf` at a path; maps that are missing on the way are made.

    Raises BadInput (`invalid_input`) when something on the way is no container, or a list has no such place.
    """
    if not segments:
        return leaf
    head, rest = segments[0], segments[1:]
    if isinstance(value, Missing):
        value = {}
    if isinstance(value, dict):
        return {**value, head: placed(value.get(head, MISSING), rest, leaf)}
    if isinstance(value, list):
        place = _place(value, head)
        if place is None:
            raise BadInput(f"the list has no place {head!r}")
        return [*value[:place], placed(value[place], rest, leaf), *value[place + 1 :]]
    raise BadInput(f"cannot write below a {type_word(value)}")


def removed(value: Any, segments: Sequence[str]) -> Any:
    """The value without what stands at a path that is there: a key goes, a place in a list becomes null."""
    head, rest = segments[0], segments[1:]
    if isinstance(value, dict):
        if rest:
            return {**value, head: removed(value[head], rest)}
        return {key: kept for key, kept in value.items() if key != head}
    place = int(head)
    return [*value[:place], removed(value[place], rest) if rest else None, *value[place + 1 :]]


def _place(value: Sequence[Any], segment: str) -> int | None:
    if not _INDEX.fullmatch(segment):
        return None
    place = int(segment)
    return place if place < len(value) else None
