"""Every numbered check: the good case passes, and with one thing wrong exactly that check refuses it."""

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ucan_kit import (
    ALICE,
    BOB,
    CAROL,
    DAVE,
    HEADER,
    HOUR,
    MALLORY,
    NOW,
    RESOURCE,
    VENUE,
    b64,
    chain,
    claims,
    may,
    unb64,
    write,
)

from ucan import (
    Ed25519Signer,
    Roots,
    UcanError,
    Verdict,
    authenticate,
    public_key,
    rights_of,
    self_issued,
    token_hash,
    verify,
)
from ucan.did import agent_did, did_key, managed_did

ROOT = Path(__file__).resolve().parents[2]
SMALL_ORDER = did_key(bytes([1] + [0] * 31))


def root_token(**changes: Any) -> str:
    """A token from alice straight to dave."""
    return write(ALICE, claims(ALICE, DAVE.did, f"{ALICE.did}/w", "crud", **changes))


def with_header(**changes: Any) -> str:
    """The same under another header."""
    return write(ALICE, claims(ALICE, DAVE.did, f"{ALICE.did}/w", "crud"), HEADER | changes)


def nested(links: int) -> str:
    """A chain of `links` tokens from alice to alice, the last one to dave."""
    text = write(ALICE, claims(ALICE, ALICE.did, f"{ALICE.did}/w", "crud"))
    for _ in range(links - 2):
        text = write(ALICE, claims(ALICE, ALICE.did, f"{ALICE.did}/w", "crud", text))
    return write(ALICE, claims(ALICE, DAVE.did, f"{ALICE.did}/w", "crud", text))


def many(proofs: int) -> str:
    """A token with so many proofs beside each other."""
    beside = [write(BOB, claims(BOB, ALICE.did, f"{BOB.did}/w", "crud", nnc=str(n))) for n in range(proofs)]
    return write(ALICE, claims(ALICE, DAVE.did, f"{BOB.did}/w", "crud", *beside))


def identity(**changes: Any) -> dict[str, Any]:
    """The claims of alice's identity token for the venue."""
    return claims(ALICE, VENUE.did, "", "", **({"att": []} | changes))


def called(**changes: Any) -> Verdict:
    """Who calls, by that token with changes."""
    return authenticate(write(ALICE, identity(**changes)), venue=[VENUE.did], now=NOW)


def bearer(header: dict[str, Any] | None = None, signer: Ed25519Signer = ALICE, **changes: Any) -> Verdict:
    """Who calls, by alice's self-issued bearer with changes; None drops a claim."""
    good = {"iss": ALICE.did, "sub": ALICE.did, "aud": VENUE.did, "iat": NOW, "exp": NOW + 300}
    body = {name: value for name, value in (good | changes).items() if value is not None}
    return self_issued(write(signer, body, HEADER | (header or {})), venue=[VENUE.did], now=NOW)


def flipped(text: str, segment: int) -> str:
    """The token with one bit of a segment flipped."""
    parts = text.split(".")
    data = bytearray(unb64(parts[segment]))
    data[5] ^= 1
    parts[segment] = b64(bytes(data))
    return ".".join(parts)


GRANT = {"with": f"{ALICE.did}/w", "can": "crud"}

