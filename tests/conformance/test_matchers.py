"""Every matcher says yes to what it should, and no to its nearest neighbour."""

from typing import Any

import pytest

from tests.harness.principals import key_of

from .matchers import ABSENT, MATCHERS, matches
from .steps.tokens import signed

TOKEN = signed(key_of("bob"), {"iss": "did:key:zBob", "exp": 7})
CASES: dict[str, tuple[Any, Any, Any]] = {
    "$absent": (True, ABSENT, None),
    "$not": ("x", "y", "x"),
    "$in": (["x", {"$any": "integer"}], 3, "y"),
    "$each": ({"n": 1}, [{"n": 1}, {"n": 1, "m": 2}], [{"n": 1}, {"n": 2}]),
    "$eq": ({"n": {"$any": "integer"}}, {"n": 1}, {"n": 1, "m": 2}),
    "$same_as": ({"n": 1}, {"n": 1}, {"n": True}),
    "$any": ("integer", 1, True),
    "$regex": ("^a+$", "aa", "ab"),
    "$contains": ("b", "abc", "ac"),
    "$len": (2, [1, 2], [1]),
    "$min_len": (2, [1, 2, 3], [1]),
    "$set": ([1, {"n": 2}], [{"n": 2}, 1], [1, 1]),
    "$between": ([1, 3], 3, 4),
    "$jwt": ({"exp": 7}, TOKEN, signed(key_of("bob"), {"exp": 8})),
    "$jwt_header": ({"alg": "EdDSA"}, TOKEN, signed(key_of("bob"), {"exp": 7}, "ES256")),
    "$equal_except": ([{"a": 1, "b": 1}, ["b"]], {"a": 1}, {"a": 2, "b": 1}),
    "$keys_in": (["a", "b"], {"a": 1}, {"a": 1, "c": 1}),
    "$has": ([1, 2], [3, 2, 1], [1, 3]),
    "$lacks": ([1, 2], [3], [3, 2]),
    "$excludes_text": ("secret", {"a": ["public"]}, {"a": ["a secret"]}),
    "$contains_texts": (["one", "two"], {"one": "two"}, {"one": 2}),
    "$all_under": ("j/1", ["j/1/output"], ["j/1/output", "j/10"]),
    "$expr": ("a + 5", 6, 7),
    "$ordered_by": ("id", [{"id": 1}, {"id": 2}], [{"id": 2}, {"id": 2}]),
    "$titles": (["a", "b"], [{"title": "a"}, {"title": "b"}], [{"title": "b"}, {"title": "a"}]),
    "$instant": ("2030-01-01T00:00:00Z", "2030-01-01T01:00:00+01:00", "2030-01-01T01:00:00+00:00"),
    "$iso": (True, "2030-01-01T00:00:00Z", "2030-01-01T00:00:00"),
    "$contains_prefixes": (["xs.1"], ["xs.1.c"], ["xs.2"]),
}
"""By matcher: its argument, a value that it accepts, and one that it does not."""


@pytest.mark.parametrize("name", MATCHERS)
def test_matcher(name: str) -> None:
    """It tells the two apart."""
    argument, right, wrong = CASES[name]
    parent = {"a": 1}
    assert matches(right, {name: argument}, parent)
    assert not matches(wrong, {name: argument}, parent)


@pytest.mark.parametrize(
    ("actual", "expected", "right"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": 1}, {"a": 1, "b": {"$absent": True}}, True),
        ({"a": 1, "b": None}, {"b": {"$absent": True}}, False),
        ({"a": 1}, {"b": 1}, False),
        ([1, {"a": 1, "b": 2}], [1, {"a": 1}], True),
        ([1, 2], [1], False),
        ([2, 1], [1, 2], False),
        (1, True, False),
        ("x", {}, False),
        ({"a": "x"}, {"a": "x", "$contains_texts": ["y"]}, False),
    ],
)
def test_subset_and_position(actual: Any, expected: Any, right: bool) -> None:
    """Objects match by subset, lists by position and length, and a matcher may stand beside plain keys."""
    assert matches(actual, expected) is right
