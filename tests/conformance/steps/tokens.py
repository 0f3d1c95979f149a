"""Tokens made outside any surface of the venue, and what they are worth."""

import base64
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.harness.principals import key_of
from ucan.capability import covers_ability, covers_resource, parse_configured
from ucan.caveats import check as check_caveats
from ucan.errors import UcanError
from ucan.keys import Ed25519Signer

from ..errors import BadScenario, Mismatch
from ..replies import Reply
from . import Act, step
from .protocol import invoke, run

_NONCES = itertools.count(1)
_OMIT = {"$omit": True}
_MINTED = ("iss", "aud", "att", "exp", "prf", "nbf", "nnc", "fct", "ucv")
_ENFORCED = {
    "crud/read": ("v/ops/covia/read", {}),
    "crud/write": ("v/ops/covia/write", {"value": 1}),
    "crud/delete": ("v/ops/covia/delete", {}),
}
"""The abilities that an operation on a path asks for: the operation, and what its input needs besides."""


def signed(signer: Ed25519Signer, claims: Mapping[str, Any], alg: str = "EdDSA") -> str:
    """A JWS over claims as they are, good or bad; `none` leaves the signature out."""
    header = {"alg": alg, "typ": "JWT", "kid": signer.kid}
    body = ".".join(_encoded(json.dumps(part).encode()) for part in (header, claims))
    return f"{body}.{'' if alg == 'none' else _encoded(signer.sign(body.encode()))}"


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _claims(signer: Ed25519Signer, said: Mapping[str, Any]) -> dict[str, Any]:
    if strange := said.keys() - set(_MINTED):
        raise BadScenario(f"mint: unknown claims {sorted(strange)}")
    claims = {"iss": signer.did, "ucv": "0.10.0", "prf": [], "nnc": str(next(_NONCES)), **said}
    return {key: value for key, value in claims.items() if value != _OMIT}


@step("mint")
def mint(act: Act, alg: str = "EdDSA", **claims: Any) -> Reply:
    """A token signed with this principal's key; claims override the right ones, `$omit` leaves one out."""
    signer = act.stage.signer(act.who)
    return Reply(result=signed(signer, _claims(signer, claims), alg))


@step("sign_as_venue")
def sign_as_venue(act: Act, **claims: Any) -> Reply:
    """A token signed with the venue's key behind its back; and what its `ucan:verify` says of it."""
    signer = act.stage.venue(act.who).signer
    token = signed(signer, _claims(signer, claims))
    return Reply(result=token, verdict=_verdict(act, token))


def _verdict(act: Act, token: str) -> Any:
    """The verdict of the venue that signed, with the word at the root lifted out when there is but one."""
    reply = run(act.stage.somebody_at(act.who), "v/ops/ucan/verify", {"token": token})
    if not reply.ok:
        raise Mismatch(f"ucan:verify: {reply.error}")
    words = {entry["rootAuthority"] for entry in reply.result.get("att", ())}
    return {**reply.result, "rootAuthority": words.pop()} if len(words) == 1 else reply.result


@step("mint_chain")
def mint_chain(act: Act, root: str, depth: int, leaf_aud: str, cap: Mapping[str, Any]) -> Reply:
    """A chain of `depth` tokens over one capability, from the key of `root` through throw-away keys."""
    signers = [act.stage.signer(root), *(key_of(f"link {number}") for number in range(1, depth))]
    audiences = [*(signer.did for signer in signers[1:]), leaf_aud]
    token: list[str] = []
    for signer, audience in zip(signers, audiences, strict=True):
        exp = act.stage.clock.seconds + 3_600
        token = [signed(signer, _claims(signer, {"aud": audience, "att": [cap], "exp": exp, "prf": token}))]
    return Reply(result=token[0])


@step("covers")
def covers(_: Act, owner: str, caps: Sequence[Any] | None, resource: str, ability: str) -> Reply:
    """Whether configured capabilities of `owner` cover an ability on a path; no caps are none."""
    wanted = f"{owner}/{resource}"
    return Reply(result=any(_covers(entry, owner, wanted, ability) for entry in caps or ()))


def _covers(entry: Any, owner: str, resource: str, ability: str) -> bool:
    try:
        cap = parse_configured(entry, owner)
    except UcanError:
        return False
    uncaveated = not cap.nb or check_caveats(cap.nb, None, None) is None
    return uncaveated and covers_resource(cap.with_, resource) and covers_ability(cap.can, ability)