# What is wrong, the check that says so, its code, the link, and the question.
CASES: list[tuple[str, str, str, int, Callable[[], Verdict]]] = [
    ("too large", "V1", "too_large", 0, lambda: may("a" * 65537)),
    ("two segments", "V1", "malformed", 0, lambda: may(chain().rpartition(".")[0])),
    ("padding", "V1", "malformed", 0, lambda: may(chain() + "=")),
    ("not ASCII", "V1", "malformed", 0, lambda: may(chain() + "\N{LATIN SMALL LETTER E WITH ACUTE}")),
    ("a proof that is no token", "V1", "malformed", 3, lambda: may(chain(root={"prf": ["x"]}))),
    ("algorithm none", "V2", "unsupported", 0, lambda: may(with_header(alg="none"))),
    ("no algorithm", "V2", "malformed", 0, lambda: may(with_header(alg=["EdDSA"]))),
    ("foreign typ", "V2", "malformed", 0, lambda: may(with_header(typ="venue-session+jwt"))),
    ("critical extension", "V2", "unsupported", 0, lambda: may(with_header(crit=["x"], x=1))),
    ("kid no text", "V2", "malformed", 0, lambda: may(with_header(kid=7))),
    (
        "header twice alg",
        "V2",
        "malformed",
        0,
        lambda: may(write(ALICE, {}, '{"alg":"EdDSA","alg":"EdDSA"}')),
    ),
    ("claims an array", "V3", "malformed", 0, lambda: may(write(ALICE, []))),
    ("no exp", "V3", "malformed", 0, lambda: may(root_token(exp_=None))),
    ("exp true", "V3", "malformed", 0, lambda: may(root_token(exp=True))),
    ("exp a float", "V3", "malformed", 0, lambda: may(root_token(exp=NOW + 10.0))),
    ("exp 10^30", "V3", "malformed", 0, lambda: may(root_token(exp=10**30))),
    ("nbf null", "V3", "malformed", 0, lambda: may(root_token(nbf=None))),
    ("another version", "V3", "unsupported", 0, lambda: may(root_token(ucv="1.0.0"))),
    ("att no array", "V3", "malformed", 0, lambda: may(root_token(att=GRANT))),
    ("a proof no text", "V3", "malformed", 0, lambda: may(root_token(prf=[1]))),
    ("facts no objects", "V3", "malformed", 0, lambda: may(root_token(fct=["x"]))),
    ("issuer no DID", "V4", "malformed", 0, lambda: may(root_token(iss="alice"))),
    ("audience a DID URL", "V4", "malformed", 0, lambda: may(root_token(aud=f"{DAVE.did}#key"))),
    ("audience anybody", "V4", "weak_key", 0, lambda: may(root_token(aud=SMALL_ORDER))),
    ("issuer unknown", "V5", "unresolved", 0, lambda: may(root_token(iss="did:web:example.com"))),
    ("issuer anybody", "V5", "weak_key", 0, lambda: may(root_token(iss=SMALL_ORDER))),
    ("issuer no key", "V5", "malformed", 0, lambda: may(root_token(iss="did:key:z0"))),
    ("alg of another curve", "V5", "bad_signature", 0, lambda: may(with_header(alg="ES256"))),
    ("signed by mallory", "V6", "bad_signature", 0, lambda: may(chain(signers=(ALICE, BOB, MALLORY)))),
    ("middle by mallory", "V6", "bad_signature", 1, lambda: may(chain(signers=(ALICE, MALLORY, CAROL)))),
    ("root by mallory", "V6", "bad_signature", 2, lambda: may(chain(signers=(MALLORY, BOB, CAROL)))),
    ("signature flipped", "V6", "bad_signature", 0, lambda: may(flipped(chain(), 2))),
    ("expired", "V7", "expired", 0, lambda: may(chain(leaf={"exp": NOW}))),
    ("root expired", "V7", "expired", 2, lambda: may(chain(root={"exp": NOW}))),
    ("not yet", "V8", "not_yet", 0, lambda: may(chain(leaf={"nbf": NOW + 1}))),
    ("middle not yet", "V8", "not_yet", 1, lambda: may(chain(middle={"nbf": NOW + 1}))),
    ("revoked", "V9", "revoked", 0, lambda: may(chain(), revoked=token_hash(chain()).__eq__)),
    ("13 links", "V10", "too_deep", 12, lambda: may(nested(13))),
    ("17 proofs", "V10", "too_deep", 1, lambda: may(many(17), resource=f"{BOB.did}/w")),
    ("given to another", "V11", "broken_chain", 2, lambda: may(chain(root={"aud": MALLORY.did}))),
    ("middle to another", "V11", "broken_chain", 1, lambda: may(chain(middle={"aud": MALLORY.did}))),
    ("presented by another", "V12", "wrong_audience", 0, lambda: may(chain(), presenter=CAROL.did)),
    ("presented by an agent", "V12", "wrong_audience", 0, lambda: may(chain(), presenter=f"{DAVE.did}:g:x")),
    ("a wider resource", "V13", "amplification", 0, lambda: may(chain(leaf={"att": [GRANT]}))),
    ("a wider middle", "V13", "amplification", 1, lambda: may(chain(middle={"att": [GRANT | {"can": "*"}]}))),
    ("wider beside", "V13", "amplification", 0, lambda: may(root_and_more())),
    ("another resource", "V14", "not_covered", 0, lambda: may(chain(), resource=f"{ALICE.did}/w/other")),
    ("a longer name", "V14", "not_covered", 0, lambda: may(chain(), resource=f"{ALICE.did}/w/reportsX")),
    ("dot dot", "V14", "not_covered", 0, lambda: may(chain(), resource=f"{ALICE.did}/w/reports/../h")),
    ("a bare resource", "V14", "not_covered", 0, lambda: may(chain(), resource="w/reports/may")),
    ("another ability", "V14", "not_covered", 0, lambda: may(chain(), ability="crud/write")),
    ("empty with", "V14", "not_covered", 0, lambda: may(root_token(att=[GRANT | {"with": ""}]))),
    ("a misspelt caveat", "V14", "not_covered", 0, lambda: may(root_token(att=[GRANT | {"bn": {}}]))),
    ("no tokens", "V14", "not_covered", 0, may),
    ("mallory's root", "V15", "not_owner_rooted", 0, lambda: may(by_mallory())),
    ("a caveat unknown", "V16", "caveat_unknown", 0, lambda: may(root_token(att=[GRANT | {"nb": {"x": 1}}]))),
    ("a gate, nobody to ask", "V16", "caveat_unknown", 0, lambda: may(root_token(att=[gated()]))),
    (
        "a gate that is shut",
        "V16",
        "caveat_unmet",
        0,
        lambda: may(root_token(att=[gated()]), gate=lambda _: False),
    ),
    ("a gate half open", "V16", "caveat_unmet", 0, lambda: may(root_token(att=[gated()]), gate=lambda _: 1)),
    ("a url, none named", "V16", "caveat_unmet", 2, lambda: may(chain(root={"att": [bounded()]}))),
    ("identity that gives", "V17", "not_covered", 0, lambda: called(att=[GRANT])),
    ("identity that gives badly", "V17", "not_covered", 0, lambda: called(att=[{"can": "*"}])),
    ("identity elsewhere", "V18", "wrong_audience", 0, lambda: called(aud=DAVE.did)),
    ("identity for long", "V19", "too_long", 0, lambda: called(exp=NOW + HOUR + 1)),
    ("identity for ever", "V19", "too_long", 0, lambda: called(exp=None)),
    ("identity expired", "V7", "expired", 0, lambda: called(exp=NOW)),
    ("bearer by ES256", "V2", "malformed", 0, lambda: bearer({"alg": "ES256"})),
    ("bearer of another typ", "V2", "malformed", 0, lambda: bearer({"typ": "venue-receipt+jwt"})),
    ("bearer without iat", "V3", "malformed", 0, lambda: bearer(iat=None)),
    ("bearer without exp", "V3", "malformed", 0, lambda: bearer(exp=None)),
    ("bearer exp a float", "V3", "malformed", 0, lambda: bearer(exp=NOW + 1.0)),
    ("bearer that is a UCAN", "V3", "malformed", 0, lambda: bearer(att=[])),
    ("bearer nbf text", "V3", "malformed", 0, lambda: bearer(nbf="now")),
    ("bearer sub no DID", "V4", "malformed", 0, lambda: bearer(sub="alice")),
    ("bearer by mallory", "V6", "bad_signature", 0, lambda: bearer({"kid": MALLORY.kid}, signer=MALLORY)),
    ("bearer expired", "V7", "expired", 0, lambda: bearer(exp=NOW)),
    ("bearer not yet", "V8", "not_yet", 0, lambda: bearer(nbf=NOW + 1)),
    ("bearer without aud", "V18", "wrong_audience", 0, lambda: bearer(aud=None)),
    ("bearer for a URL", "V18", "wrong_audience", 0, lambda: bearer(aud="https://venue.example")),
    ("bearer for many", "V18", "wrong_audience", 0, lambda: bearer(aud=[VENUE.did])),
    ("bearer from the future", "V19", "not_yet", 0, lambda: bearer(iat=NOW + 31)),
    ("bearer for long", "V19", "too_long", 0, lambda: bearer(exp=NOW + 901)),
    ("bearer for another user", "V20", "wrong_subject", 0, lambda: bearer(sub=BOB.did)),
    ("bearer with mallory's kid", "V20", "bad_signature", 0, lambda: bearer({"kid": MALLORY.kid})),
]


