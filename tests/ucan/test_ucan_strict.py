"""Strict JSON: each rule at its edge, what others read differently, and that it stays quick."""

import contextlib
import json
import random
import timeit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ucan import Malformed
from ucan.strict import loads

FILL = '"' + "x" * 5000 + '"'  # makes the text long enough that the other way of reading numbers is taken


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "[", "{]", "[1,]", "{'a':1}", "[1] x", "[1][2]", "// x\n1", "0x10", "01", "+1", "NaN",
        "[Infinity]",
        "-Infinity", "1e999", "[-1e999]", "9007199254740992", "-9007199254740992", "1" * 5000,
        '{"a":1,"a":1}',
        '{"a":{"b":1,"b":2}}', '{"a":1,"\\u0061":2}', '"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"',
        '{"\\u0000":1}',
        '{"\\ud83d":1}', '"\\ud83d\\u0041"', '"\x00"', '"a\nb"', '"\ud800"', "\ufeff1", "[" * 33 + "]" * 33,
        '{"a":' * 33 + "1" + "}" * 33, "[" * 100000, '["]",' * 40 + "1" + ',"["]' * 40,
    ],
)  # fmt: skip
def test_refused(text: str) -> None:
    """Alone, and as part of a long text."""
    for whole in (text, f"[{FILL},{text}]"):
        with pytest.raises(Malformed) as caught:
            loads(whole)
        assert caught.value.code == "malformed"


@pytest.mark.parametrize(
    "data", [b"\xff", b'"\xc0\xaf"', b'"\xed\xa0\x80"', b"\xff\xfe1\x00", b"\xef\xbb\xbf1"]
)
def test_only_utf_8(data: bytes) -> None:
    """No other encoding, no overlong form, no encoded surrogate, no byte order mark."""
    with pytest.raises(Malformed):
        loads(data)


@pytest.mark.parametrize(
    "text",
    [
        "0", "-0", "1.5", "1e10", "9007199254740991", "-9007199254740991", "true", "null", '""',
        '"\\\\u0000"',
        '"\\\\ud800"', '"\\ud83d\\udcc1"', '"\\\\\\ud83d\\udcc1"', '"\N{FILE FOLDER}"',
        '"0000000000000000000000000"',
        "[" * 32 + "]" * 32, '"' + "[" * 100 + '"', '["\\"[",' + "[" * 31 + "]" * 31 + "]",
        ' {"a" : [ 1 ] }\n',
        "1e308", "0." + "1" * 400,
    ],
)  # fmt: skip
def test_accepted(text: str) -> None:
    """The same value that the standard library reads, alone and in a long text, as text and as bytes."""
    assert loads(text) == json.loads(text)
    assert loads(text.encode()) == json.loads(text)
    if text.count("[") < 32:
        assert loads(f"[{FILL},{text}]")[1] == json.loads(text)


def test_bounds() -> None:
    """Bytes are counted as UTF-8; the depth is the caller's to choose."""
    assert loads('"\u00e9"', max_bytes=4) == "\u00e9"
    with pytest.raises(Malformed) as caught:
        loads('"\u00e9"', max_bytes=3)
    assert caught.value.code == "too_large"
    assert loads("[[]]", max_depth=2) == [[]]
    with pytest.raises(Malformed):
        loads("[[]]", max_depth=1)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_characters="\x00", exclude_categories=("Cs",))),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab\\u0"), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=500, deadline=None, database=None)
@given(values, st.booleans())
def test_reads_what_json_writes(value: object, ascii_only: bool) -> None:
    """Nothing that is unambiguous is refused."""
    assert loads(json.dumps(value, ensure_ascii=ascii_only)) == value


marks = st.text('[]{}"\\', max_size=6)
nested = st.recursive(
    marks,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(marks, inner, max_size=3),
    max_leaves=12,
)


def depth(value: object) -> int:
    """How many arrays and objects lie inside each other."""
    if not isinstance(value, (list, dict)):
        return 0
    return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)


@settings(max_examples=500, deadline=None, database=None)
@given(nested)
def test_depth_is_exact(value: object) -> None:
    """Whatever brackets, quotes and backslashes the strings hold."""
    text, deep = json.dumps(value), depth(value)
    assert loads(text, max_depth=deep) == value
    if deep:
        with pytest.raises(Malformed):
            loads(text, max_depth=deep - 1)


@settings(max_examples=500, deadline=None, database=None)
@given(st.binary(max_size=60) | st.text('[]{}",:\\u0d8e1-. ', max_size=60))
def test_never_another_exception(data: bytes | str) -> None:
    """A value or Malformed."""
    with contextlib.suppress(Malformed):
        loads(data)


def test_a_megabyte_is_no_work() -> None:
    """A body of 1 MiB, with all that slows the rules: when idle, three to four times plain parsing."""
    source = random.Random(1)
    rows = [{"id": n, "hash": f"{source.getrandbits(256):064x}", "text": "[{\u00e9\\"} for n in range(9000)]
    text = json.dumps(rows).encode()
    plain = min(timeit.repeat(lambda: json.loads(text), number=1, repeat=5))
    strict = min(timeit.repeat(lambda: loads(text), number=1, repeat=5))
    assert len(text) > 1_000_000
    assert strict < 10 * plain
