"""Cases from others, each a test by its id: tokens, DIDs, signatures and whole suites.

Run here: the profile covia-att-0.10.0 but its `relay` checks (nothing is relayed here), did-key, ed25519 and
primitive. Tokens of every other profile must be refused by this reader, whatever their own specification says
of them; what is no token there (envelopes, builders, containers) is left out. `--vectors FILE` runs another
file of the same format.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ucan import (
    Capability,
    Malformed,
    PublicKey,
    Roots,
    UcanError,
    authenticate,
    authorise,
    public_key,
    self_issued,
)
from ucan.jwt import read, token_of
from ucan.keys import verify as verify_signature
from ucan.verify import verify

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "vectors"
OURS = ROOT / "tests" / "data" / "vectors.json"
THIRD_PARTY = SHARED / "third_party.json"

PROFILE = "covia-att-0.10.0"
PROFILES = (PROFILE, "did-key", "ed25519", "primitive")

# Where the design decides otherwise than the file suggests. Each is of strictness `policy`.
DECIDED = {
    "V0084": "D2",  # a self-issued bearer without `aud` could be replayed at any venue
    "V0092": "D2",  # a `kid` spelled as a did:key decodes to the same key
    "V0545": "D6",  # `%` in a path is refused, also when both sides spell it alike
    "V0556": "D6",  # so are the marks that reorder text
}

# The file's classes of reasons, and the codes here that say the same. An umbrella there has several.
UNCOVERED = {"not_covered", "amplification", "not_owner_rooted", "caveat_unknown", "caveat_unmet"}
CODES = {
    "alg_key_mismatch": {"bad_signature"},
    "alg_not_allowed": {"unsupported", "bad_signature"},
    "amplification": {"amplification", "not_covered"},
    "bad_claim_type": {"malformed", "wrong_subject"},
    "bad_did": {"malformed", "unsupported", "unresolved", "too_large", "bad_signature"},
    "bad_header": {"malformed", "unsupported"},
    "bad_signature": {"bad_signature"},
    "caveat_malformed": {"caveat_unknown", "not_covered"},
    "caveat_not_met": {"caveat_unmet"},
    "caveat_unknown": {"caveat_unknown"},
    "chain_broken": {"broken_chain"},
    "duplicate_key": {"malformed"},
    "expired": {"expired"},
    "malformed_base64": {"malformed"},
    "malformed_json": {"malformed"},
    "malformed_jws": {"malformed"},
    "missing_claim": {"malformed"},
    "not_covered": UNCOVERED,
    "not_owner_rooted": {"not_owner_rooted", "not_covered"},
    "not_yet_valid": {"not_yet"},
    "ok": {"ok"},
    "proof_unresolved": {"malformed"},
    "resource_not_canonical": UNCOVERED,
    "resource_not_covered": UNCOVERED,
    "ability_not_covered": UNCOVERED,
    "too_deep": {"too_deep", "too_large"},
    "unsupported_did_method": {"unresolved"},
    "unsupported_key_type": {"unsupported"},
    "unsupported_version": {"unsupported"},
    "weak_key": {"weak_key"},
    "wrong_audience": {"wrong_audience", "malformed"},
}

Vector = dict[str, Any]


def _load(path: Path) -> list[Vector]:
    return [
        vector | {"folder": path.parent} for vector in json.loads(path.read_text(encoding="utf-8"))["vectors"]
    ]


def _is_foreign(vector: Vector) -> bool:
    return vector["profile"] not in PROFILES


def _wanted(vector: Vector) -> bool:
    return vector["check"] == "token" if _is_foreign(vector) else vector["check"] != "relay"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per case; without the folder of third-party cases, one test that says so."""
    if "vector" not in metafunc.fixturenames:
        return
    chosen = metafunc.config.getoption("vectors")
    files = [chosen] if chosen else [OURS, THIRD_PARTY]
    cases = [vector for path in files if path.exists() for vector in _load(path)]
    params = [pytest.param(case, id=case["id"]) for case in cases if _wanted(case)]
    if not all(path.exists() for path in files):
        absent = pytest.mark.skip(reason=f"third-party cases are read from {SHARED}, which is absent")
        params.append(pytest.param(None, id="third-party", marks=absent))
    metafunc.parametrize("vector", params)


def _token(case: Vector) -> str:
    verdict = verify(case["token"], now=case["now"])
    assert verdict.link >= 1 or case["reason"] != "proof_invalid"
    return verdict.code


def _authorize(case: Vector) -> str:
    verdict = authorise(
        case.get("tokens") or [case["token"]],
        presenter=case["presenter"],
        resource=case["request"]["with"],
        ability=case["request"]["can"],
        now=case["now"],
        roots=Roots(),
        destination=case.get("destination"),
    )
    return verdict.code