def root_and_more() -> str:
    """Beside the good capability, one that nobody gave."""
    good = {"with": f"{ALICE.did}/w/reports", "can": "crud/read"}
    return chain(leaf={"att": [good, {"with": f"{ALICE.did}/h", "can": "crud/read"}]})


def by_mallory() -> str:
    """A token over alice's resource that alice never saw."""
    return write(MALLORY, claims(MALLORY, DAVE.did, f"{ALICE.did}/w", "crud"))


def bounded() -> dict[str, Any]:
    """The good capability for one place only."""
    return GRANT | {"nb": {"url": "https://a.example/x"}}


def gated() -> dict[str, Any]:
    """The good capability behind a gate."""
    return GRANT | {"nb": {"gate": "v/ops/x"}}


def test_the_good_cases() -> None:
    """What every negative case starts from is accepted."""
    assert may(chain()).code == "ok"
    assert may(root_token()).code == "ok"
    assert may(with_header(kid=MALLORY.kid)).code == "ok", "kid is a hint that nobody trusts"
    assert may(nested(12)).code == "ok"
    assert may(many(16), resource=f"{BOB.did}/w").code == "ok"
    assert may(root_token(att=[gated()]), gate="v/ops/x".__eq__).code == "ok"
    assert may(chain(leaf={"exp": NOW + 1, "nbf": NOW})).code == "ok"
    assert may(chain(root={"exp": NOW + 1}, leaf={"exp": None})).code == "ok", "windows need not nest"
    assert called().code == "ok"
    assert called(exp=NOW + HOUR).code == "ok"
    assert bearer().code == "ok"
    assert bearer(iat=NOW + 30, exp=NOW + 900).code == "ok"


