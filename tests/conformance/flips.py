"""Scenarios with one expectation turned into its opposite, to see that the runner can fail."""

import copy
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any

_KINDS = {"denied": "limit", "limit": "denied"}


def flipped(scenario: Mapping[str, Any]) -> Mapping[str, Any]:
    """The scenario with the last plain value that it expects changed: not what the venue does."""
    changed = copy.deepcopy(dict(scenario))
    for step in reversed(changed["steps"]):
        leaves = list(_leaves(step["expect"]))
        if leaves:
            place, key = leaves[-1]
            place[key] = _other(key, place[key])
            return changed
    raise AssertionError(f"{scenario['id']} expects no plain value")


def one_of_each_area(scenarios: Sequence[Mapping[str, Any]], count: int) -> Sequence[Mapping[str, Any]]:
    """The first scenario of each of so many areas."""
    first: dict[str, Mapping[str, Any]] = {}
    for scenario in scenarios:
        first.setdefault(scenario["area"], scenario)
    assert len(first) >= count
    return list(first.values())[:count]


def _leaves(value: Any) -> Iterator[tuple[MutableMapping[str, Any], str]]:
    for key, inner in value.items():
        if key.startswith("$") or inner == "any":
            continue
        if isinstance(inner, dict):
            yield from _leaves(inner)
        elif isinstance(inner, bool | int | str):
            yield value, key


def _other(key: str, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return _KINDS.get(value, "denied") if key == "kind" else f"not {value}"
