"""`venue token`: look into tokens, judge and sign them, without a server; and revoke them at one (D33)."""

import secrets
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from inbox.clock import millis, system_clock
from ucan.capability import absolute, parse
from ucan.errors import UcanError
from ucan.issue import issue as sign_grant
from ucan.jwt import parse as parse_token
from ucan.jwt import read, token_hash
from ucan.keys import Ed25519Signer
from ucan.verify import Roots, Verdict, authorise, rights_of
from ucan.verify import verify as verify_token

from .. import keyfile
from ..config import ConfigError
from ..operator import OPERATOR_LIFE, bearer
from . import words
from .connection import Connection, Usage, connected
from .key import opened
from .local import ConfigOption, DataOption, signer_of
from .output import JsonOption, print_json, refusal
from .status import Status

app = typer.Typer(
    help="Inspect, verify and issue capability tokens without a server; revoke them.", no_args_is_help=True
)

_STDIN = "-"
_TOKEN = Annotated[str, typer.Argument(help="The token; - reads it from standard input.")]


@app.command()
def inspect(token: _TOKEN, as_json: JsonOption = False) -> None:
    """Show what a token says, as JSON. It is not judged: anybody can write anything into a token."""
    try:
        jws = read(_given(token))
    except UcanError as error:
        raise _refused(f"{error}", 1, as_json=as_json) from None
    print_json({"hash": jws.hash, "header": jws.header, "claims": jws.claims})


