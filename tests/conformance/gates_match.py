"""The expectations of a case against what happened. What is not understood is an error, never a pass."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from inbox.jsonvalue import json_equal

ABSENT = object()
"""What stands where a key is missing."""

TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "object": dict,
    "array": list,
    "boolean": bool,
    "number": (int, float),
    "integer": int,
}


class CaseFailed(AssertionError):
    """A case expects something else than what happened."""


class CaseNotUnderstood(Exception):
    """The case says something that this runner does not know."""


def match(expected: Any, actual: Any, where: str) -> None:
    """Objects by subset, lists by position, the rest by JSON equality, matchers by what they say."""
    if isinstance(expected, dict) and any(key.startswith("$") for key in expected):
        _match_matchers(expected, actual, where)
    elif isinstance(expected, dict):
        if not isinstance(actual, dict):
            raise CaseFailed(f"{where}: {shown(actual)} is no object")
        for key, value in expected.items():
            match(value, actual.get(key, ABSENT), f"{where}.{key}")
    elif isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            raise CaseFailed(f"{where}: {shown(actual)} is not {expected}")
        for index, (wanted, got) in enumerate(zip(expected, actual, strict=True)):
            match(wanted, got, f"{where}.{index}")
    elif actual is ABSENT or not json_equal(expected, actual):
        raise CaseFailed(f"{where}: {shown(actual)} is not {expected!r}")


def _match_matchers(expected: dict[str, Any], actual: Any, where: str) -> None:
    if unknown := expected.keys() - MATCHERS.keys():
        raise CaseNotUnderstood(f"{where}: {unknown} among matchers")
    for name, wanted in expected.items():
        if not MATCHERS[name](wanted, actual):
            raise CaseFailed(f"{where}: {shown(actual)} does not match {expected}")


def matches(expected: Any, actual: Any) -> bool:
    try:
        match(expected, actual, "")
    except CaseFailed:
        return False
    return True


def shown(actual: Any) -> str:
    return "nothing" if actual is ABSENT else repr(actual)


def _set(expected: list[Any], actual: Any) -> bool:
    return (
        isinstance(actual, list)
        and len(actual) == len(expected)
        and all(any(matches(each, one) for one in actual) for each in expected)
    )


def _any(expected: Any, actual: Any) -> bool:
    if expected not in TYPES:
        raise CaseNotUnderstood(f"$any of {expected!r}")
    return isinstance(actual, TYPES[expected])


def _instant(text: Any) -> datetime | None:
    try:
        instant = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return instant if instant.utcoffset() is not None else None


MATCHERS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda expected, actual: actual is not ABSENT and json_equal(expected, actual),
    "$not": lambda expected, actual: not matches(expected, actual),
    "$in": lambda expected, actual: any(matches(each, actual) for each in expected),
    "$absent": lambda expected, actual: (actual is ABSENT) is expected,
    "$any": _any,
    "$regex": lambda expected, actual: isinstance(actual, str) and bool(re.search(expected, actual)),
    "$contains": lambda expected, actual: isinstance(actual, str) and expected in actual,
    "$len": lambda expected, actual: isinstance(actual, list | str | dict) and len(actual) == expected,
    "$min_len": lambda expected, actual: isinstance(actual, list | str | dict) and len(actual) >= expected,
    "$set": _set,
    "$has": lambda expected, actual: (
        isinstance(actual, list) and all(any(matches(each, one) for one in actual) for each in expected)
    ),
    "$lacks": lambda expected, actual: (
        isinstance(actual, list) and not any(matches(each, one) for one in actual for each in expected)
    ),
    "$each": lambda expected, actual: (
        isinstance(actual, list) and all(matches(expected, one) for one in actual)
    ),
    "$between": lambda expected, actual: (
        isinstance(actual, int | float) and expected[0] <= actual <= expected[1]
    ),
    "$instant": lambda expected, actual: _instant(actual) == _instant(expected) is not None,
    "$iso": lambda expected, actual: (
        (isinstance(actual, str) and actual.endswith("Z") and _instant(actual) is not None) is expected
    ),
    "$contains_prefixes": lambda expected, actual: all(
        any(path == each or path.startswith(f"{each}.") for path in actual) for each in expected
    ),
}
