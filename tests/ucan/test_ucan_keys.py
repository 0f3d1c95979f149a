"""Names and keys: each DID has one spelling, each key one algorithm, and a secret none at all."""

import copy
import pickle

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st
from ucan_kit import ALICE, VENUE, b64

from ucan import BadSignature, Ed25519Signer, Malformed, PublicKey, UcanError, is_did, public_key, verify
from ucan.did import (
    SMALL_ORDER,
    agent_did,
    agent_id_of,
    did_key,
    managed_by,
    managed_did,
    owner_of,
    web_did,
    web_url,
)
from ucan.keys import is_high_s
from ucan.keys import verify as verify_signature

SEED = bytes(range(32))


@pytest.mark.parametrize(
    "text", ["did:a:b", "did:key:z6Mk", "did:web:a.example%3A80:u:x", "did:a:b:c", "did:a:b:g:x"]
)
def test_is_did(text: str) -> None:
    """DID Core's grammar."""
    assert is_did(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "did", "did:", "did:a", "did:a:", "did:a:b:", "did::b", "did:A:b", "DID:a:b", "did:a:b/c",
        "did:a:b#c",
        "did:a:b?c", "did:a:b%", "did:a:b%zz", "did:a:b\n", " did:a:b", "did:a:\u00e9", "did:a:b:g:",
        "did:a:b:g:x:g:y",
        "did:a:b:g:.x", "did:a:b:g:x:y", "did:a:" + "b" * 507,
    ],
)  # fmt: skip
def test_is_no_did(text: str) -> None:
    """Nor is an agent of an agent, nor what has a path."""
    assert not is_did(text)
    assert agent_id_of(text) is None
    assert owner_of(text) == text


def test_agents_and_managed_users() -> None:
    """Made, taken apart, and told from each other."""
    mia = managed_did(VENUE.did, "mia")
    scout = agent_did(mia, "scout-2")
    assert (agent_id_of(scout), owner_of(scout)) == ("scout-2", mia)
    assert (managed_by(mia), managed_by(scout), managed_by(ALICE.did)) == (VENUE.did, None, None)
    assert managed_by(f"{scout}:u:x") is None


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".x", "-x", "a/b", "a:b", "a b", "a%", "x" * 65, "\u00e9", "a\n"]
)
def test_no_name_of_one_segment(name: str) -> None:
    """A name or id that could be a path, an option or a second DID."""
    with pytest.raises(Malformed):
        agent_did(ALICE.did, name)
    with pytest.raises(Malformed):
        managed_did(VENUE.did, name)
    assert managed_by(f"{VENUE.did}:u:{name}") is None


def test_an_agent_has_no_agents() -> None:
    """Nor does somebody who is no principal."""
    for owner in (agent_did(ALICE.did, "x"), "alice"):
        with pytest.raises(Malformed):
            agent_did(owner, "y")


@settings(max_examples=300, deadline=None, database=None)
@given(st.binary(min_size=33, max_size=33), st.sampled_from(["ed25519", "p256", "secp256k1"]))
def test_did_key_round_trip(data: bytes, curve: str) -> None:
    """Encoding and decoding are inverse, and no neighbour in spelling is the same key."""
    raw = data[:32] if curve == "ed25519" else bytes([2 + data[0] % 2]) + data[1:]
    did = did_key(raw, curve)
    try:
        assert public_key(did) == PublicKey(curve, raw)
    except BadSignature:
        assert curve == "ed25519"
    for other in (did + "1", did[:8] + "z1" + did[9:], did.replace("z", "b", 1), did + " ", did.upper()):
        with pytest.raises(UcanError):
            public_key(other)


def test_no_did_key_of_another_size() -> None:
    """Nor of another curve."""
    for raw, curve in ((b"x" * 31, "ed25519"), (b"x" * 32, "p256"), (b"x" * 32, "p384")):
        with pytest.raises(Malformed):
            did_key(raw, curve)