@step("two_venues")
def two_venues(act: Act, present: str, at: str, resource: str) -> Reply:
    """Whether a token made here, transported or minted, opens a resource at another venue."""
    stage, holder = act.stage, "carol"
    owner = "bob" if present == "transported" else "alice"
    path = resource.partition("/")[2]
    far = stage.at(at, holder)
    stage.sow(at, owner, path)
    offer = {"with": f"{stage.cast.did(owner)}/{path}", "can": "crud/read"}
    claims = {"aud": stage.cast.did(holder), "att": [offer], "exp": stage.clock.seconds + 3_600}
    if present == "transported":
        token = _transported(act, claims)
    elif present == "venue_minted":
        token = invoke(Act(stage, owner), "v/ops/ucan/issue", claims).result["token"]
    else:
        raise BadScenario(f"two_venues: unknown token {present!r}")
    reply = run(Act(stage, far, [token]), "v/ops/covia/read", {"path": resource})
    return Reply(result={"authorised": reply.ok and reply.result["exists"]})


def _transported(act: Act, claims: Mapping[str, Any]) -> str:
    """Bob signs what carol asks for by a token ask, and carol takes it from her job."""
    stage = act.stage
    bob, carol = stage.cast.did("bob"), stage.cast.did("carol")
    may_ask = {"aud": carol, "att": [{"with": f"{bob}/h/", "can": "hitl/request"}], "exp": claims["exp"]}
    proof = mint(Act(stage, "bob"), **may_ask).result
    spec = {"caps": claims["att"], "audience": carol}
    ask = {"id": "t", "type": "token", "prompt": "Sign this?", "token": spec}
    job = invoke(
        Act(stage, "carol", [proof]), "v/ops/hitl/request", {"user": bob, "title": "T", "asks": [ask]}
    )
    answers = {"t": mint(Act(stage, "bob"), **claims).result}
    answer = {"id": job.job_id, "outcome": "answer", "answers": answers}
    answered = invoke(Act(stage, "bob"), "v/ops/hitl/respond", answer)
    if not answered.ok:
        raise Mismatch(f"the token ask could not be answered: {answered.error}")
    done = stage.send(Act(stage, "carol"), "GET", f"/api/v1/jobs/{job.job_id}").json()
    return str(done["output"]["tokens"]["t"])


@step("verify_equals_enforcement")
def verify_equals_enforcement(act: Act, cases: str) -> Reply:
    """Over the catalogue's own tables: does `ucan:verify` say of each token what the venue then does?

    Enforcement comes first and may write; the mark that `inspect.diff` looks back to is set before verifying.
    """
    if cases != "capability-matching + root-authority tables":
        raise BadScenario(f"unknown cases: {cases}")
    table = list(_cases(act))
    done = [_enforced(act, *case) for case in table]
    act.stage.set_mark()
    said = [_verified(act, *case) for case in table]
    disagreements = sum(one != other for one, other in zip(done, said, strict=True))
    if not any(done) or all(done):
        raise Mismatch("the tables hold no case of both kinds, and prove nothing")
    return Reply(result={"disagreements": disagreements, "cases": len(table)})


def _cases(act: Act) -> Iterator[tuple[str, str, str]]:
    """Token, resource and ability, for bob to present."""
    bob, exp = act.stage.cast.did("bob"), act.stage.clock.seconds + 3_600
    venue = act.stage.venue("venue")
    for data in act.stage.catalogue_steps("capability-matching", "covers"):
        if data["ability"] in _ENFORCED and data["caps"]:
            caps = [{**cap, "with": f"{data['owner']}/{cap['with']}"} for cap in data["caps"] if cap["with"]]
            claims = _claims(venue.signer, {"aud": bob, "att": caps, "exp": exp})
            yield signed(venue.signer, claims), f"{data['owner']}/{data['resource']}", data["ability"]
    for name in ("carol", "frank", "random", "venueB", "venue"):
        signer = act.stage.signer(name)
        for owner in ("carol", "alice"):
            for prefix in (f"{act.stage.cast.did(owner)}/", ""):
                att = [{"with": f"{prefix}w/", "can": "crud/read"}]
                token = signed(signer, _claims(signer, {"aud": bob, "att": att, "exp": exp}))
                yield token, f"{act.stage.cast.did(owner)}/w/shared/doc", "crud/read"


def _enforced(act: Act, token: str, resource: str, ability: str) -> bool:
    path, more = _ENFORCED[ability]
    reply = run(Act(act.stage, "bob", [token]), path, {"path": resource, **more})
    if not reply.ok and reply.kind != "denied":
        raise Mismatch(f"{path} on {resource}: {reply.error}")
    return reply.ok


def _verified(act: Act, token: str, resource: str, ability: str) -> bool:
    data = {"token": token, "with": resource, "can": ability, "aud": act.stage.cast.did("bob")}
    reply = run(Act(act.stage, "bob"), "v/ops/ucan/verify", data)
    return reply.ok and reply.result["valid"] and reply.result["authorises"]