def _authenticate(case: Vector) -> str:
    verdict = authenticate(case["token"], venue=[case["venue"]], now=case["now"])
    assert not verdict or verdict.issuer == case["expected_issuer"]
    return verdict.code


def _self_issued(case: Vector) -> str:
    verdict = self_issued(case["token"], venue=[case["venue"]], now=case["now"])
    expected = case.get("expected_issuer")
    assert not verdict or expected in (None, verdict.issuer)
    return verdict.code


def _covers(case: Vector) -> str:
    held, asked = (Capability(case[side]["with"], case[side]["can"]) for side in ("grant", "request"))
    return "ok" if held.covers(asked) else "not_covered"


def _did_key(case: Vector) -> str:
    curve = {"Ed25519": "ed25519", "P-256": "p256", "secp256k1": "secp256k1"}.get(case["key_type"], "")
    try:
        key = public_key(case["did"])
    except UcanError as error:
        return error.code
    assert key == PublicKey(curve, bytes.fromhex(case["public_key_hex"]))
    return "ok"


def _ed25519(case: Vector) -> str:
    key = PublicKey("ed25519", bytes.fromhex(case["public_key"]))
    good = verify_signature(key, bytes.fromhex(case["signature"]), bytes.fromhex(case["message"]))
    return "ok" if good else case["reason"]


def _suite(case: Vector) -> str:
    path = case["folder"] / case["file"]
    suite = json.loads((path if path.exists() else SHARED / case["file"]).read_text(encoding="utf-8"))
    run = {
        "EddsaVerify": _suite_signature,
        "EcdsaP1363Verify": _suite_signature,
        "JsonWebSignature": _suite_jws,
    }
    count = 0
    for group in suite["testGroups"]:
        for test in group["tests"]:
            run[group["type"]](group, test)
            count += 1
    assert count == case["tests"] == suite["numberOfTests"]
    return "ok"


def _suite_signature(group: Vector, test: Vector) -> None:
    public = group["publicKey"]
    if "pk" in public:
        key = PublicKey("ed25519", bytes.fromhex(public["pk"]))
    else:
        point = bytes.fromhex(public["uncompressed"])
        compressed = bytes([2 + point[64] % 2]) + point[1:33]
        key = PublicKey({"secp256r1": "p256", "secp256k1": "secp256k1"}[public["curve"]], compressed)
    good = verify_signature(key, bytes.fromhex(test["sig"]), bytes.fromhex(test["msg"]))
    assert good == (test["result"] == "valid"), (test["tcId"], test["comment"])


def _suite_jws(_group: Vector, test: Vector) -> None:
    """None of that file is of this profile: none may be read as a token, good or bad in its own terms."""
    with pytest.raises(Malformed):
        token_of(read(test["jws"] if isinstance(test["jws"], str) else json.dumps(test["jws"])))


CHECKS: dict[str, Callable[[Vector], str]] = {
    "token": _token,
    "authorize": _authorize,
    "authenticate": _authenticate,
    "self_issued_jwt": _self_issued,
    "covers": _covers,
    "did_key": _did_key,
    "ed25519_verify": _ed25519,
    "suite_file": _suite,
}


@pytest.mark.cases("vectors")
def test_case(vector: Vector, request: pytest.FixtureRequest) -> None:
    """The verdict is the expected one; in our own copy of the file the code says why, too."""
    if _is_foreign(vector):
        _refuse_foreign(vector)
        return
    code = CHECKS[vector["check"]](vector)
    agrees = (code == "ok") == (vector["expected"] == "valid")
    assert agrees == (vector["id"] not in DECIDED)
    if agrees and request.config.getoption("vectors") is None and vector["reason"] != "proof_invalid":
        assert code in CODES[vector["reason"]]


def _refuse_foreign(vector: Vector) -> None:
    """UCAN 0.7 to 0.10 with other claims: no token of this profile, be it good or bad in its own."""
    verdict = verify(vector["token"], now=vector["now"])
    assert verdict.code in ("malformed", "unsupported", "too_large")
    assert verdict.link == 0


def test_decided_otherwise_is_exact() -> None:
    """What is listed differs, is policy, and names its decision; what is not listed agrees (`test_case`)."""
    cases = {vector["id"]: vector for vector in _load(OURS)}
    for name, decision in DECIDED.items():
        assert decision in ("D2", "D6")
        assert cases[name]["strictness"] == "policy"
        assert (CHECKS[cases[name]["check"]](cases[name]) == "ok") != (cases[name]["expected"] == "valid")


def test_our_copy_is_the_shared_file() -> None:
    """The file is a copy; where the original is at hand, the very same."""
    original = SHARED / "vectors.json"
    if not original.exists():
        pytest.skip(f"{original} is absent")
    assert OURS.read_bytes() == original.read_bytes()
