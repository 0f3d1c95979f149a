"""What the tests of tokens share: a cast with fixed keys, a writer that signs anything, and one good chain.

The chain: alice, who owns the resource, gives to bob, bob to carol, carol to dave, each a little less. A
negative test is this chain with one thing wrong.
"""

import base64
import json
from collections.abc import Mapping
from typing import Any

from ucan import Ed25519Signer, Roots, Verdict, authorise

NOW = 1_767_225_600
HOUR = 3600

ALICE, BOB, CAROL, DAVE, MALLORY, VENUE = (
    Ed25519Signer.from_seed(name.encode().ljust(32, b"."))
    for name in ("alice", "bob", "carol", "dave", "mallory", "venue")
)
RESOURCE = f"{ALICE.did}/w/reports/may"
ABILITY = "crud/read"
HEADER = {"alg": "EdDSA", "typ": "JWT"}


def b64(data: bytes) -> str:
    """Base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(segment: str) -> bytes:
    """The bytes of a base64url segment."""
    return base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))


def write(signer: Ed25519Signer, claims: object, header: object = HEADER) -> str:
    """A JWS over whatever is given: a text stands for itself, anything else for its JSON."""
    parts = [part if isinstance(part, str) else json.dumps(part) for part in (header, claims)]
    signing_input = ".".join(b64(part.encode()) for part in parts)
    return f"{signing_input}.{b64(signer.sign(signing_input.encode()))}"


def claims_of(text: str) -> dict[str, Any]:
    """The claims of a token, read without any care."""
    claims: dict[str, Any] = json.loads(unb64(text.split(".")[1]))
    return claims


def claims(
    issuer: Ed25519Signer, audience: str, resource: str, can: str, *proofs: str, **changes: Any
) -> dict[str, Any]:
    """The claims of a good token; `changes` replace claims, and None with a trailing underscore drops one."""
    good: dict[str, Any] = {
        "iss": issuer.did,
        "aud": audience,
        "ucv": "0.10.0",
        "att": [{"with": resource, "can": can}],
        "prf": list(proofs),
        "exp": NOW + HOUR,
        "nnc": "n",
    }
    dropped = {name.removesuffix("_") for name in changes if name.endswith("_")}
    changed = good | {name: value for name, value in changes.items() if not name.endswith("_")}
    return {name: value for name, value in changed.items() if name not in dropped}


def chain(
    root: Mapping[str, Any] | None = None,
    middle: Mapping[str, Any] | None = None,
    leaf: Mapping[str, Any] | None = None,
    signers: tuple[Ed25519Signer, Ed25519Signer, Ed25519Signer] = (ALICE, BOB, CAROL),
) -> str:
    """The good chain of three, with changes to the claims of a link or to who signs it."""
    first = write(signers[0], claims(ALICE, BOB.did, f"{ALICE.did}/w/", "crud", **(root or {})))
    second = write(
        signers[1], claims(BOB, CAROL.did, f"{ALICE.did}/w/reports", "crud", first, **(middle or {}))
    )
    return write(
        signers[2], claims(CAROL, DAVE.did, f"{ALICE.did}/w/reports", "crud/read", second, **(leaf or {}))
    )


def may(*tokens: str, **changes: Any) -> Verdict:
    """Whether dave may read alice's report now, by these tokens; `changes` replace parts of the question."""
    question: dict[str, Any] = {
        "presenter": DAVE.did,
        "resource": RESOURCE,
        "ability": ABILITY,
        "now": NOW,
        "roots": Roots(),
    }
    return authorise(tokens, **(question | changes))
