"""`venue inbox`: see who asks for what, answer, reject; over HTTP, as the person whose inbox it is (D33)."""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import typer

from ..client import Page, Settled, Venue
from . import card, plain, typed, watch, words
from .connection import Connection, Usage, connected, now, say
from .desk import listing, request_id, too_late, view
from .output import JsonOption, print_json, refusal
from .show import print_lines, print_table
from .status import code, of

app = typer.Typer(
    help="Your inbox: list, show, answer, reject, watch. Start with `venue inbox ls` or `venue inbox watch`.",
    no_args_is_help=True,
)

_ID = Annotated[str, typer.Argument(metavar="ID", help="The request, as `venue inbox ls` prints it.")]


class Which(StrEnum):
    """Which requests to list."""

    OPEN = "open"
    ANSWERED = "answered"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    ANY = "any"


@app.command()
@connected
def ls(
    connection: Connection,
    status: Annotated[Which, typer.Option(help="Only requests that stand so.")] = Which.OPEN,
    everything: Annotated[bool, typer.Option("--all", help="Every page, not only the first.")] = False,
    limit: Annotated[int, typer.Option(help="How many make a page.", min=1, max=1_000)] = 50,
    as_json: JsonOption = False,
) -> None:
    """List what waits for you, oldest first.

    Example: venue inbox ls --status any --all
    """
    venue = connection.open()
    wanted = None if status is Which.ANY else status.value
    page = venue.page(wanted, limit=limit)
    if everything:
        items = venue.inbox(wanted)
        page = Page(items=items, count=max(page.count, len(items)))
    if as_json:
        items_json = [item.model_dump(by_alias=True, exclude_unset=True) for item in page.items]
        print_json({"items": items_json, "count": page.count, "more": page.count > len(page.items)})
        return
    if not page.items:
        typer.echo(f"Nothing{'' if wanted is None else ' ' + wanted} in your inbox at {words.moment(now())}.")
        return
    print_table(listing(page, connection, now()))
    if page.count > len(page.items):
        say(f"{len(page.items)} of {page.count} are shown; --all shows every one.")


@app.command()
@connected
def show(connection: Connection, request: _ID, as_json: JsonOption = False) -> None:
    """Show one request: who really asks, what they wrote, and exactly what a yes could confer.

    What the venue verified stands first. What the requester wrote stands behind a rail; whatever is
    unprintable or invisible in it is shown as an escape.
    """
    seen = view(connection, connection.open(), request_id(request))
    if as_json:
        print_json(card.as_json(seen))
    else:
        print_lines(card.lines(seen))


_SET = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Answer an ask: true or false, an option id, a text."),
]
_ECHO = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Confer what is offered there: an ask, ask/option, or with:can."),
]
_NARROW = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME.KEY=VALUE", help="Confer less: KEY is with, can or exp (1h, unix seconds)."),
]
_REMARK = Annotated[list[str] | None, typer.Option(metavar="NAME=TEXT", help="A remark on one ask.")]
_DIGEST = Annotated[
    str | None, typer.Option(help="Only if the request still has this digest, as show --json printed it.")
]


@app.command()
@connected
def answer(
    connection: Connection,
    request: _ID,
    values: _SET = None,
    echo: _ECHO = None,
    narrow: _NARROW = None,
    remark: _REMARK = None,
    comment: Annotated[str | None, typer.Option(help="A remark on the whole.")] = None,
    digest: _DIGEST = None,
    as_json: JsonOption = False,
) -> None:
    """Answer a request. What you --echo is conferred, and nothing else is.

    Examples:

    venue inbox answer ID --set pay=true --set why="as agreed"

    venue inbox answer ID --set plan=full --echo plan/full --narrow plan/full.exp=1h
    """
    venue, found = connection.open(), request_id(request)
    record = view(connection, venue, found).record
    asks = record["asks"]
    try:
        answers = typed.answers(asks, values or ())
        comments = typed.remarks(asks, remark or ())
        echoes = typed.echoed(asks, answers, echo or ())
        echoes = typed.narrowed(asks, answers, echoes, narrow or (), now())
    except typed.BadInput as error:
        raise Usage(str(error)) from None
    shown = digest or record["digest"]
    _settle(
        connection,
        found,
        lambda: venue.answer(
            found, answers, grants=echoes, comments=comments or None, comment=comment, digest=shown
        ),
        as_json=as_json,
    )
    if as_json:
        print_json({"id": found, "status": "answered", "answers": answers, "grants": echoes})
        return
    typer.echo(f"Answered {found}.")
    _tell_conferred(connection.me, echoes, typed.triggered(asks, answers))


@app.command()
@connected
def reject(
    connection: Connection,
    request: _ID,
    reason: Annotated[str | None, typer.Option(help="Reaches whoever asked, word for word.")] = None,
    digest: _DIGEST = None,
    as_json: JsonOption = False,
) -> None:
    """Say no to a request.

    Example: venue inbox reject ID --reason "not before the audit"
    """
    venue, found = connection.open(), request_id(request)
    shown = digest or venue.record(found).digest
    _settle(connection, found, lambda: venue.reject(found, reason, digest=shown), as_json=as_json)
    if as_json:
        print_json({"id": found, "status": "rejected", "reason": reason})
    else:
        typer.echo(f"Rejected {found}.")


@app.command("watch")
@connected
def watch_inbox(connection: Connection) -> None:
    """Watch your inbox live, and decide in it: arrow keys, Enter, a to answer, r to reject, ? for the keys.

    It needs a terminal; in a script use ls, show, answer and reject.
    """
    watch.run(connection)


def _settle(connection: Connection, request: str, act: Callable[[], None], *, as_json: bool) -> None:
    """Answer or reject; when it was settled before, say by whom and end with the status of that."""
    try:
        act()
    except Settled as error:
        venue: Venue = connection.open()
        said = too_late(error, venue, request, connection.me)
        raise refusal(f"{said}.", code(error), of(error), as_json=as_json) from None


def _tell_conferred(me: str, echoes: list[dict[str, Any]], triggered: list[tuple[str, typed.Offer]]) -> None:
    """Say what was conferred, and of what was offered what was not."""
    for given in echoes:
        narrow = given.get("narrow", {})
        offer = {**given, **narrow}
        if "exp" in narrow:
            offer.pop("lifetime", None)
        typer.echo(f"Conferred: {words.grant(offer, me)}, {words.until(offer, now())}.")
    known = [(echo["with"], echo["can"]) for echo in echoes]
    left = [name for name, offer in triggered if (offer["with"], offer["can"]) not in known]
    if left:
        names = ", ".join(plain.line(name) for name in dict.fromkeys(left))
        say(f"Nothing was conferred for {names}: an offer is only conferred when it is echoed (--echo).")
