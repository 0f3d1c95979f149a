"""One form of JSON for everything that is stored, hashed or compared: RFC 8785."""

import hashlib
import json
import re
from typing import Any

import rfc8785

from ucan.strict import MAX_INT

_LONG = re.compile(r"[0-9]{16}")


def canonical(value: Any) -> str:
    """A JSON value as its RFC 8785 text.

    Numbers, strings and depth were checked where the value came in (D22).
    """
    return rfc8785.dumps(value).decode("utf-8")


def digest_of(value: Any) -> str:
    """`sha256:` and the hex digest of a value's RFC 8785 form (D13)."""
    return "sha256:" + hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def plain(text: str) -> Any:
    """The value of stored canonical text.

    RFC 8785 spells 1e20 like an integer; beyond the range of integers it was a float, and is again.
    """
    return json.loads(text, parse_int=_number) if _LONG.search(text) else json.loads(text)


def _number(digits: str) -> int | float:
    value = int(digits)
    return value if abs(value) <= MAX_INT else float(digits)
