"""Does a value match what a scenario expects? Subset for objects, position for lists, matchers for the rest.

A matcher stands alone, `{"$any": "string"}`, or beside plain keys of the same object. `ABSENT` is the value
of a key that is not there; only `$absent`, `$not` and `$in` match it.
"""

import base64
import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any

from ucan.jwt import read

from .errors import BadScenario, Mismatch


class _Absent:
    def __repr__(self) -> str:
        return "(absent)"


ABSENT = _Absent()
_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "null": lambda value: value is None,
}
Check = Callable[[Any, Any, str, Any], None]


def match(actual: Any, expected: Any, place: str, parent: Any = None) -> None:
    """Raises Mismatch, naming the place, when a value is not as expected; `parent` is what it stands in."""
    if isinstance(expected, Mapping):
        _match_object(actual, expected, place, parent)
    elif isinstance(expected, list):
        _demand(isinstance(actual, list) and len(actual) == len(expected), actual, expected, place)
        for index, item in enumerate(expected):
            match(actual[index], item, f"{place}[{index}]", actual)
    else:
        _demand(same(actual, expected), actual, expected, place)


def check_words(expected: Any, place: str) -> None:
    """Raises BadScenario for a matcher that nobody knows, wherever it stands, reached or not."""
    if isinstance(expected, Mapping):
        for key, value in expected.items():
            if key.startswith("$") and key not in MATCHERS:
                raise BadScenario(f"{place}: unknown matcher {key}")
            check_words(value, f"{place}.{key}")
    elif isinstance(expected, list):
        for item in expected:
            check_words(item, place)


def matches(actual: Any, expected: Any, parent: Any = None) -> bool:
    """Whether `match` would accept this."""
    try:
        match(actual, expected, "", parent)
    except Mismatch:
        return False
    return True


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; true is not 1."""
    if one is ABSENT or other is ABSENT:
        return one is other
    return canonical(one) == canonical(other)


def canonical(value: Any) -> str:
    """A JSON value as text in one spelling."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _match_object(actual: Any, expected: Mapping[str, Any], place: str, parent: Any) -> None:
    plain = {key: value for key, value in expected.items() if not key.startswith("$")}
    for name in expected.keys() - plain.keys():
        MATCHERS[name](actual, expected[name], place, parent)
    if plain or not expected:
        _demand(isinstance(actual, dict), actual, plain, place)
    for key, value in plain.items():
        match(actual.get(key, ABSENT), value, f"{place}.{key}", actual)


def _demand(holds: bool, actual: Any, expected: Any, place: str) -> None:
    if not holds:
        raise Mismatch(f"{place}: expected {_short(expected)}, got {_short(actual)}")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 600 else f"{text[:600]}…"


def _on(holds: Callable[[Any, Any], bool]) -> Check:
    """A matcher that is a question about the value and the matcher's argument."""

    def check(actual: Any, argument: Any, place: str, _: Any) -> None:
        _demand(actual is not ABSENT and holds(actual, argument), actual, argument, place)

    return check


def _absent(actual: Any, argument: Any, place: str, _: Any) -> None:
    if argument is not True:
        raise BadScenario(f"{place}: $absent is only ever true")
    _demand(actual is ABSENT, actual, ABSENT, place)


def _not(actual: Any, argument: Any, place: str, parent: Any) -> None:
    _demand(not matches(actual, argument, parent), actual, {"$not": argument}, place)


def _in(actual: Any, argument: Any, place: str, parent: Any) -> None:
    _demand(any(matches(actual, one, parent) for one in argument), actual, {"$in": argument}, place)


def _each(actual: Any, argument: Any, place: str, _: Any) -> None:
    _demand(isinstance(actual, list), actual, [], place)
    for index, item in enumerate(actual):
        match(item, argument, f"{place}[{index}]", actual)


def _eq(actual: Any, expected: Any, place: str, parent: Any) -> None:
    """Exactly this: no other keys, no other elements; matchers inside still match."""
    if isinstance(expected, Mapping) and not any(key.startswith("$") for key in expected):
        _demand(isinstance(actual, dict) and actual.keys() == expected.keys(), actual, expected, place)
        for key, value in expected.items():
            _eq(actual[key], value, f"{place}.{key}", actual)
    elif isinstance(expected, list):
        _demand(isinstance(actual, list) and len(actual) == len(expected), actual, expected, place)
        for index, item in enumerate(expected):
            _eq(actual[index], item, f"{place}[{index}]", actual)
    else:
        match(actual, expected, place, parent)


