"""`venue user`: who has an inbox here, on the data directory (D3-D5)."""

from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from ops import links
from ops.builtin.user import sign_in
from ucan.jwt import read

from .. import config as settings
from .local import ConfigOption, DataOption, Local, with_venue
from .output import JsonOption, print_json

app = typer.Typer(help="Create users, sign them in, and see who there is.", no_args_is_help=True)

_WHO = Annotated[str, typer.Argument(help="A name, for a user whom the venue manages; or a DID.")]


@app.command()
def add(who: _WHO, data: DataOption = None, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Give somebody an inbox, and print their DID."""
    given = {"did": who} if who.startswith("did:") else {"username": who}

    async def work(venue: Local) -> Any:
        return await venue.run("v/ops/user/create", given)

    result = with_venue(data, config, work, as_json=as_json, create=True)
    if as_json:
        print_json(result)
    else:
        typer.echo(result["did"])
        if not result["created"]:
            typer.echo("They had an inbox here already.", err=True)


@app.command()
def ls(data: DataOption = None, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """List who has an inbox here."""

    async def work(venue: Local) -> list[Any]:
        items: list[Any] = []
        cursor = None
        while True:
            page = await venue.run(
                "v/ops/user/list", {"limit": 1_000, **({"cursor": cursor} if cursor else {})}
            )
            items += page["items"]
            cursor = page.get("cursor")
            if cursor is None:
                return items

    items = with_venue(data, config, work, as_json=as_json)
    if as_json:
        print_json(items)
        return
    table = Table("name", "since", "DID", box=None, pad_edge=False)
    for item in items:
        since = datetime.fromtimestamp(item["created"] / 1000, UTC).date().isoformat()
        table.add_row(item.get("name", ""), since, item["did"])
    # A DID holds `:key:`, which would otherwise become a picture of one.
    Console(markup=False, emoji=False, highlight=False).print(table)


@app.command()
def signin(
    name: Annotated[str, typer.Argument(help="The name of a managed user.")],
    hours: Annotated[float, typer.Option(help="How long it lasts; at most 12 hours.", min=0.01, max=12)] = 12,
    data: DataOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a sign-in for a managed user: a bearer, so hand it over with care. It is audited."""

    async def work(venue: Local) -> str:
        return await venue.write(lambda call: sign_in(call, name, int(hours * 3600)))

    token = with_venue(data, config, work, as_json=as_json)
    if as_json:
        claims = read(token).claims
        print_json({"token": token, "sub": claims["sub"], "exp": claims["exp"], "jti": claims["jti"]})
    else:
        typer.echo(token)


@app.command()
def signout(
    name: Annotated[str, typer.Argument(help="The name of a managed user.")],
    jti: Annotated[str | None, typer.Option(help="One sign-in only, by its jti.")] = None,
    data: DataOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke the sign-ins of a managed user, at once."""

    async def work(venue: Local) -> Any:
        return await venue.run("v/ops/user/signout", {"user": name, **({"jti": jti} if jti else {})})

    result = with_venue(data, config, work, as_json=as_json)
    if as_json:
        print_json(result)
    else:
        typer.echo(f"{result['revoked']} revoked")


@app.command()
def link(
    name: Annotated[str, typer.Argument(help="The name of a managed user.")],
    base: Annotated[
        str | None, typer.Option(help="How they reach the venue; by default public_url, or loopback.")
    ] = None,
    data: DataOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a link that gives a managed user's browser a key of its own: once, within 15 minutes. It is
    audited.
    """

    async def work(venue: Local) -> str:
        return await venue.write(lambda call: links.make(call, name))

    code = with_venue(data, config, work, as_json=as_json)
    known = settings.load(config, data=data, insecure_http=True)
    place = base or known.public_url or f"http://127.0.0.1:{known.port}"
    made = f"{place.rstrip('/')}/inbox#link={name}.{code}"
    if as_json:
        print_json({"link": made})
    else:
        typer.echo(made)


@app.command()
def keys(
    name: Annotated[str, typer.Argument(help="The name of a managed user.")],
    revoke: Annotated[str | None, typer.Option(help="Revoke this key, a did:key.")] = None,
    data: DataOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the keys of a managed user, or revoke one."""

    async def work(venue: Local) -> Any:
        if revoke is not None:
            await venue.run("v/ops/user/unbind", {"user": name, "key": revoke})
        return await venue.run("v/ops/user/keys", {"user": name})

    result = with_venue(data, config, work, as_json=as_json)
    if as_json:
        print_json(result)
        return
    for item in result["items"]:
        typer.echo(f"{item['key']}{'  revoked' if 'revoked' in item else ''}")
