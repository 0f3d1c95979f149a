"""Whose it is to give: the one function that signs authority, on a real database (D7, D9)."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inbox.canonical import plain
from inbox.clock import millis, system_clock
from inbox.errors import NotGrantable
from inbox.model import Grant, GrantPolicy
from inbox.store.base import Transaction
from ops import users
from ops.errors import BadInput
from ops.granting import confer
from ops.model import Call, Caller, World
from ucan.capability import Capability
from ucan.did import managed_did
from ucan.issue import issue
from ucan.jwt import read, token_hash
from ucan.keys import Ed25519Signer
from venue.app import create_app, open_database
from venue.config import Settings

VENUE, ADA, BOB = (Ed25519Signer.from_seed(bytes([number]) * 32) for number in range(1, 4))
MANAGED = managed_did(VENUE.did, "eve")
NOW = millis(system_clock()) // 1000
Run = Callable[..., Any]


def grant(resource: str, can: str = "crud/read", exp: int = NOW + 60) -> Grant:
    """One thing that was consented to."""
    return Grant({"with": resource, "can": can}, resource, can, None, exp)


def proof(
    can: str = "grant/crud/read", audience: str = ADA.did, exp: int = NOW + 3600, by: Any = VENUE
) -> str:
    """A right over a managed user's documents, given by the venue that manages her."""
    capability = Capability(f"{MANAGED}/w/team", can)
    return issue(by, audience=audience, capabilities=[capability], expires=exp, now=NOW, nonce="n")


@pytest.fixture(scope="module")
def conferred(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Confers on a database in which the managed user is registered, and rolls back."""
    path: Path = tmp_path_factory.mktemp("granting")
    with asyncio.Runner() as runner:
        db = open_database(path / "venue.db")
        world: World = create_app(Settings(data=path), db=db, signer=VENUE).state.world
        runner.run(db.open(lambda _topics: None))

        async def go(work: Callable[[Transaction], Any]) -> Any:
            return await db.write(work)

        runner.run(go(lambda tx: [users.register(tx, did, NOW) for did in (ADA.did, MANAGED)]))

        def run(
            grants: list[Grant], *, policy: GrantPolicy | None = None, by: str = ADA.did, **said: Any
        ) -> Any:
            there = world if policy is None else replace(world, terms=replace(world.terms, grants=policy))
            caller = Caller(by, by, proofs=tuple(said.get("proofs", ())))

            def work(tx: Transaction) -> tuple[str, Any]:
                call = Call(tx, there, caller, NOW * 1000, "0" * 32)
                exp = said.get("exp", NOW + 60)
                token = confer(call, grants, audience=said.get("audience", BOB.did), exp=exp, request="r")
                return token, tx.one("mint.get", hash=token_hash(token))

            return runner.run(go(work))

        yield run
        runner.run(db.close())


def test_what_is_ones_own(conferred: Run) -> None:
    """Signed by the venue, for the audience, in the grantor's name, and entered into the ledger."""
    token, row = conferred([grant(f"{ADA.did}/w/x"), grant(f"{ADA.did}/w/y", "crud")])
    claims = read(token).claims
    entries = [{"with": f"{ADA.did}/w/x", "can": "crud/read"}, {"with": f"{ADA.did}/w/y", "can": "crud"}]
    assert (claims["iss"], claims["aud"], claims["att"]) == (VENUE.did, BOB.did, entries)
    assert (claims["exp"], claims["prf"]) == (NOW + 60, [])
    assert claims["fct"] == [{"grantor": ADA.did, "request": "r"}]
    assert (row["grantor"], row["audience"], row["exp"], row["request"]) == (ADA.did, BOB.did, NOW + 60, "r")
    assert plain(row["grants"]) == entries


@pytest.mark.parametrize(
    "resource", [f"{BOB.did}/w/x", BOB.did, f"{ADA.did}x/w", f"{ADA.did}:g:a/w", f"{MANAGED}/w/team"]
)
def test_what_is_not_ones_own(conferred: Run, resource: str) -> None:
    """Beside a grant that is good, the whole answer is refused."""
    with pytest.raises(NotGrantable):
        conferred([grant(f"{ADA.did}/w/x"), grant(resource)])


def test_what_a_venue_signs_only_for_its_own(conferred: Run) -> None:
    """`grants.attest = "managed"`: a did:key owner is told to sign, a managed one is served (D7)."""
    with pytest.raises(NotGrantable):
        conferred([grant(f"{ADA.did}/w/x")], policy=GrantPolicy(attest="managed"))
    assert conferred([grant(f"{MANAGED}/w/x")], by=MANAGED, policy=GrantPolicy(attest="managed"))


def test_what_a_proof_lets_one_give(conferred: Run) -> None:
    """`grant/<can>` over a managed user's documents; what was relied on is in the ledger."""
    right = proof()
    _, row = conferred([grant(f"{MANAGED}/w/team/x")], proofs=[right])
    assert token_hash(right) in row["proofs"]
    assert conferred([grant(f"{MANAGED}/w/team")], proofs=[right], exp=NOW + 3600)


WORTHLESS: dict[str, tuple[str, int | None]] = {
    "the bare ability": (proof("crud/read"), NOW + 60),
    "another ability": (proof("grant/crud/write"), NOW + 60),
    "another holder": (proof(audience=BOB.did), NOW + 60),
    "another signer": (proof(by=BOB), NOW + 60),
    "one's own word": (proof("*", by=ADA), NOW + 60),
    "beyond its end": (proof(), NOW + 3601),
    "for ever": (proof(), None),
}


@pytest.mark.parametrize("why", WORTHLESS)
def test_what_a_proof_does_not_let_one_give(conferred: Run, why: str) -> None:
    """A good proof with one thing wrong, or a grant that would outlive it."""
    right, exp = WORTHLESS[why]
    with pytest.raises(NotGrantable):
        conferred([grant(f"{MANAGED}/w/team")], proofs=[right], exp=exp)


@pytest.mark.parametrize("resource", [f"{MANAGED}/w/teamx", f"{MANAGED}/w", MANAGED])
def test_what_lies_beside_a_proof(conferred: Run, resource: str) -> None:
    """The right ends where the proof's resource does."""
    with pytest.raises(NotGrantable):
        conferred([grant(resource)], proofs=[proof()])


def test_what_a_did_key_owner_let_one_give(conferred: Run) -> None:
    """The venue signs for such an owner only what that owner instructed personally (D7)."""
    capability = Capability(f"{BOB.did}/w/team", "grant/crud/read")
    right = issue(BOB, audience=ADA.did, capabilities=[capability], expires=NOW + 3600, now=NOW, nonce="n")
    with pytest.raises(NotGrantable):
        conferred([grant(f"{BOB.did}/w/team")], proofs=[right])


def test_what_no_token_can_say(conferred: Run) -> None:
    """An audience that anybody can sign for, an end that has passed: a refusal, not a failure."""
    for wrong in ({"audience": "did:key:z6MkeTG3bFFSLYVU7VqhgZxqr6YzpaGrQtFMh1uvqGy1vDnP"}, {"exp": NOW}):
        with pytest.raises(BadInput):
            conferred([grant(f"{ADA.did}/w/x")], **wrong)