@pytest.mark.parametrize("raw", sorted(SMALL_ORDER))
def test_small_order_keys_are_refused(raw: bytes) -> None:
    """As a DID, and as R: `cryptography` accepts both."""
    assert len(SMALL_ORDER) == 14
    with pytest.raises(BadSignature) as caught:
        public_key(did_key(raw))
    assert caught.value.code == "weak_key"
    assert not verify_signature(PublicKey("ed25519", raw), bytes([1] + [0] * 63), b"m")
    assert not verify_signature(PublicKey("ed25519", ALICE.public_bytes), raw + bytes(32), b"m")


@pytest.mark.parametrize("curve", ["p256", "secp256k1"])
def test_ecdsa(curve: str) -> None:
    """Either s is a signature; a reader that wants one spelling asks; another curve's key never verifies."""
    name, order = {
        "p256": (ec.SECP256R1(), 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551),
        "secp256k1": (ec.SECP256K1(), 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141),
    }[curve]
    secret = ec.derive_private_key(12345, name)
    key = PublicKey(curve, secret.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint))
    r, s = utils.decode_dss_signature(secret.sign(b"m", ec.ECDSA(SHA256())))
    both = [r.to_bytes(32, "big") + value.to_bytes(32, "big") for value in (s, order - s)]
    assert all(verify_signature(key, signature, b"m") for signature in both)
    assert curve == "p256" or sorted(is_high_s(signature) for signature in both) == [False, True]
    assert not verify_signature(key, both[0], b"n")
    assert not verify_signature(key, both[0][:63], b"m")
    assert not verify_signature(PublicKey(curve, b"\x02" + b"\xff" * 32), both[0], b"m")
    assert not verify_signature(PublicKey("p384", key.raw), both[0], b"m")


def test_a_secret_has_no_printable_form() -> None:
    """Neither str, repr, format nor pickle; and no attribute holds it."""
    signer = Ed25519Signer.from_seed(SEED, "did:web:venue.example")
    shown = f"{signer} {signer!r} {signer:}" + "".join(repr(getattr(signer, name)) for name in dir(signer))
    for secret in (SEED, SEED[:8]):
        assert secret.hex() not in shown
        assert b64(secret)[:10] not in shown
        assert repr(secret)[2:-1] not in shown
    assert repr(signer) == "<Ed25519Signer did:web:venue.example>"
    for take in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            take(signer)
    assert not hasattr(signer, "__dict__")


def test_a_signer_may_sign_as_a_did_web() -> None:
    """D1: the issuer is the venue's DID, the key its own."""
    signer = Ed25519Signer.from_seed(SEED, "did:web:venue.example")
    assert signer.key_did == did_key(signer.public_bytes) == f"did:key:{signer.kid}"
    assert verify_signature(public_key(signer.key_did), signer.sign(b"m"), b"m")
    for seed, did in ((b"short", None), (SEED, "nobody")):
        with pytest.raises(Malformed):
            Ed25519Signer.from_seed(seed, did)


def test_did_web_is_a_place() -> None:
    """DIDs of hosts, and where their documents are."""
    assert web_did("Venue.example") == "did:web:venue.example"
    assert web_did("localhost", 8080) == "did:web:localhost%3A8080"
    assert web_url("did:web:venue.example") == "https://venue.example/.well-known/did.json"
    assert web_url("did:web:localhost%3A8080:u:mia") == "https://localhost:8080/u/mia/did.json"
    for host, port in (("", None), ("a/b", None), ("a@b", None), ("-a", None), ("a", 0), ("a", 65536)):
        with pytest.raises(Malformed):
            web_did(host, port)
    for did in (
        "did:key:z6Mk",
        "did:web:a%2Fb",
        "did:web:a%3Ax",
        "did:web:a%3A",
        "did:web:a:..:b",
        "did:web:a:%2e",
    ):
        with pytest.raises(Malformed):
            web_url(did)


def test_verify_takes_no_longer_for_a_long_name() -> None:
    """The length is capped before base58, which takes quadratic time."""
    with pytest.raises(Malformed):
        public_key("did:key:z" + "1" * 60_000)
    assert verify("a." * 30_000, now=0).code == "malformed"
