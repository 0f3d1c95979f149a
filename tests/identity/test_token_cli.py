"""`venue token inspect|verify|issue` as processes, without a server (D33): status codes above all."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.harness.commands import Done, inside
from tests.harness.commands import venue as command
from tests.harness.principals import flip_signature
from tests.harness.town import fresh_key
from ucan.capability import Capability
from ucan.did import managed_did
from ucan.issue import issue
from ucan.jwt import read, token_hash
from ucan.keys import Ed25519Signer

NOW = 1_900_000_000
ADA, BOB, CARL = fresh_key(), fresh_key(), fresh_key()
VENUE = fresh_key()


def grant(signer: Ed25519Signer, audience: str, resource: str, can: str = "crud/read", **more: Any) -> str:
    """A token of an hour from NOW."""
    said = {"expires": NOW + 3_600, "now": NOW, "nonce": "n", **more}
    return issue(signer, audience=audience, capabilities=[Capability(resource, can)], **said)


TOKEN = grant(ADA, BOB.did, f"{ADA.did}/w/r")


def verify(*words: str, at: int | None = NOW, given: str = "") -> Done:
    """`venue token verify`, at NOW unless said otherwise."""
    when = [] if at is None else ["--at", str(at)]
    return inside("token", "verify", *when, *words, given=given)


def test_the_commands_are_processes_with_a_status() -> None:
    """0, 1 and 2 as the shell sees them; everything below runs the same commands within this process."""
    at = ["--at", str(NOW)]
    assert command("token", "verify", *at, "-", given=TOKEN).status == 0
    assert command("token", "verify", *at, flip_signature(TOKEN)).status == 1
    assert command("token", "verify", *at, TOKEN, "--with", "w/r").status == 2
    assert command("token", "inspect", "-", given=TOKEN).json["hash"] == token_hash(TOKEN)


def test_inspect_shows_what_a_token_says() -> None:
    """Also one that is no good, for it does not judge; from an argument or from standard input."""
    said = inside("token", "inspect", TOKEN).json
    assert said["hash"] == token_hash(TOKEN)
    assert said["claims"] == read(TOKEN).claims
    assert said["header"]["typ"] == "JWT"
    assert inside("token", "inspect", "-", given=TOKEN + "\n").json == said
    assert inside("token", "inspect", flip_signature(TOKEN)).json["hash"] == said["hash"]
    for wrong in ("x", "..", TOKEN.rpartition(".")[0]):
        done = inside("token", "inspect", wrong)
        assert (done.status, done.out) == (1, "")
    assert inside("token", "inspect").status == 2


def test_verify_says_yes() -> None:
    """0 in words and as JSON, of one token or several, from standard input."""
    assert verify(TOKEN).status == 0
    said = verify("--json", TOKEN).json
    assert (said["valid"], said["code"], said["issuer"], said["audience"], said["expires"]) == (
        True,
        "ok",
        ADA.did,
        BOB.did,
        NOW + 3_600,
    )
    assert said["att"] == [{"with": f"{ADA.did}/w/r", "can": "crud/read", "rootAuthority": "owner"}]
    assert verify("-", given=f" {TOKEN}\n").status == 0
    assert verify(TOKEN, TOKEN, "--audience", BOB.did).status == 0


@pytest.mark.parametrize(
    ("words", "at", "code"),
    [
        ([TOKEN], NOW + 3_600, "expired"),
        ([flip_signature(TOKEN)], NOW, "bad_signature"),
        (["x"], NOW, "malformed"),
        ([TOKEN, flip_signature(TOKEN)], NOW, "bad_signature"),
        ([TOKEN, "--with", f"{ADA.did}/w/other", "--can", "crud/read"], NOW, "not_covered"),
        ([TOKEN, "--with", f"{ADA.did}/w/r", "--can", "crud/write"], NOW, "not_covered"),
        ([TOKEN, "--with", "w/r", "--can", "crud/read"], NOW, "not_covered"),
        (
            [TOKEN, "--with", f"{ADA.did}/w/r", "--can", "crud/read", "--audience", CARL.did],
            NOW,
            "wrong_audience",
        ),
    ],
)
def test_verify_says_no(words: list[str], at: int, code: str) -> None:
    """1, with the code, the check and the link."""
    done = verify("--json", *words, at=at)
    assert (done.status, done.json["valid"], done.json["code"]) == (1, False, code)
    assert done.json["check"].startswith("V")
    assert isinstance(done.json["link"], int)


def test_verify_with_one_thing_wrong_in_the_inside() -> None:
    """2 for usage, 1 for a token that is somebody else's; nothing on standard output."""
    for words, status in (
        ([TOKEN, "--with", "w/r"], 2),
        ([TOKEN, "--can", "crud"], 2),
        ([TOKEN, "--with", "w/../r", "--can", "crud"], 2),
        ([], 2),
        ([TOKEN, "--audience", CARL.did], 1),
    ):
        done = verify(*words)
        assert (done.status, done.out, bool(done.err)) == (status, "", True), words


