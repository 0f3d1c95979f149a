"""Caveats: the conditions `nb` on a capability, each understood and met, or it opens nothing (D8, V16).

`url` bounds the destination that the caller names: the same scheme, host and port, and a path that is equal
or below by whole segments. `gate` is for an evaluator that the caller passes in. There are no others.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from .capability import inside
from .errors import NotCovered

Gate = Callable[[Any], bool]

_URL = (
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<host>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>(?:/[A-Za-z0-9._~!$&'()*+,;=:@%-]*)*)(?P<query>\?[!$-~]*)?(?P<fragment>#[!-~]*)?"
)
# What a server may read as "one up" or as another separator, in any spelling.
_TRICK = r"/\.{1,2}(?:[/;]|\Z)|%(?:2[eEfF]|5[cC]|00)"
_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443"}


def check(nb: Mapping[str, Any], destination: str | None, gate: Gate | None) -> NotCovered | None:
    """What is wrong with these caveats here and now, or None: `caveat_unknown` or `caveat_unmet`."""
    for name, value in nb.items():
        if name == "url" and isinstance(value, str):
            met = destination is not None and url_covers(value, destination)
        elif name == "gate" and gate is not None:
            met = gate(value) is True
        else:
            return NotCovered(
                "caveat_unknown", "The capability has a caveat that is not understood.", check="V16"
            )
        if not met:
            return NotCovered(
                "caveat_unmet", f"The caveat `{name}` of the capability is not met.", check="V16"
            )
    return None


def url_covers(bound: str, destination: str) -> bool:
    """Whether `destination` has the scheme, host and port of `bound`, and a path equal to or below its.

    False for a user name, a dot segment in any spelling, a backslash, white space or a control character in
    either, and for a query or fragment in `bound`, which would look like a limit and be none.
    """
    limit, actual = _parts(bound), _parts(destination)
    if limit is None or actual is None or limit["query"] or limit["fragment"]:
        return False
    if _origin(limit) != _origin(actual):
        return False
    return inside(actual["path"] or "/", (limit["path"] or "").removesuffix("/"))


def _parts(url: str) -> re.Match[str] | None:
    found = re.fullmatch(_URL, url)
    return None if found is None or re.search(_TRICK, found["path"]) else found


def _origin(url: re.Match[str]) -> tuple[str, str, str]:
    scheme = url["scheme"].lower()
    return scheme, url["host"].lower(), (url["port"] or _PORTS.get(scheme, "")).lstrip("0")
