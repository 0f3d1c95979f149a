"""What is signed can be read back, and never says more, or for longer, than what it rests on."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ucan_kit import ALICE, BOB, CAROL, DAVE, HOUR, MALLORY, NOW, RESOURCE, VENUE, chain, claims_of, may

from ucan import (
    Capability,
    Ed25519Signer,
    Malformed,
    UcanError,
    authenticate,
    encode,
    identity,
    issue,
    parse,
    token_hash,
    verify,
)
from ucan.did import SMALL_ORDER, did_key
from ucan.jwt import read, sign

W = Capability(f"{ALICE.did}/w/", "crud")
READ = Capability(f"{ALICE.did}/w/reports/", "crud/read")


def give(signer: Ed25519Signer = ALICE, **changes: Any) -> str:
    """A good grant from alice to bob, with changes."""
    good: dict[str, Any] = {
        "audience": BOB.did,
        "capabilities": [W],
        "expires": NOW + HOUR,
        "now": NOW,
        "nonce": "n",
    }
    return issue(signer, **(good | changes))


def pass_on(**changes: Any) -> str:
    """Bob's re-delegation of alice's grant, with changes."""
    return give(BOB, **({"audience": DAVE.did, "capabilities": [READ], "proofs": [give()]} | changes))


def test_the_good_cases() -> None:
    """The claims of D9, spelled as offered; and a chain that opens what it should."""
    text = give(facts=[{"grantor": ALICE.did}], not_before=NOW)
    assert claims_of(text) == {
        "iss": ALICE.did,
        "aud": BOB.did,
        "ucv": "0.10.0",
        "att": [{"with": f"{ALICE.did}/w/", "can": "crud"}],
        "prf": [],
        "exp": NOW + HOUR,
        "nnc": "n",
        "nbf": NOW,
        "fct": [{"grantor": ALICE.did}],
    }
    assert read(text).header == {"alg": "EdDSA", "typ": "JWT", "kid": ALICE.kid}
    assert may(pass_on()).valid
    bare = give(capabilities=[Capability("w/x", "crud", {"gate": "g"})])
    assert claims_of(bare)["att"] == [{"with": f"{ALICE.did}/w/x", "can": "crud", "nb": {"gate": "g"}}]
    assert claims_of(give(expires=None))["exp"] is None
    assert pass_on(expires=NOW + HOUR)


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        pytest.param("malformed", {"capabilities": []}, id="empty"),
        pytest.param("malformed", {"capabilities": [Capability("", "crud")]}, id="empty with"),
        pytest.param("malformed", {"capabilities": [Capability("w/../h", "crud")]}, id="dot dot"),
        pytest.param("malformed", {"capabilities": [Capability("w", "")]}, id="empty can"),
        pytest.param("malformed", {"capabilities": [W, Capability("w", "crud/*")]}, id="a bad one beside"),
        pytest.param("malformed", {"audience": "bob"}, id="audience no DID"),
        pytest.param("malformed", {"audience": did_key(min(SMALL_ORDER))}, id="audience anybody"),
        pytest.param("malformed", {"nonce": ""}, id="no nonce"),
        pytest.param("malformed", {"nonce": "\x00"}, id="nonce with a NUL"),
        pytest.param("malformed", {"expires": NOW + 1.5}, id="half a second"),
        pytest.param("malformed", {"expires": True}, id="a boolean"),
        pytest.param("malformed", {"expires": 2**53}, id="out of range"),
        pytest.param("malformed", {"facts": [{"n": float("nan")}]}, id="a fact that is not JSON"),
        pytest.param("malformed", {"facts": [{"n": 2**60}]}, id="a fact out of range"),
        pytest.param("too_large", {"facts": [{"n": "x" * 60_000}]}, id="too large"),
        pytest.param("expired", {"expires": NOW}, id="past"),
        pytest.param("expired", {"expires": 0}, id="zero is the past"),
        pytest.param("expired", {"not_before": NOW + HOUR}, id="never live"),
    ],
)
def test_refuses_to_sign(code: str, changes: dict[str, Any]) -> None:
    """Nothing empty, nothing malformed, nothing dead."""
    with pytest.raises(UcanError) as caught:
        give(**changes)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        pytest.param("amplification", {"capabilities": [Capability(ALICE.did, "crud")]}, id="wider resource"),
        pytest.param("amplification", {"capabilities": [Capability(W.with_, "*")]}, id="wider ability"),
        pytest.param("amplification", {"capabilities": [READ, Capability("w", "crud")]}, id="own beside"),
        pytest.param("too_long", {"expires": NOW + HOUR + 1}, id="longer"),
        pytest.param("too_long", {"expires": None}, id="for ever"),
        pytest.param("expired", {"now": NOW + HOUR, "expires": NOW + 2 * HOUR}, id="a dead proof"),
        pytest.param("broken_chain", {"proofs": [give(audience=MALLORY.did)]}, id="given to another"),
        pytest.param("bad_signature", {"proofs": [give()[:-6] + "AAAAAA"]}, id="a forged proof"),
        pytest.param("malformed", {"proofs": ["x"]}, id="no proof"),
        pytest.param("revoked", {"revoked": token_hash(give()).__eq__}, id="a revoked proof"),
    ],
)
def test_refuses_to_widen(code: str, changes: dict[str, Any]) -> None:
    """With proofs, nothing that they do not hold, nor for longer."""
    with pytest.raises(UcanError) as caught:
        pass_on(**changes)
    assert caught.value.code == code


def test_refuses_to_lose_a_caveat() -> None:
    """A verifier would apply it anyway; a token that hides it would mislead its reader."""
    proof = give(capabilities=[Capability(W.with_, "crud", {"gate": "g"})])
    with pytest.raises(UcanError) as caught:
        pass_on(proofs=[proof])
    assert caught.value.code == "amplification"
    assert pass_on(proofs=[proof], capabilities=[READ._replace(nb={"gate": "g"})])


def test_refuses_what_verifiers_refuse() -> None:
    """The thirteenth link, the seventeenth proof."""
    text = give(audience=ALICE.did)
    for _ in range(11):
        text = give(audience=ALICE.did, proofs=[text])
    assert verify(text, now=NOW).valid
    with pytest.raises(UcanError) as caught:
        give(proofs=[text])
    assert caught.value.code == "too_deep"
    with pytest.raises(UcanError) as caught:
        give(proofs=[give(audience=ALICE.did, nonce=str(n)) for n in range(17)])
    assert caught.value.code == "too_deep"


def test_an_identity_token_authenticates() -> None:
    """And is refused when it could not."""
    text = identity(ALICE, audience=VENUE.did, expires=NOW + 60, now=NOW, nonce="n")
    verdict = authenticate(text, venue=VENUE.did, now=NOW)
    assert (verdict.valid, verdict.issuer, verdict.expires) == (True, ALICE.did, NOW + 60)
    for changes in ({"audience": "venue"}, {"expires": NOW}, {"nonce": ""}):
        with pytest.raises(UcanError):
            identity(
                ALICE, **({"audience": VENUE.did, "expires": NOW + 60, "now": NOW, "nonce": "n"} | changes)
            )


def test_sign_signs_other_types() -> None:
    """What the venue signs besides has its own `typ`, and is no capability token."""
    text = sign(VENUE, {"sub": ALICE.did}, typ="venue-receipt+jwt")
    assert read(text).typ == "venue-receipt+jwt"
    with pytest.raises(Malformed):
        parse(text)
    for claims in ({"a": {1}}, {"a": "\ud800"}, {"a": 2**53}, {"a": [[[]]] * 3, "b": float("inf")}):
        with pytest.raises(Malformed):
            sign(VENUE, claims)


grants = st.builds(
    Capability,
    st.text(st.characters(categories=("L", "N", "P", "S")), min_size=1, max_size=12),
    st.sampled_from(["*", "crud", "crud/read", "grant/crud/read"]),
    st.none() | st.dictionaries(st.text(max_size=5), st.integers(-9, 9) | st.text(max_size=5), min_size=1),
)


@settings(max_examples=400, deadline=None, database=None)
@given(
    st.lists(grants, min_size=1, max_size=3), st.none() | st.integers(NOW + 1, 2**53 - 1), st.text(min_size=1)
)
def test_issue_and_parse_are_inverse(granted: list[Capability], expires: int | None, nonce: str) -> None:
    """What is signed is read back as it was meant, and encodes to the text it was."""
    try:
        text = give(capabilities=granted, expires=expires, nonce=nonce)
    except Malformed:
        return
    token = parse(text)
    assert encode(token) == text
    assert (token.iss, token.aud, token.exp, token.nnc, token.unread) == (
        ALICE.did,
        BOB.did,
        expires,
        nonce,
        0,
    )
    assert [(c.can, dict(c.nb or {})) for c in token.att] == [(g.can, dict(g.nb or {})) for g in granted]
    assert verify(text, now=NOW).valid


def test_received_segments_are_kept() -> None:
    """Verified, named and encoded as received: not as anybody would write it again."""
    text = chain()
    assert encode(parse(text)) == text
    assert parse(text).hash == token_hash(text) == read(text).hash
    assert RESOURCE not in repr(parse(text))
    assert parse(text).is_live(NOW)
    assert not parse(text).is_live(NOW + HOUR)
    assert CAROL.did in repr(parse(text))
