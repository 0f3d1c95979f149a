"""`venue job`: what was asked, from the side of whoever asked (D33)."""

from typing import Annotated, Any

import typer

from ..client import Venue
from . import plain, words
from .ask import SaveOption, check_new, finish, value
from .connection import Connection, connected, say
from .desk import request_id
from .output import JsonOption, print_json
from .status import Status

app = typer.Typer(help="Follow up what you asked: show, wait, cancel.", no_args_is_help=True)

_ID = Annotated[str, typer.Argument(metavar="ID", help="The job; it has the id of its request.")]


@app.command()
@connected
def show(connection: Connection, job: _ID, as_json: JsonOption = False) -> None:
    """Show a job as it stands."""
    found = connection.open().job(request_id(job))
    if as_json:
        print_json(found)
        return
    for name in ("id", "status", "name", "operation", "error"):
        if found.get(name) is not None:
            typer.echo(f"{name:<10} {plain.line(found[name])}")
    for name in ("created", "updated"):
        if isinstance(found.get(name), int):
            typer.echo(f"{name:<10} {words.moment(found[name])}")
    output = found.get("output")
    if isinstance(output, dict):
        for name, answer in (output.get("answers") or {}).items():
            typer.echo(f"{'answer':<10} {plain.line(name)}={plain.line(value(answer))}")


@app.command()
@connected
def wait(
    connection: Connection,
    job: _ID,
    save_token: SaveOption = None,
    as_json: JsonOption = False,
) -> None:
    """Wait for the answer to a question that was asked before; prints and ends as `venue ask` does.

    Example: id=$(venue ask "Ship?" --no-wait); …; venue job wait "$id" && ./ship.sh
    """
    check_new(save_token)
    venue, found = connection.open(60.0), request_id(job)
    finish(venue, found, asks_of(venue, found), save_token=save_token, as_json=as_json)


@app.command()
@connected
def cancel(
    connection: Connection,
    job: _ID,
    reason: Annotated[str | None, typer.Option(help="Why; it is kept with the job.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Withdraw a question. One that was settled before stays as it was settled."""
    venue, found = connection.open(), request_id(job)
    venue.cancel(found, reason)
    status = str(venue.job(found)["status"])
    withdrawn = status == "CANCELLED"
    if as_json:
        print_json({"id": found, "status": status})
    elif withdrawn:
        typer.echo(f"Withdrawn {found}.")
    else:
        say(f"{found} was finished before: {status}.")
    if not withdrawn:
        raise typer.Exit(Status.REFUSED)


def asks_of(venue: Venue, job: str) -> list[dict[str, Any]]:
    """The asks of a job, from its own input."""
    found = venue.job(job).get("input")
    asks = found.get("asks") if isinstance(found, dict) else None
    return [ask for ask in asks or [] if isinstance(ask, dict)]
