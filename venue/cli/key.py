"""`venue key`: make a key and see whose it is. The secret is never printed (D33)."""

import os
from pathlib import Path
from typing import Annotated

import typer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ucan.did import did_key

from .. import keyfile
from .output import JsonOption, print_json, refusal
from .status import Status

app = typer.Typer(help="Make a key, or show the DID of one.", no_args_is_help=True)

PASSPHRASE = "VENUE_PASSPHRASE"  # noqa: S105 - the name of a variable


@app.command()
def new(
    file: Annotated[Path, typer.Argument(help="Where to write the key; it must not exist yet.")],
    no_passphrase: Annotated[
        bool, typer.Option(help="Leave the key unencrypted: for agents, not for people.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Make an Ed25519 key and print its DID. It asks for a passphrase, or takes it from VENUE_PASSPHRASE."""
    if file.exists():
        raise _refused(
            keyfile.KeyFileError(f"{file} exists already, and a key is never overwritten"), as_json
        )
    passphrase = None if no_passphrase else _new_passphrase()
    key = Ed25519PrivateKey.generate()
    try:
        keyfile.write(file, key, passphrase)
    except keyfile.KeyFileError as error:
        raise _refused(error, as_json) from None
    _print_did(file, key, as_json)


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="A key file.")],
    as_json: JsonOption = False,
) -> None:
    """Print the DID of a key file."""
    try:
        key = opened(file)
    except keyfile.KeyFileError as error:
        raise _refused(error, as_json) from None
    _print_did(file, key, as_json)


def opened(file: Path) -> Ed25519PrivateKey:
    """The key of a file, asking for its passphrase if it has one. Raises KeyFileError."""
    given = os.environ.get(PASSPHRASE)
    if given is not None:
        return keyfile.read(file, given.encode())
    try:
        return keyfile.read(file, None)
    except keyfile.KeyFileError as error:
        if "is encrypted" not in str(error):
            raise
    return keyfile.read(file, typer.prompt("Passphrase", hide_input=True, err=True).encode())


def _new_passphrase() -> bytes:
    given = os.environ.get(PASSPHRASE)
    if given is None:
        given = typer.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)
    return str(given).encode()


def _print_did(file: Path, key: Ed25519PrivateKey, as_json: bool) -> None:
    did = did_key(key.public_key().public_bytes_raw())
    if as_json:
        print_json({"did": did, "file": str(file)})
    else:
        typer.echo(did)


def _refused(error: Exception, as_json: bool) -> typer.Exit:
    return refusal(str(error), "refused", Status.REFUSED, as_json=as_json, by="venue key")