def _is_type(actual: Any, name: Any) -> bool:
    if name not in _TYPES:
        raise BadScenario(f"$any: unknown type {name}")
    return _TYPES[name](actual)


def _is_set(actual: Any, items: Any) -> bool:
    if not isinstance(actual, list) or len(actual) != len(items):
        return False
    left = list(actual)
    for item in items:
        found = next((one for one in left if matches(one, item)), ABSENT)
        if found is ABSENT:
            return False
        left.remove(found)
    return True


def _has(actual: Any, items: Any) -> bool:
    return isinstance(actual, list) and all(any(matches(one, item) for one in actual) for item in items)


def _lacks(actual: Any, items: Any) -> bool:
    return isinstance(actual, list) and not any(matches(one, item) for one in actual for item in items)


def _contains(actual: Any, part: Any) -> bool:
    return part in actual if isinstance(actual, str) else _has(actual, [part])


def _equal_except(actual: Any, argument: Any) -> bool:
    value, left_out = argument
    keys = {*actual, *value} - set(left_out)
    return all(same(actual.get(key, ABSENT), value.get(key, ABSENT)) for key in keys)


def _all_under(actual: Any, prefix: Any) -> bool:
    """Every path is at or below the prefix, and there is one: a vacuous truth would prove nothing."""
    return bool(actual) and all(path == prefix or path.startswith(f"{prefix}/") for path in actual)


def _contains_prefixes(actual: Any, prefixes: Any) -> bool:
    return all(any(str(one).startswith(prefix) for one in actual) for prefix in prefixes)


def _ordered_by(actual: Any, key: Any) -> bool:
    values = [item[key] for item in actual]
    return all(one < other for one, other in pairwise(values))


def _instant(actual: Any, text: Any) -> bool:
    return isinstance(actual, str) and datetime.fromisoformat(actual) == datetime.fromisoformat(text)


def _iso(actual: Any, _: Any) -> bool:
    try:
        return datetime.fromisoformat(actual).tzinfo is not None
    except (TypeError, ValueError):
        return False


def _jwt(actual: Any, argument: Any, place: str, _: Any) -> None:
    _demand(isinstance(actual, str), actual, "a JWT", place)
    match(dict(read(actual).claims), argument, f"{place}|claims")


def _jwt_header(actual: Any, argument: Any, place: str, _: Any) -> None:
    _demand(isinstance(actual, str), actual, "a JWT", place)
    match(_header(actual), argument, f"{place}|header")


def _header(token: str) -> Any:
    first = token.partition(".")[0]
    return json.loads(base64.urlsafe_b64decode(first + "=" * (-len(first) % 4)))


def _expr(actual: Any, text: Any, place: str, parent: Any) -> None:
    """`<sibling> + <number>` or `<sibling> - <number>`."""
    found = re.fullmatch(r"(\w+) ([+-]) (\d+)", text)
    if found is None:
        raise BadScenario(f"{place}: cannot read the expression {text!r}")
    offset = int(found[3]) if found[2] == "+" else -int(found[3])
    _demand(same(actual, parent[found[1]] + offset), actual, text, place)


MATCHERS: Mapping[str, Check] = {
    "$absent": _absent,
    "$not": _not,
    "$in": _in,
    "$each": _each,
    "$eq": _eq,
    "$same_as": _on(same),
    "$any": _on(_is_type),
    "$regex": _on(lambda actual, pattern: isinstance(actual, str) and re.search(pattern, actual) is not None),
    "$contains": _on(_contains),
    "$len": _on(lambda actual, length: len(actual) == length),
    "$min_len": _on(lambda actual, length: len(actual) >= length),
    "$set": _on(_is_set),
    "$between": _on(lambda actual, ends: ends[0] <= actual <= ends[1]),
    "$jwt": _jwt,
    "$jwt_header": _jwt_header,
    "$equal_except": _on(_equal_except),
    "$keys_in": _on(lambda actual, keys: set(actual) <= set(keys)),
    "$has": _on(_has),
    "$lacks": _on(_lacks),
    "$excludes_text": _on(lambda actual, text: text not in canonical(actual)),
    "$contains_texts": _on(lambda actual, texts: all(text in canonical(actual) for text in texts)),
    "$all_under": _on(_all_under),
    "$expr": _expr,
    "$ordered_by": _on(_ordered_by),
    "$titles": _on(lambda actual, titles: [item["title"] for item in actual] == titles),
    "$instant": _on(_instant),
    "$iso": _on(_iso),
    "$contains_prefixes": _on(_contains_prefixes),
}
"""Every matcher of the format, but `$omit`, which leaves a claim out of what is minted."""
