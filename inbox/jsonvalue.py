"""JSON values as this repository means them: what is one, when two are equal, and how a problem is named."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 64
MAX_INTEGER = 2**63 - 1
ROOT = "$"


@dataclass(frozen=True)
class Issue:
    """One problem with a value: the dotted path to it (`$` is the value itself), and what is wrong there."""

    path: str
    problem: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


class IssuesError(ValueError):
    """Something was checked and does not hold. `issues` names every problem."""

    def __init__(self, issues: Iterable[Issue]) -> None:
        self.issues = tuple(issues)
        super().__init__("; ".join(map(str, self.issues)))


def json_issues(value: object, path: str = ROOT, depth: int = 0) -> Iterator[Issue]:
    """Everything that keeps a Python value from being a JSON value which every reader takes alike.

    Dicts with string keys, lists, tuples, strings, finite numbers, booleans and None are JSON. NaN,
    infinities, integers beyond 64 bits, lone surrogates and nesting below 64 levels are not.
    """
    if depth > MAX_DEPTH:
        yield Issue(path, f"nested deeper than {MAX_DEPTH} levels")
    elif isinstance(value, dict):
        for key, member in value.items():
            if isinstance(key, str):
                yield from text_issues(key, path)
                yield from json_issues(member, join(path, key), depth + 1)
            else:
                yield Issue(path, f"the key {key!r} is not a string")
    elif isinstance(value, list | tuple):
        for index, member in enumerate(value):
            yield from json_issues(member, join(path, str(index)), depth + 1)
    else:
        yield from _scalar_issues(value, path)


def _scalar_issues(value: object, path: str) -> Iterator[Issue]:
    if isinstance(value, str):
        yield from text_issues(value, path)
    elif isinstance(value, float) and not math.isfinite(value):
        yield Issue(path, "not a finite number")
    elif isinstance(value, int) and abs(value) > MAX_INTEGER:
        yield Issue(path, "an integer beyond 64 bits")
    elif not isinstance(value, int | float | None):
        yield Issue(path, f"a {type(value).__name__} is not a JSON value")


def text_issues(text: str, path: str) -> Iterator[Issue]:
    """Whether a string can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        yield Issue(path, "a lone surrogate is no text")


def to_json(value: object) -> str:
    """The compact JSON text of a JSON value."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def json_copy(value: Any) -> Any:
    """A copy of a JSON value that shares nothing with it; tuples come back as lists."""
    return json.loads(to_json(value))


def json_equal(one: object, other: object) -> bool:
    """Equality as JSON has it: true is not 1, while 1 and 1.0 are one number."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(json_equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(json_equal, one, other))
    return one == other


def join(path: str, step: str) -> str:
    """The path one step further down."""
    return step if path == ROOT else f"{path}.{step}"