@pytest.mark.parametrize(
    ("check", "code", "link", "ask"), [pytest.param(*case[1:], id=case[0]) for case in CASES]
)
def test_one_thing_wrong(check: str, code: str, link: int, ask: Callable[[], Verdict]) -> None:
    """The check that refuses, its code, and the link."""
    verdict = ask()
    assert (verdict.check, verdict.code, verdict.link) == (check, code, link)
    assert not verdict
    assert verdict.reason.endswith(".")


def test_numbers_agree() -> None:
    """The table in docs/ucan.md, the tags in the code and the cases here name the same checks."""
    table = re.findall(
        r"^\| (V\d+) \|", (ROOT / "docs" / "ucan.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "ucan").glob("*.py"))
    tagged = set(re.findall(r'"(V\d+)"', source))
    assert table == [f"V{n}" for n in range(1, 21)]
    assert tagged == set(table)
    assert {case[1] for case in CASES} == set(table)


def test_every_code_is_met() -> None:
    """The codes that the errors list are the codes of the cases here."""
    listed = {code for leaf in UcanError.__subclasses__() for code in leaf.codes}
    assert {case[2] for case in CASES} == listed


@pytest.mark.parametrize("link", [0, 1, 2])
def test_any_revoked_link_refuses(link: int) -> None:
    """D11: what is revoked, and everything below it."""
    found = verify(chain(), now=NOW).chain
    verdict = may(chain(), revoked=found[link].hash.__eq__)
    assert (verdict.code, verdict.link) == ("revoked", link)


def test_a_verdict_says_what_it_relied_on() -> None:
    """The path leaf first, the root's word, and the earliest expiry."""
    verdict = may("garbage", chain(root={"exp": NOW + 60}))
    assert verdict.valid
    assert [token.iss for token in verdict.chain] == [CAROL.did, BOB.did, ALICE.did]
    assert (verdict.root, verdict.issuer, verdict.expires) == ("owner", CAROL.did, NOW + 60)
    assert verdict.token is verdict.chain[0]


def test_of_several_refusals_the_furthest_counts() -> None:
    """A person wants to hear about the token that nearly opened the door."""
    wrong = chain(leaf={"aud": BOB.did})
    assert may("garbage", chain(leaf={"exp": NOW}), wrong, "garbage").code == "wrong_audience"


def test_capabilities_are_not_crossed() -> None:
    """One capability's resource and another's ability make no third, neither in a token nor across two."""
    reports, drafts = f"{ALICE.did}/w/reports", f"{ALICE.did}/w/drafts"
    both = [{"with": reports, "can": "crud/write"}, {"with": drafts, "can": "crud/read"}]
    assert may(root_token(att=both)).code == "not_covered"
    assert may(root_token(att=both[:1]), root_token(att=both[1:])).code == "not_covered"


def test_caveats_add_up_along_the_path() -> None:
    """A re-delegation that drops or widens a caveat does not lose it."""
    text = chain(root={"att": [bounded()]})
    assert may(text, destination="https://a.example/x/y").code == "ok"
    assert may(text, destination="https://a.example/y").code == "caveat_unmet"


def test_a_gate_is_asked_last_and_once() -> None:
    """It may cost more than all the rest, so only for a chain that is otherwise good."""
    asked: list[Any] = []

    def gate(value: Any) -> bool:
        asked.append(value)
        return True

    may(root_token(att=[gated()], iss=MALLORY.did), gate=gate)
    may(write(MALLORY, claims(MALLORY, DAVE.did, "", "", att=[gated()])), gate=gate)
    assert asked == []
    assert may(root_token(att=[gated()]), gate=gate).valid
    assert asked == ["v/ops/x"]


def test_the_memo_never_remembers_time_or_revocation() -> None:
    """A repeat skips the signatures, and nothing else."""
    memo: dict[str, Any] = {}
    assert may(chain(), memo=memo).valid
    assert len(memo) == 3
    assert may(chain(), memo=memo).valid
    assert may(chain(), memo=memo, now=NOW + HOUR).code == "expired"
    assert may(chain(), memo=memo, revoked=lambda _: True).code == "revoked"
    assert may(chain(), memo=memo, presenter=BOB.did).code == "wrong_audience"
    assert may(flipped(chain(), 2), memo=memo).code == "bad_signature"


def test_a_resolved_key_is_never_memoised() -> None:
    """The key behind a did:web can change between two calls."""
    keys = {"did:web:example.com": ALICE}
    resource = "did:web:example.com/w"
    text = write(ALICE, claims(ALICE, DAVE.did, resource, "crud", iss="did:web:example.com"))

    def resolve(did: str) -> Any:
        return [public_key(keys[did].key_did)] if did in keys else []

    memo: dict[str, Any] = {}
    assert may(text, resource=resource, resolve=resolve, memo=memo).root == "owner"
    keys["did:web:example.com"] = BOB
    assert may(text, resource=resource, resolve=resolve, memo=memo).code == "bad_signature"
    keys.clear()
    assert may(text, resource=resource, resolve=resolve, memo=memo).code == "unresolved"
    assert memo == {}


MANAGED = managed_did(VENUE.did, "mia")
ELSEWHERE = managed_did("did:web:other.example", "mia")


@pytest.mark.parametrize(
    ("issuer", "owner", "roots", "word"),
    [
        pytest.param(ALICE.did, ALICE.did, Roots(), "owner", id="the owner"),
        pytest.param(VENUE.did, ALICE.did, Roots(), "refused", id="a venue, nobody said which"),
        pytest.param(VENUE.did, ALICE.did, Roots(VENUE.did, {ALICE.did}.__contains__), "venue", id="hosted"),
        pytest.param(
            VENUE.did, BOB.did, Roots(VENUE.did, {ALICE.did}.__contains__), "refused", id="not hosted"
        ),
        pytest.param(VENUE.did, MANAGED, Roots(VENUE.did), "refused", id="managed, without an inbox"),
        pytest.param(
            VENUE.did, MANAGED, Roots(VENUE.did, lambda _: True, attest="managed"), "venue", id="managed"
        ),
        pytest.param(
            VENUE.did,
            ALICE.did,
            Roots(VENUE.did, lambda _: True, attest="managed"),
            "refused",
            id="only managed",
        ),
        pytest.param(
            VENUE.did, "did:web:v.example", Roots((VENUE.did, "did:web:v.example")), "owner", id="alias"
        ),
        pytest.param(
            "did:web:other.example",
            ELSEWHERE,
            Roots(trusted=["did:web:other.example"]),
            "venue",
            id="trusted",
        ),
        pytest.param(
            "did:web:other.example",
            ALICE.did,
            Roots(trusted=["did:web:other.example"]),
            "refused",
            id="trusted, key",
        ),
        pytest.param(
            "did:web:other.example", MANAGED, Roots(trusted=["did:web:other.example"]), "refused", id="ours"
        ),
        pytest.param(
            "did:web:other", ELSEWHERE, Roots(trusted="did:web:other.example"), "refused", id="substring"
        ),
        pytest.param(MALLORY.did, ALICE.did, Roots(VENUE.did, lambda _: True), "refused", id="anybody"),
    ],
)
def test_whose_root_counts(issuer: str, owner: str, roots: Roots, word: str) -> None:
    """D7, row by row."""
    assert roots.word(issuer, owner) == word


def test_a_venue_root_is_a_venue_root() -> None:
    """The word reaches the verdict, and a refusal says so."""
    text = write(VENUE, claims(VENUE, DAVE.did, f"{ALICE.did}/w", "crud"))
    hosted = Roots(VENUE.did, {ALICE.did}.__contains__)
    assert may(text, roots=hosted).root == "venue"
    assert may(text).root == "refused"
    assert may(root_token(), roots=hosted).root == "owner"


def test_a_subject_may_be_bound_to_the_key() -> None:
    """D2: an agent or managed user; whether it is bound is for the caller, who learns both names."""
    agent = agent_did(ALICE.did, "scout")
    verdict = bearer(sub=agent)
    assert (verdict.issuer, verdict.subject, verdict.expires) == (ALICE.did, agent, NOW + 300)
    assert bearer(sub=MANAGED).subject == MANAGED
    assert bearer({"kid": f"{ALICE.did}#{ALICE.kid}"}).valid
    assert bearer({"kid": ALICE.did}).valid


def test_an_absent_audience_is_the_callers_choice() -> None:
    """D2: `auth.audience = "optional"`; a wrong one never passes."""
    body = {"iss": ALICE.did, "sub": ALICE.did, "iat": NOW, "exp": NOW + 300}
    asks = {"venue": [VENUE.did], "now": NOW, "require_audience": False}
    assert self_issued(write(ALICE, body), **asks).valid
    assert self_issued(write(ALICE, body | {"aud": BOB.did}), **asks).code == "wrong_audience"
    assert self_issued(write(ALICE, body | {"aud": None}), **asks).code == "wrong_audience"


def test_rights_are_told_one_by_one() -> None:
    """For `ucan:verify`: each capability with its root's word, the depth and the first issuer."""
    rights = rights_of(verify(root_and_more(), now=NOW), Roots())
    assert (rights.chain_depth, rights.root_issuer) == (3, ALICE.did)
    assert [word for _, word in rights.att] == ["owner", "refused"]
    with pytest.raises(UcanError):
        rights_of(verify("x", now=NOW), Roots())


def test_no_verdict_shows_a_token() -> None:
    """Neither a reason nor a repr holds a segment of what was presented."""
    for _name, _check, _code, _link, ask in CASES:
        shown = repr(ask())
        assert not re.search(r"[A-Za-z0-9_-]{60,}", re.sub(r"did:key:\w+", "", shown))
    good = may(chain())
    assert good.token is not None
    assert good.token.segments[2] not in repr(good)
    assert RESOURCE not in repr(good)


def crowded(count: int) -> str:
    """A token and its proof with so many capabilities each, none of which covers the request."""
    everywhere = [{"with": f"w/{n}", "can": "a"} for n in range(count)]
    proof = write(ALICE, claims(ALICE, ALICE.did, "", "", att=everywhere))
    return write(ALICE, claims(ALICE, DAVE.did, "", "", proof, att=everywhere))


def deep() -> str:
    """A capability of thousands of segments under a proof."""
    proof = write(ALICE, claims(ALICE, ALICE.did, "w", "a"))
    return write(ALICE, claims(ALICE, DAVE.did, "w" + "/x" * 9000, "a" + "/x" * 9000, proof))


@pytest.mark.parametrize("text", [crowded(450), deep(), nested(12)], ids=["crowded", "deep", "long"])
def test_no_token_is_slow(text: str) -> None:
    """As large as a token may be, and shaped to cost: still a fraction of a second, on a busy machine too."""
    start = time.perf_counter()
    assert may(text, resource=f"{ALICE.did}/h").code == "not_covered"
    assert time.perf_counter() - start < 1
