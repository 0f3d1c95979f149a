"""`venue agent`: give agents an identity in your namespace, and take it away again (D3)."""

from pathlib import Path
from typing import Annotated, Any

import typer

from . import plain, words
from .connection import Connection, Usage, connected, now, say, write_secret
from .output import JsonOption, print_json
from .show import print_table

app = typer.Typer(
    help="Your agents: enrol, list, revoke. An agent asks; it never answers.", no_args_is_help=True
)

_AGENT = Annotated[str, typer.Argument(metavar="AGENT", help="The agent's id, such as helper.")]


@app.command()
@connected
def enrol(
    connection: Connection,
    agent: _AGENT,
    cap: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WITH:CAN", help="What it may do in your namespace besides asking you. Repeatable."
        ),
    ] = None,
    lifetime: Annotated[str, typer.Option(help="How long its token lives: 12h, 90d.")] = "90d",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the token here, mode 0600, and not to the screen."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Enrol an agent, or give one another token. The token is shown once and stored nowhere.

    Example: venue agent enrol helper --cap w/reports/:crud/read --out helper.token
    """
    seconds = words.seconds(lifetime)
    if seconds is None:
        raise Usage("--lifetime: such as 12h or 90d")
    if out is not None and out.exists():
        raise Usage(f"{out} exists already, and is not overwritten")
    data: dict[str, Any] = {"agentId": agent, "lifetime": seconds}
    if cap:
        data["caps"] = [_cap(text) for text in cap]
    enrolled = connection.open().run("v/ops/agent/enrol", data)
    if out is not None:
        write_secret(out, enrolled["token"])
    if as_json:
        kept = enrolled if out is None else {**enrolled, "token": None, "file": str(out)}
        print_json({key: value for key, value in kept.items() if value is not None})
        return
    say(f"{enrolled['did']}, until {words.moment(enrolled['exp'] * 1000)}")
    typer.echo(enrolled["token"] if out is None else str(out))


@app.command()
@connected
def ls(connection: Connection, as_json: JsonOption = False) -> None:
    """List your agents, live and revoked."""
    found = connection.open().run("v/ops/agent/list", {})
    if as_json:
        print_json(found)
        return
    if not found["items"]:
        typer.echo("You have no agents. Enrol one: venue agent enrol NAME --out FILE")
        return
    names = [plain.line(item["agentId"]) for item in found["items"]]
    wide = max(24, *map(len, names))  # whole, for it is what `revoke` wants
    rows = [f"{'AGENT':<{wide}} {'TOKEN':<8} MAY"]
    rows += [
        f"{plain.padded(name, wide)} {_state(item):<8} {_may(item)}"
        for name, item in zip(names, found["items"], strict=True)
    ]
    print_table(rows)


@app.command()
@connected
def revoke(connection: Connection, agent: _AGENT, as_json: JsonOption = False) -> None:
    """Revoke an agent: its tokens stop at once, what it was given falls, its id is not used again."""
    done = connection.open().run("v/ops/agent/revoke", {"agentId": agent})["revoked"]
    if as_json:
        print_json({"agent": agent, "revoked": done})
    else:
        typer.echo(
            f"Revoked {plain.line(agent)}." if done else f"There is no live agent {plain.line(agent)}."
        )
    if not done:
        raise typer.Exit(1)


def _cap(text: str) -> dict[str, str]:
    resource, _, ability = text.rpartition(":")
    if not ability or not text.rpartition(":")[1]:
        raise Usage("--cap: WITH:CAN, such as w/reports/:crud/read")
    return {"with": resource, "can": ability}


def _state(item: dict[str, Any]) -> str:
    if "revoked" in item:
        return "revoked"
    if item.get("exp") is None or item["exp"] * 1000 <= now():
        return "none"
    return f"{words.brief(item['exp'] - now() / 1000)} left"


def _may(item: dict[str, Any]) -> str:
    if item.get("caps") is None:
        return "ask you"
    if not item["caps"]:
        return "nothing"
    caps = ", ".join(f"{cap.get('can')} on {cap.get('with') or 'everything'}" for cap in item["caps"])
    return plain.short(plain.line(caps), 46)