def test_verify_judges_a_use() -> None:
    """A bare resource is the presenter's own; the presenter is the audience unless said."""
    assert verify(TOKEN, "--with", f"{ADA.did}/w/r/x", "--can", "crud/read").status == 0
    own = grant(ADA, ADA.did, f"{ADA.did}/w", "crud")
    assert verify(own, "--with", "w/r", "--can", "crud/read").status == 0
    assert (
        verify("x", TOKEN, "--with", f"{ADA.did}/w/r", "--can", "crud/read", "--audience", BOB.did).status
        == 0
    )


def test_verify_takes_the_word_of_a_venue_that_is_named() -> None:
    """For the users that it manages, and for nobody else; a first token that is none needs an audience."""
    managed, other = managed_did(VENUE.did, "ada"), ADA.did
    for owner, status in ((managed, 0), (other, 1)):
        token = grant(VENUE, BOB.did, f"{owner}/w/r")
        use = ["--with", f"{owner}/w/r", "--can", "crud/read"]
        assert verify(token, *use).status == 1
        assert verify(token, *use, "--root", VENUE.did).status == status
        assert verify(token, *use, "--root", CARL.did).status == 1
        assert verify(token, "--root", VENUE.did).status == 0
        word = verify("--json", token, "--root", VENUE.did).json["att"][0]["rootAuthority"]
        assert word == ("venue" if status == 0 else "refused")


def test_verify_takes_the_time_of_now() -> None:
    """Without --at: what ended long ago is expired, what ends in far years is not."""
    old = issue(ADA, audience=BOB.did, capabilities=[Capability("w", "crud")], expires=2, now=1, nonce="n")
    assert verify("--json", old, at=None).json["code"] == "expired"
    assert verify(TOKEN, at=None).status == 0


def test_issue_signs_with_a_key_file(tmp_path: Path) -> None:
    """A token that verifies, over one's own things, and one that rests on it."""
    ada, bob = tmp_path / "ada.key", tmp_path / "bob.key"
    did = inside("key", "new", "--no-passphrase", str(ada)).ok()
    other = inside("key", "new", str(bob), environ={"VENUE_PASSPHRASE": "correct horse"}).ok()
    issued = ["token", "issue", "--to", other, "--with", "w/r", "--can", "crud", "--for", "2h"]
    token = inside(*issued, "--key", str(ada)).ok()
    claims = read(token).claims
    assert (claims["iss"], claims["aud"]) == (did, other)
    assert claims["att"] == [{"with": f"{did}/w/r", "can": "crud"}]
    assert verify(token, "--with", f"{did}/w/r", "--can", "crud/read", at=None).status == 0

    child = [
        "token",
        "issue",
        "--to",
        CARL.did,
        "--can",
        "crud/read",
        "--for",
        "1h",
        "--key",
        str(bob),
        "--proof",
        "-",
    ]
    secret = {"VENUE_PASSPHRASE": "correct horse"}
    passed_on = inside(*child, "--with", f"{did}/w/r", given=token, environ=secret).ok()
    assert read(passed_on).claims["prf"] == [token]
    assert verify(passed_on, "--with", f"{did}/w/r", "--can", "crud/read", at=None).status == 0

    for words, environ, status in (
        ([*child, "--with", f"{did}/w"], secret, 1),
        ([*child, "--with", f"{did}/w/r", "--for", "3h"], secret, 1),
        ([*child, "--with", f"{did}/w/r"], {"VENUE_PASSPHRASE": "wrong"}, 1),
        ([*child, "--with", "w/../r"], secret, 1),
        ([*child, "--with", f"{did}/w/r", "--for", "soon"], secret, 2),
        ([*child, "--with", f"{did}/w/r", "--to", "nobody"], secret, 1),
        ([*child, "--with", f"{did}/w/r", "--key", str(tmp_path / "none")], secret, 1),
    ):
        done = inside(*words, given=token, environ=environ)
        assert (done.status, done.out, bool(done.err)) == (status, "", True), words
        assert token not in done.err


def test_json_stays_json() -> None:
    """What a script reads is one document."""
    done = verify("--json", TOKEN)
    assert json.loads(done.out)["valid"] is True
    assert done.err == ""
