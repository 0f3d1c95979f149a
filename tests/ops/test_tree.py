"""JSON by path segments: the laws of walking, placing and removing (D24)."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops.errors import BadInput
from ops.tree import MISSING, Missing, placed, removed, type_word, walk

KEYS = st.sampled_from(["a", "b", "0", "1", "", "~", "/", "~1", "\U0010ffff", "\u202e"])
LEAVES = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=2) | st.just(0.5)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
PATHS = st.lists(KEYS, max_size=4)


def paths_of(value: Any) -> list[tuple[str, ...]]:
    """Every path that stands in a value, its root first."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(), *((str(key), *rest) for key, below in inner for rest in paths_of(below))]


@given(value=VALUES)
def test_every_path_that_stands_can_be_walked(value: Any) -> None:
    """Map keys by name, list elements by index; the empty path is the value itself."""
    for path in paths_of(value):
        found: Any = value
        for key in path:
            found = found[int(key)] if isinstance(found, list) else found[key]
        assert walk(value, path) is found


@given(value=VALUES, path=PATHS)
def test_other_paths_are_missing(value: Any, path: list[str]) -> None:
    """And missing is no JSON value: a stored null is found."""
    assert isinstance(walk(value, path), Missing) == (tuple(path) not in paths_of(value))


@given(value=VALUES, path=PATHS, leaf=VALUES)
def test_what_is_placed_is_found_and_nothing_else_moves(value: Any, path: list[str], leaf: Any) -> None:
    """Placing changes one place and its way there; the value before stays as it was."""
    before = copy.deepcopy(value)
    try:
        after = placed(value, path, leaf)
    except BadInput:
        assert isinstance(walk(value, path), Missing)
        return
    finally:
        assert value == before
    assert walk(after, path) is leaf
    for other in paths_of(value):
        if other[: len(path)] != tuple(path) and tuple(path[: len(other)]) != other:
            assert walk(after, other) is walk(value, other)
    assert placed(after, path, leaf) == after


@given(value=VALUES, data=st.data())
def test_what_is_removed_is_gone_and_nothing_else_moves(value: Any, data: st.DataObject) -> None:
    """A key goes; a place in a list becomes null, so that its neighbours keep their places."""
    inner = [path for path in paths_of(value) if path]
    if not inner:
        return
    before, path = copy.deepcopy(value), data.draw(st.sampled_from(inner))
    after = removed(value, path)
    assert value == before
    in_list = isinstance(walk(value, path[:-1]), list)
    assert walk(after, path) is (None if in_list else MISSING)
    for other in inner:
        if other[: len(path)] != path and path[: len(other)] != other:
            assert walk(after, other) is walk(value, other)
    assert placed(after, path, walk(value, path)) == value


@pytest.mark.parametrize("path", [["x"], ["3"], ["-1"], ["00"], ["1.0"], ["\u0663"], ["9" * 40], ["3", "x"]])
def test_a_list_has_only_the_places_that_it_has(path: list[str]) -> None:
    """An index is its one spelling, inside the list."""
    assert walk([1, 2, 3], path) is MISSING
    with pytest.raises(BadInput):
        placed([1, 2, 3], path, 0)


@pytest.mark.parametrize("scalar", [None, True, 1, 0.5, "x"])
def test_nothing_is_placed_below_what_is_no_container(scalar: Any) -> None:
    """A scalar is not turned into a map in passing."""
    with pytest.raises(BadInput):
        placed({"a": scalar}, ["a", "b"], 1)
    assert placed({"a": scalar}, ["a"], {"b": 1}) == {"a": {"b": 1}}


def test_missing_maps_are_made_on_the_way() -> None:
    """From nothing, and inside a map."""
    assert placed(MISSING, ["a", "b"], 1) == {"a": {"b": 1}}
    assert placed({"x": 0}, ["a", "b"], 1) == {"x": 0, "a": {"b": 1}}


def test_types_have_the_words_of_the_protocol() -> None:
    """Each JSON type; `true` is no number."""
    values = [{}, [], "", True, 1, 0.5, None]
    assert [type_word(value) for value in values] == [
        "Map",
        "Vector",
        "String",
        "Boolean",
        "Long",
        "Double",
        "Nil",
    ]
