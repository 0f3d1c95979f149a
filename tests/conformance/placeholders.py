"""`${…}`: principals, saved replies, the clock, and a few transforms, put into a scenario's texts."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.harness.principals import flip_signature

from .errors import BadScenario

_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")
_FILTERS: Mapping[str, Callable[[str], str]] = {"upper": str.upper, "flip_signature": flip_signature}

Lookup = Callable[[str], Any]
"""The value of a name: a principal, a preset, or a saved reply. Raises BadScenario for one nobody knows."""


def resolve(value: Any, lookup: Lookup, now: int) -> Any:
    """A value with every placeholder in it resolved; `now` in unix seconds.

    A text that is one placeholder becomes its value, of whatever type; one inside a longer text becomes text.
    """
    if isinstance(value, str):
        return _text(value, lookup, now)
    if isinstance(value, Mapping):
        return {_text(key, lookup, now): resolve(inner, lookup, now) for key, inner in value.items()}
    if isinstance(value, list):
        return [resolve(inner, lookup, now) for inner in value]
    return value


def _text(text: str, lookup: Lookup, now: int) -> Any:
    whole = _PLACEHOLDER.fullmatch(text)
    if whole is not None:
        return _evaluated(whole[1], lookup, now)
    return _PLACEHOLDER.sub(lambda found: str(_evaluated(found[1], lookup, now)), text)


def _evaluated(expression: str, lookup: Lookup, now: int) -> Any:
    if timed := re.fullmatch(r"now(?:([+-]\d+))?", expression):
        return now + int(timed[1] or 0)
    if repeated := re.fullmatch(r"repeat:(.):(\d+)", expression):
        return repeated[1] * int(repeated[2])
    name, *filters = expression.split("|")
    value = lookup(name)
    for filter_name in filters:
        if filter_name not in _FILTERS:
            raise BadScenario(f"unknown transform {filter_name!r} in ${{{expression}}}")
        value = _FILTERS[filter_name](value)
    return value
