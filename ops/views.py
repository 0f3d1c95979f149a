"""Looking at JSON without reading all of it: pages, counts, a text within a budget. Pure."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from .errors import BadInput
from .tree import MISSING, Missing, type_word, walk


def page_of(value: Any, offset: int, limit: int) -> list[Any]:
    """Elements of a list, or entries `{key, value}` of a map in the order of its keys.

    Raises BadInput otherwise.
    """
    if isinstance(value, list):
        return value[offset : offset + limit]
    if isinstance(value, dict):
        return [{"key": key, "value": value[key]} for key in sorted(value)[offset : offset + limit]]
    raise BadInput(f"path: a {type_word(value)} has no parts to slice")


def count_at(value: Any, depth: int) -> int:
    """How many values stand `depth` levels below; at depth 0 the value itself."""
    return sum(1 for _ in _nodes(value, depth))


def groups_at(value: Any, depth: int, path: Sequence[str]) -> dict[str, dict[str, int]]:
    """The values at a depth, counted by what stands at a path below each; what has nothing there counts as
    null.
    """
    counted = Counter(_label(walk(node, path)) for node in _nodes(value, depth))
    return {label: {"count": count} for label, count in sorted(counted.items())}


def text_of(value: Any, budget: int, *, compact: bool) -> str:
    """A value as text of about `budget` bytes: JSON, with comments where something was left out."""
    writer = _Writer(budget, compact=compact)
    writer.value(value, 0)
    return "".join(writer.parts)


def _nodes(value: Any, depth: int) -> Iterator[Any]:
    if depth == 0:
        yield value
    elif isinstance(value, dict):
        for key in sorted(value):
            yield from _nodes(value[key], depth - 1)
    elif isinstance(value, list):
        for element in value:
            yield from _nodes(element, depth - 1)


def _label(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(None if isinstance(value, Missing) else value, ensure_ascii=False, sort_keys=True)


class _Writer:
    """Writes JSON until the budget is spent, and says in comments what it left out."""

    def __init__(self, budget: int, *, compact: bool) -> None:
        self.parts: list[str] = []
        self._left = budget
        self._compact = compact

    def value(self, value: Any, depth: int) -> None:
        if isinstance(value, dict):
            pairs = [(f"{json.dumps(key, ensure_ascii=False)}: ", value[key]) for key in sorted(value)]
            self._container("{", "}", pairs, depth)
        elif isinstance(value, list):
            self._container("[", "]", [("", element) for element in value], depth)
        else:
            self._scalar(value)

    def _container(self, opening: str, closing: str, entries: Sequence[tuple[str, Any]], depth: int) -> None:
        self._put(opening)
        for index, (label, entry) in enumerate(entries):
            if self._left <= 0:
                self._put(f" /* {len(entries) - index} more */ ")
                break
            self._put((", " if index else "") if self._compact else self._line(index, depth + 1))
            self._put(label)
            self.value(entry, depth + 1)
        if entries and not self._compact:
            self._put("\n" + "  " * depth)
        self._put(closing)

    def _scalar(self, value: Any) -> None:
        text = json.dumps(None if value is MISSING else value, ensure_ascii=False)
        if len(text) > max(self._left, 10):
            kept = max(self._left, 10)
            start = json.dumps(str(value)[:kept], ensure_ascii=False)
            text = f"{start} /* {len(text) - kept} more characters */"
        self._put(text)

    def _line(self, index: int, depth: int) -> str:
        return ("," if index else "") + "\n" + "  " * depth

    def _put(self, text: str) -> None:
        self.parts.append(text)
        self._left -= len(text.encode("utf-8"))
