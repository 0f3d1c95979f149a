"""Both ways with the official SDK: its tokens verify here, and ours are read back as it reads them."""

import time
from typing import Any

import jwt as pyjwt
import pytest
from covia import ucan_tokens
from covia.auth import Ed25519Auth
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from ucan import Capability, Ed25519Signer, Roots, authenticate, authorise, issue, self_issued

SEEDS = {name: name.encode().ljust(32, b".") for name in ("owner", "agent", "helper")}
KEYS = {name: Ed25519PrivateKey.from_private_bytes(seed) for name, seed in SEEDS.items()}
SIGNERS = {name: Ed25519Signer.from_seed(seed) for name, seed in SEEDS.items()}
OWNER, AGENT, HELPER = (SIGNERS[name].did for name in SEEDS)
VENUE = "did:web:venue.example"


def may(token: str, presenter: str, resource: str = f"{OWNER}/w/notes/1", **changes: Any) -> str:
    """The code of the verdict, now."""
    question: dict[str, Any] = {"ability": "crud/read", "now": int(time.time()), "roots": Roots()} | changes
    return authorise([token], presenter=presenter, resource=resource, **question).code


def test_we_name_keys_alike() -> None:
    """The DID of a key."""
    assert {name: ucan_tokens.did_for(key) for name, key in KEYS.items()} == {
        name: signer.did for name, signer in SIGNERS.items()
    }


@pytest.mark.parametrize("resource", [f"{OWNER}/w/notes", "w/notes/", "/w/notes"])
def test_its_grants_verify_here(resource: str) -> None:
    """Also of a bare path, which is the issuer's own."""
    token = ucan_tokens.grant(KEYS["owner"], AGENT, resource, "crud", 60)
    assert may(token, AGENT) == "ok"
    assert may(token, HELPER) == "wrong_audience"
    assert may(token, AGENT, now=int(time.time()) + 61) == "expired"


def test_its_chains_verify_here() -> None:
    """A proof inline, as the SDK writes it, and one under ours."""
    root = ucan_tokens.grant(KEYS["owner"], AGENT, f"{OWNER}/w/", "crud", 60)
    att = [{"with": f"{OWNER}/w/notes", "can": "crud/read"}]
    assert may(ucan_tokens.create_ucan_jwt(KEYS["agent"], HELPER, att, None, [root]), HELPER) == "ok"
    now = int(time.time())
    ours = issue(
        SIGNERS["agent"],
        audience=HELPER,
        capabilities=[Capability(f"{OWNER}/w/notes", "crud/read")],
        expires=now + 10,
        now=now,
        nonce="n",
        proofs=[root],
    )
    assert may(ours, HELPER) == "ok"


def test_its_identity_token_authenticates_here() -> None:
    """Five minutes by default."""
    verdict = authenticate(
        ucan_tokens.identity_token(KEYS["owner"], VENUE), venue=[VENUE], now=int(time.time())
    )
    assert (verdict.code, verdict.issuer) == ("ok", OWNER)


def test_its_bearer_is_a_self_issued_credential_here() -> None:
    """One for each request, with the audience that the transport resolved."""
    headers: dict[str, str] = {}
    Ed25519Auth.from_seed(SEEDS["owner"]).apply(headers, audience=VENUE)
    token = headers["Authorization"].removeprefix("Bearer ")
    now = int(time.time())
    verdict = self_issued(token, venue=[VENUE], now=now)
    assert (verdict.code, verdict.issuer, verdict.subject) == ("ok", OWNER, OWNER)
    assert self_issued(token, venue=["did:web:other.example"], now=now).code == "wrong_audience"
    Ed25519Auth.from_seed(SEEDS["owner"]).apply(headers)
    bare = headers["Authorization"].removeprefix("Bearer ")
    assert self_issued(bare, venue=[VENUE], now=now).code == "wrong_audience"
    assert self_issued(bare, venue=[VENUE], now=now, require_audience=False).code == "ok"


def test_ours_are_read_as_it_reads() -> None:
    """By PyJWT, with the claims that the SDK writes and expects."""
    now = int(time.time())
    token = issue(
        SIGNERS["owner"],
        audience=AGENT,
        capabilities=[Capability("w/notes/", "crud/read")],
        expires=now + 60,
        now=now,
        nonce="n",
    )
    key = Ed25519PublicKey.from_public_bytes(SIGNERS["owner"].public_bytes)
    claims = pyjwt.decode(token, key, algorithms=["EdDSA"], audience=AGENT)
    theirs = pyjwt.decode(
        ucan_tokens.grant(KEYS["owner"], AGENT, f"{OWNER}/w/notes/", "crud/read", 60),
        key,
        algorithms=["EdDSA"],
        audience=AGENT,
    )
    assert {name: claims[name] for name in ("iss", "aud", "ucv", "att", "prf")} == {
        name: theirs[name] for name in ("iss", "aud", "ucv", "att", "prf")
    }
    assert pyjwt.get_unverified_header(token) == {"alg": "EdDSA", "typ": "JWT", "kid": SIGNERS["owner"].kid}
