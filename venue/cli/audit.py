"""`venue audit`: check the chains and read them, on the data directory, without a server (D26)."""

from typing import Annotated, Any

import typer

from ops import notary
from ucan.did import public_key

from .local import ConfigOption, DataOption, Local, with_venue
from .output import JsonOption, print_json

app = typer.Typer(help="Check the audit chains, and read one.", no_args_is_help=True)


@app.command()
def verify(data: DataOption = None, config: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Check every chain and every signed root; status 1 if anything is not as it was written."""

    async def work(venue: Local) -> list[str]:
        return await venue.write(
            lambda call: notary.verify_all(call.tx, public_key(f"did:key:{call.world.signer.kid}"))
        )

    problems = with_venue(data, config, work, as_json=as_json)
    if as_json:
        print_json({"ok": not problems, "problems": problems})
    else:
        typer.echo("\n".join(problems) if problems else "Every chain and every root is as it was written.")
    if problems:
        raise typer.Exit(1)


@app.command()
def tail(
    inbox: Annotated[str, typer.Argument(help="Whose: a DID.")],
    lines: Annotated[int, typer.Option(help="How many lines.", min=1, max=1_000)] = 20,
    data: DataOption = None,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the last lines of the chain of an inbox."""

    async def work(venue: Local) -> Any:
        start = await venue.run("v/ops/audit/read", {"inbox": inbox, "limit": 1})
        after = max(0, start["last"] - lines)
        return await venue.run("v/ops/audit/read", {"inbox": inbox, "after": after, "limit": lines})

    page = with_venue(data, config, work, as_json=as_json)
    if as_json:
        print_json(page["items"])
        return
    for item in page["items"]:
        print_json(item["says"], indent=None)