@app.command()
def verify(
    tokens: Annotated[
        list[str], typer.Argument(help="One token or several; - reads one from standard input.")
    ],
    at: Annotated[int | None, typer.Option(help="At which time, in unix seconds; now when absent.")] = None,
    audience: Annotated[
        str | None, typer.Option(help="Who presents it; its own audience when absent.")
    ] = None,
    resource: Annotated[
        str | None, typer.Option("--with", help="What it is used on; a bare path is the presenter's.")
    ] = None,
    ability: Annotated[str | None, typer.Option("--can", help="What is to be done with that.")] = None,
    root: Annotated[
        list[str] | None, typer.Option(help="A venue whose word counts for the users it manages.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge tokens: status 0 when good, 1 when not. With --with and --can: whether one of them authorises
    that.

    Revocations are not known here; only the venue that keeps them can tell.
    """
    if (resource is None) != (ability is None):
        raise _refused("--with and --can go together", 2)
    now = at if at is not None else millis(system_clock()) // 1000
    texts = [_given(token) for token in tokens]
    roots = Roots(trusted=root or ())
    if resource is None or ability is None:
        verdicts = [verify_token(text, now=now) for text in texts]
        verdict = next((found for found in verdicts if not found), verdicts[0])
        if verdict and audience is not None and any(_audience(text) != audience for text in texts):
            raise _refused("the token was given to somebody else", 1)
    else:
        presenter = audience or _audience(texts[0])
        verdict = authorise(
            texts,
            presenter=presenter,
            resource=_absolute(resource, presenter),
            ability=ability,
            now=now,
            roots=roots,
        )
    _print_verdict(verdict, roots, as_json=as_json)
    if not verdict:
        raise typer.Exit(1)


@app.command()
def issue(
    key: Annotated[Path, typer.Option(help="The key file to sign with.")],
    to: Annotated[str, typer.Option(help="Who may use the token: a DID.")],
    resource: Annotated[str, typer.Option("--with", help="What it is about; a bare path is your own.")],
    ability: Annotated[str, typer.Option("--can", help="What may be done, such as crud/read.")],
    lifetime: Annotated[str, typer.Option("--for", help="How long: 30m, 12h, 7d.")] = "7d",
    proof: Annotated[list[str] | None, typer.Option(help="A token that the grant relies on.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Sign a grant with your own key, and print the token."""
    now = millis(system_clock()) // 1000
    try:
        signer = Ed25519Signer(opened(key))
        token = sign_grant(
            signer,
            audience=to,
            capabilities=[parse({"with": resource, "can": ability}, signer.did)],
            expires=now + _seconds(lifetime),
            now=now,
            nonce=secrets.token_hex(12),
            proofs=[_given(text) for text in proof or ()],
        )
    except (UcanError, keyfile.KeyFileError) as error:
        raise _refused(f"{error}", 1, as_json=as_json) from None
    if as_json:
        print_json({"token": token, "hash": token_hash(token)})
    else:
        typer.echo(token)


@app.command()
def operator(data: DataOption = None, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Print a bearer of one minute as the operator, for calls over HTTP: users, audit, configuration.

    The key in the data directory signs it. It answers nothing, grants nothing and reads nobody's inbox.
    Example: VENUE_TOKEN=$(venue token operator) python add_users.py
    """
    try:
        signer = signer_of(data, config)
    except (ConfigError, keyfile.KeyFileError) as error:
        raise _refused(f"{error}", 1, as_json=as_json) from None
    now = millis(system_clock()) // 1000
    signed = bearer(signer, now=now, nonce=secrets.token_hex(16))
    if as_json:
        print_json({"token": signed, "exp": now + OPERATOR_LIFE})
    else:
        typer.echo(signed)


@app.command()
@connected
def revoke(
    connection: Connection,
    token: Annotated[str | None, typer.Argument(help="The token; - reads it from standard input.")] = None,
    token_hash: Annotated[
        str | None, typer.Option("--hash", help="Or the hash of one that the venue signed.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke a token at its venue, and everything that rests on it, at once and for good.

    Example: venue token revoke - < leaked.jwt
    """
    if (token is None) == (token_hash is None):
        raise Usage("a token, or --hash HASH")
    venue = connection.open()
    given = None if token is None else _given(token)
    fell = venue.revoke(token=given) if given is not None else venue.revoke(hash=token_hash)
    if as_json:
        print_json({"revoked": fell})
        return
    typer.echo("\n".join(fell) if fell else "It was revoked before.")


def _print_verdict(verdict: Verdict, roots: Roots, *, as_json: bool) -> None:
    said: dict[str, Any] = {"valid": verdict.valid, "code": verdict.code}
    if not verdict:
        said |= {"check": verdict.check, "link": verdict.link, "reason": verdict.reason}
    else:
        rights = rights_of(verdict, roots)
        said |= {
            "issuer": verdict.issuer,
            "audience": verdict.token.aud if verdict.token else None,
            "expires": verdict.expires,
            "att": [{**capability.as_claim(), "rootAuthority": word} for capability, word in rights.att],
        }
    if as_json:
        print_json(said)
    elif not verdict:
        typer.echo(f"no: {verdict.reason} ({verdict.code}, {verdict.check}, link {verdict.link})")
    else:
        until = "for ever" if verdict.expires is None else f"until {_date(verdict.expires)}"
        typer.echo(f"yes: from {verdict.issuer} to {said['audience']}, {until}")
        for entry in said["att"]:
            typer.echo(f"  {entry['can']} on {entry['with']} (root: {entry['rootAuthority']})")


def _given(token: str) -> str:
    return sys.stdin.read().strip() if token == _STDIN else token.strip()


def _audience(token: str) -> str:
    try:
        return parse_token(token).aud
    except UcanError as error:
        raise _refused(f"{error}", 1) from None


def _absolute(resource: str, presenter: str) -> str:
    try:
        return absolute(resource, presenter)
    except UcanError as error:
        raise _refused(f"--with: {error}", 2) from None


def _seconds(text: str) -> int:
    span = words.seconds(text)
    if span is None:
        raise _refused("--for: such as 30m, 12h or 7d", 2)
    return span


def _date(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _refused(message: str, status: int, *, as_json: bool = False) -> typer.Exit:
    code = "usage" if status == Status.USAGE else "refused"
    return refusal(message, code, status, as_json=as_json, by="venue token")
