"""JSON without surprises: what two careful readers could read differently is refused.

Used for tokens and for HTTP bodies alike, so it must not cost more than parsing: each rule is a hook that the
C scanner calls, or a search over the text that ends at once for ordinary input. No walk over the values.
"""

import json
import re
from typing import Any, Never

from .errors import Malformed

MAX_INT = 2**53 - 1

_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NOT_A_BRACKET = bytes(set(range(256)) - set(b"[]{}"))

# Only a number with so many digits or such an exponent can leave the range. A text without one, by its
# outline of digits and exponents, is left to the C parser, several times faster than a hook for each number.
_OUTLINE = bytearray(b" " * 256)
_OUTLINE[ord("0") : ord("9") + 1] = b"0" * 10
_OUTLINE[ord("e")] = _OUTLINE[ord("E")] = ord("e")
_LONG, _HIGH = b"0" * 16, b"0e000"

# Escapes are consumed one by one, a surrogate pair as one, so that what is left over is alone.
_PAIR = r"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = rf"(?s)\\(?:{_PAIR}|u(0000|[dD][89a-fA-F][0-9a-fA-F]{{2}})|.)"
_SUSPECT = r"\\u(?:0000|[dD][89a-fA-F])"


def loads(data: str | bytes, *, max_depth: int = 32, max_bytes: int | None = None) -> Any:
    """Read one JSON value, strictly.

    UTF-8 only; no key twice in an object; no NaN, no Infinity and no number that overflows into one; integers
    within +-(2**53 - 1); no NUL and no lone surrogate in any string or key; at most `max_depth` arrays and
    objects inside each other; at most `max_bytes` of UTF-8. A float stays a float (the token reader wants
    integers, and says so).

    Raises `Malformed`: `too_large` for the size, otherwise `malformed`. Never RecursionError or ValueError.
    """
    raw, text = _both_forms(data)
    if max_bytes is not None and len(raw) > max_bytes:
        raise Malformed("too_large", f"The JSON is larger than {max_bytes} bytes.")
    outline = raw.translate(_OUTLINE, b"+")
    decoder = _CAREFUL if _LONG in outline or _HIGH in outline else _PLAIN
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise Malformed("malformed", f"This is not JSON: {error.msg} at character {error.pos}.") from None
    except RecursionError:
        raise _too_deep(max_depth) from None
    if "\\u" in text and re.search(_SUSPECT, text):
        _refuse_bad_escapes(text)
    if raw.count(b"[") + raw.count(b"{") > max_depth:
        _refuse_depth(raw, max_depth)
    return value


def _both_forms(data: str | bytes) -> tuple[bytes, str]:
    try:
        return (data.encode(), data) if isinstance(data, str) else (data, data.decode())
    except UnicodeError:
        raise Malformed("malformed", "The JSON is not valid UTF-8.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise Malformed("malformed", "An object names the same key twice.")
    return value


def _refuse_constant(_name: str) -> Never:
    raise Malformed("malformed", "NaN and Infinity are not JSON.")


def _integer(digits: str) -> int:
    # The length goes first: int() itself refuses, or takes long over, thousands of digits.
    if len(digits) > 17 or abs(value := int(digits)) > MAX_INT:
        raise Malformed("malformed", "An integer is outside the range of plus or minus 2**53 - 1.")
    return value


def _float(digits: str) -> float:
    if abs(value := float(digits)) == float("inf"):
        raise Malformed("malformed", "A number is too large.")
    return value


_PLAIN = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse_constant)
_CAREFUL = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_refuse_constant, parse_int=_integer, parse_float=_float
)


def _refuse_bad_escapes(text: str) -> None:
    """In JSON that parsed, every backslash starts an escape or was consumed by the one before it."""
    if any(match[1] for match in re.finditer(_ESCAPE, text)):
        raise Malformed("malformed", "A string holds a NUL or half of a surrogate pair.")


def _refuse_depth(raw: bytes, max_depth: int) -> None:
    """Without its strings and with one kind of bracket, each pass peels exactly the innermost level off.

    In JSON that parsed, every second piece between quotes lies outside the strings, once the escaped quotes
    are gone.
    """
    outside = b"".join(raw.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
    rest = outside.translate(_BRACKETS, _NOT_A_BRACKET)
    for _ in range(max_depth):
        if not rest:
            return
        rest = rest.replace(b"[]", b"")
    if rest:
        raise _too_deep(max_depth)


def _too_deep(max_depth: int) -> Malformed:
    return Malformed("malformed", f"The JSON is nested more than {max_depth} levels deep.")
