"""The operator's bearer (D5): signed by the venue's own key for a minute, good for users and audit alone."""

from typing import Any

import pytest

from tests.harness.town import ASK, REQUEST, Town, fresh_key, refused
from ucan.jwt import sign


def test_what_the_operator_may(town: Town) -> None:
    """Users, their sign-ins and keys, and any audit chain."""
    operator = town.operator()
    did = operator.run("v/ops/user/create", {"username": "ada"}).ok()["did"]
    assert did == town.managed_did("ada")
    assert did in [item["did"] for item in operator.run("v/ops/user/list").ok()["items"]]
    assert operator.run("v/ops/user/keys", {"user": "ada"}).ok()["items"] == []
    assert operator.run("v/ops/user/signout", {"user": "ada"}).ok() == {"revoked": 0}
    page = operator.run("v/ops/audit/read", {"inbox": did}).ok()
    assert [line["says"]["kind"] for line in page["items"]] == ["user.created"]
    for path in ("/api/v1/operations", "/api/v1/status"):
        assert operator.request("GET", path).status == 200


def test_the_operator_pages_through_users(build: Any) -> None:
    """In the order of their DIDs, each once, and the cursor ends."""
    town = build()
    operator = town.operator()
    made = {operator.run("v/ops/user/create", {"username": f"u{n}"}).ok()["did"] for n in range(5)}
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = operator.run("v/ops/user/list", {"limit": 2, **cursor}).ok()
        seen += [item["did"] for item in page["items"]]
        if "cursor" not in page:
            break
        cursor = {"cursor": page["cursor"]}
    assert (seen, page["count"]) == (sorted(made), 5)


OTHERS: list[tuple[str, dict[str, Any]]] = [
    (ASK, REQUEST),
    ("v/ops/hitl/respond", {"id": "0" * 32, "outcome": "reject"}),
    ("v/ops/hitl/list", {}),
    ("v/ops/hitl/block", {"requester": "did:key:zSomebody"}),
    ("v/ops/hitl/blocked", {}),
    ("v/ops/ucan/issue", {}),
    ("v/ops/ucan/verify", {"token": "x"}),
    ("v/ops/ucan/revoke", {"hash": "0" * 64}),
    ("v/ops/ucan/list", {}),
    ("v/ops/covia/read", {"path": "w/x"}),
    ("v/ops/covia/list", {"path": "h"}),
    ("v/ops/covia/write", {"path": "w/x", "value": 1}),
    ("v/ops/covia/delete", {"path": "w/x"}),
    ("v/ops/covia/copy", {"from": "w/x", "to": "w/y"}),
    ("v/ops/agent/enrol", {"agentId": "x"}),
    ("v/ops/agent/list", {}),
    ("v/ops/agent/revoke", {"agentId": "x"}),
    ("v/ops/agent/bind", {"agentId": "x", "proof": "x"}),
]


@pytest.mark.parametrize(("operation", "data"), OTHERS, ids=[name for name, _ in OTHERS])
def test_what_the_operator_may_not(town: Town, operation: str, data: dict[str, Any]) -> None:
    """Neither answers, nor grants, nor reads anybody's `h/`, `j/` or `w/`: also not under a proof."""
    ada = town.person()
    proof = ada.grant(town.did, ada.did, "*")
    for call in (town.operator().run, town.operator().invoke):
        refused(call(operation, data), "operator_refused")
        refused(call(operation, data, [proof]), "operator_refused")


def test_the_operator_reads_no_job_and_no_stream(town: Town) -> None:
    """Not by its id, not by a list, not under a proof of the owner's."""
    ada = town.person()
    job_id = ada.ask()
    operator = town.operator()
    proof = ada.grant(town.did, ada.did, "*")
    for method, path in (
        ("GET", f"/api/v1/jobs/{job_id}"),
        ("GET", f"/api/v1/jobs/{job_id}/sse"),
        ("GET", f"/api/v1/jobs/{job_id}/history"),
        ("GET", f"/api/v1/jobs/{job_id}/receipt"),
        ("GET", "/api/v1/jobs"),
        ("GET", "/api/v1/inbox/sse"),
        ("PUT", f"/api/v1/jobs/{job_id}/cancel"),
        ("PUT", f"/api/v1/jobs/{job_id}/delete"),
        ("GET", f"/api/v1/values/read?path={ada.did}/h/{job_id}"),
        ("GET", f"/api/v1/values/list?path={ada.did}/j"),
        ("GET", f"/api/v1/values/read?path={ada.did}/w/x"),
    ):
        refused(operator.request(method, path, headers={"X-Covia-Ucans": proof}), "operator_refused")
    assert ada.job(job_id).ok()["status"] == "INPUT_REQUIRED"


WRONG: dict[str, dict[str, Any]] = {
    "a minute and a second": {"exp": 61},
    "expired": {"exp": 0},
    "no end": {"exp": None},
    "an end that is a text": {"exp": "60"},
    "a managed user": {"sub": "ada"},
    "no jti": {"jti": None},
    "another audience": {"aud": "did:key:zOther"},
    "another issuer": {"iss": "did:key:zOther"},
    "no audience": {"aud": None},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_operators_bearer_with_one_thing_wrong(town: Town, wrong: str) -> None:
    """401, though the venue's own key signed it."""
    spoilt = dict(WRONG[wrong])
    if isinstance(spoilt.get("exp"), int):
        spoilt["exp"] += town.now
    if spoilt.get("sub"):
        spoilt["sub"] = town.managed_did("ada")
    refused(town.operator(**spoilt).run("v/ops/user/list"), "unauthorised")
    assert town.operator().run("v/ops/user/list").status == 200


def test_an_operators_bearer_by_another_key(town: Town) -> None:
    """Whoever has not the venue's key is not its operator, whatever the claims say."""
    good = {
        "iss": town.did,
        "sub": town.did,
        "aud": town.did,
        "iat": town.now,
        "exp": town.now + 60,
        "jti": "0",
    }
    for signer in (fresh_key(), fresh_key(town.did)):
        bearer = sign(signer, good, typ="venue-operator+jwt")
        refused(town.by(bearer).run("v/ops/user/list"), "unauthorised")
    person = fresh_key()
    own = {**good, "iss": person.did, "sub": person.did}
    refused(town.by(sign(person, own, typ="venue-operator+jwt")).run("v/ops/user/list"), "unauthorised")


def test_nobody_else_is_the_operator(town: Town) -> None:
    """A person, an agent, a managed user and a relayed person manage no users and read no other's audit."""
    person = town.person()
    agent, managed, relayed = town.agent(person), town.managed("eve"), town.relayed(person)
    for operation, data in (("v/ops/user/list", {}), ("v/ops/user/create", {"username": "x"})):
        refused(person.run(operation, data), "denied")
        refused(managed.run(operation, data), "denied")
        refused(agent.run(operation, data), "agent_refused")
        refused(relayed.run(operation, data), "weak_credential")
    refused(person.run("v/ops/audit/read", {"inbox": town.did}), "invalid_input")
    refused(managed.run("v/ops/user/keys", {"user": person.did}), "invalid_input")
