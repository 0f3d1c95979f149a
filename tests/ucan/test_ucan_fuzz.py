"""Mutations of valid tokens, byte by byte and claim by claim: always a Verdict or a UcanError, never a pass.

2,000 examples each; set UCAN_EXAMPLES for a longer run.
"""

import contextlib
import json
import os
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from ucan_kit import ALICE, BOB, CAROL, DAVE, HEADER, NOW, VENUE, b64, chain, claims_of, may, unb64, write

from ucan import UcanError, Verdict, authenticate, parse, self_issued, token_hash, verify

GOOD = chain()
long_run = settings(max_examples=int(os.environ.get("UCAN_EXAMPLES", "2000")), deadline=None, database=None)

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(
        [ALICE.did, BOB.did, DAVE.did, f"{ALICE.did}/w", "crud", "*", "0.10.0", "JWT", "EdDSA", "z"]
    )
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["with", "can", "nb", "url", "gate", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def ask_everything(text: str) -> list[Verdict]:
    """Every question there is, and the readers, which may raise a UcanError and nothing else."""
    for read in (parse, token_hash):
        with contextlib.suppress(UcanError):
            read(text)
    verdicts = [
        verify(text, now=NOW),
        may(text, destination="https://a.example", gate=bool),
        authenticate(text, venue=[VENUE.did], now=NOW),
        self_issued(text, venue=[VENUE.did], now=NOW, require_audience=False),
    ]
    for verdict in verdicts:
        assert isinstance(verdict, Verdict)
        assert verdict.valid == (verdict.code == "ok") == (verdict.check == "")
    return verdicts


@long_run
@given(st.integers(0, len(GOOD) - 1), st.characters() | st.sampled_from(".=-_AQ"))
def test_one_character_replaced(at: int, other: str) -> None:
    """No two spellings: whatever character is replaced, it is no longer the token."""
    text = GOOD[:at] + other + GOOD[at + 1 :]
    verdicts = ask_everything(text)
    assert text == GOOD or not any(verdicts)


@long_run
@given(st.integers(0, len(GOOD)), st.integers(0, 40), st.text(max_size=4) | st.binary(max_size=9).map(b64))
def test_a_stretch_replaced(at: int, length: int, other: str) -> None:
    """Cut, inserted, or overwritten."""
    text = GOOD[:at] + other + GOOD[at + length :]
    verdicts = ask_everything(text)
    assert text == GOOD or not any(verdicts)


@long_run
@given(st.integers(0, 1), st.data())
def test_one_byte_inside_a_segment(segment: int, data: st.DataObject) -> None:
    """Changed under the base64, and signed again: the reader meets it behind a good signature."""
    parts = [unb64(part) for part in GOOD.split(".")[:2]]
    at = data.draw(st.integers(0, len(parts[segment]) - 1))
    changed = bytearray(parts[segment])
    changed[at] = data.draw(st.integers(0, 255))
    parts[segment] = bytes(changed)
    signing_input = ".".join(map(b64, parts))
    ask_everything(f"{signing_input}.{b64(CAROL.sign(signing_input.encode()))}")


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something can be replaced."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(deeper for key, item in inner for deeper in paths(item, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """A copy with one place replaced."""
    if not path:
        return other
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], other)
    return copy


DOCUMENT = {"header": HEADER, "claims": claims_of(GOOD) | {"nbf": NOW, "fct": [{"x": 1}]}}
DOCUMENT["claims"]["att"][0]["nb"] = {"url": "https://a.example"}


@long_run
@given(st.sampled_from(paths(DOCUMENT)[1:]), values, st.sampled_from([ALICE, BOB, CAROL]))
@example(("claims", "att", 0, "nb", "url"), "https://[", CAROL)
@example(("claims", "exp"), 10**400, CAROL)
@example(("claims", "iss"), "did:key:z" + "1" * 40, CAROL)
def test_one_claim_replaced(path: tuple[Any, ...], other: Any, signer: Any) -> None:
    """Anything in the place of anything, signed again by somebody of the chain."""
    document = replaced(DOCUMENT, path, other)
    ask_everything(write(signer, document["claims"], document["header"]))


@long_run
@given(
    st.text(max_size=200) | st.lists(st.binary(max_size=80).map(b64), min_size=3, max_size=3).map(".".join)
)
def test_anything(text: str) -> None:
    """Text from nowhere."""
    assert not any(ask_everything(text))


@long_run
@given(values)
def test_any_claims(claims: Any) -> None:
    """A good signature over anything."""
    ask_everything(write(CAROL, json.dumps(claims)))
