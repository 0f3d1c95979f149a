"""`venue ask`: ask a person from a shell script, and act on the answer by the exit status (D33)."""

import os
import secrets
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..client import Answered, NotAuthenticated, Refused, Unreachable, Venue, VenueError, VenueFault
from ..client.asked import outcome
from . import form, plain, words
from .connection import Connection, Usage, connected, failed, say, write_secret
from .output import JsonOption, print_json
from .status import Status, code, of
from .typed import BadInput

_PATIENCE = 60.0


_TITLE = Annotated[str, typer.Argument(help="One line that says what is to be decided.")]
_APPROVE = Annotated[str | None, typer.Option(metavar="PROMPT", help="Ask yes or no; no is status 1.")]
_TEXT = Annotated[list[str] | None, typer.Option(metavar="ID=PROMPT", help="Ask for a text. Repeatable.")]
_CHOICE = Annotated[
    list[str] | None, typer.Option(metavar="ID=PROMPT:OPT,OPT", help="Ask for one of several. Repeatable.")
]
_BOXES = Annotated[
    list[str] | None, typer.Option(metavar="ID=PROMPT:OPT,OPT", help="Ask for any of several. Repeatable.")
]
_RAW = Annotated[
    list[str] | None, typer.Option("--ask", metavar="JSON", help="Any ask, as JSON. Repeatable.")
]
_GRANT = Annotated[
    list[str] | None,
    typer.Option(metavar="WITH:CAN[:LIFETIME]", help="Ask to be given this by the approval. Repeatable."),
]
_TO = Annotated[str | None, typer.Option(metavar="DID", help="Whose inbox; your own user's when absent.")]
_DESCRIPTION = Annotated[
    str | None, typer.Option(metavar="TEXT|@FILE", help="What the person needs to know; Markdown.")
]
_TIMEOUT = Annotated[
    str | None, typer.Option(help="How long the question stands: 30m, 12h, 7d; for ever when absent.")
]
_UCAN = Annotated[
    list[str] | None, typer.Option(metavar="TOKEN", help="A token that lets you ask somebody else.")
]
_ONCE = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Run again with the same text: it is the same question.")
]
SaveOption = Annotated[
    Path | None,
    typer.Option("--save-token", metavar="FILE", help="Keep the tokens that come, one a line, mode 0600."),
]


@connected
def ask(
    connection: Connection,
    title: _TITLE,
    approve: _APPROVE = None,
    text: _TEXT = None,
    choice: _CHOICE = None,
    checkboxes: _BOXES = None,
    raw: _RAW = None,
    grant: _GRANT = None,
    to: _TO = None,
    description: _DESCRIPTION = None,
    timeout: _TIMEOUT = None,
    ucan: _UCAN = None,
    once: _ONCE = None,
    save_token: SaveOption = None,
    wait: Annotated[bool, typer.Option(help="Wait for the answer; or print the id and go.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Ask a person, wait, print the answer.

    Exit status: 0 approved or answered, 1 rejected or answered no (the reason is on standard error), 2 usage,
    3 unreachable, 4 expired, 5 withdrawn. Without other questions, the title itself is put as yes or no.

    Examples:

    venue ask "Ship 1.4.0?" --timeout 1h && ./ship.sh

    tier=$(venue ask "Which tier?" --choice "tier=Which?:basic,full")

    venue ask "May I read the reports?" --grant w/reports/:crud/read:1h --save-token reports.jwt
    """
    check_new(save_token)
    try:
        asks = form.asks(title, approve, text or (), choice or (), checkboxes or (), raw or (), grant or ())
    except BadInput as error:
        raise Usage(str(error)) from None
    question = {"to": to, "description": _described(description), "timeout": _seconds(timeout)}
    venue = connection.open(_PATIENCE)
    request = _posted(venue, title, asks, {**question, "ucans": ucan or ()}, once or secrets.token_hex(16))
    if wait:
        finish(venue, request, asks, save_token=save_token, as_json=as_json)
    elif as_json:
        print_json({"id": request})
    else:
        typer.echo(request)


def finish(
    venue: Venue,
    request: str,
    asks: list[dict[str, Any]],
    *,
    save_token: Path | None,
    as_json: bool,
) -> None:
    """Wait for a question to be settled, print what came of it, and end with its status."""
    try:
        answered = outcome(request, venue.wait_for_job(request))
    except KeyboardInterrupt:
        say(f"\nvenue: the question stands; wait for it again with: venue job wait {request}")
        raise
    except VenueError as error:
        status = of(error)
        if isinstance(error, Refused) or status is Status.UNREACHABLE:
            stands = (
                "what a revoked agent asked is withdrawn; if it"
                if isinstance(error, NotAuthenticated)
                else "it"
            )
            say(f"venue: {stands} stands, wait for it again with: venue job wait {request}")
            raise failed(error, as_json=as_json) from None
        if as_json:
            reason = getattr(error, "reason", None)
            said = {"id": request, "outcome": code(error), "status": int(status)}
            print_json({**said, **({} if reason is None else {"reason": reason})})
        say(f"venue: {_came(error, status)}")
        raise typer.Exit(status) from None
    no = refused(asks, answered.answers)
    tokens = [token for token in (answered.token, *answered.tokens.values()) if token is not None]
    if save_token is not None and tokens:
        write_secret(save_token, "\n".join(tokens))
    if as_json:
        print_json({**answered.model_dump(exclude_unset=True), "status": int(no)})
    else:
        typer.echo(printed(asks, answered, tty=sys.stdout.isatty()))
        _tell(answered, save_token)
    if no:
        raise typer.Exit(Status.REFUSED)


def check_new(file: Path | None) -> None:
    """See before anything is asked that a token can be kept there. Raises Usage."""
    if file is not None and file.exists():
        raise Usage(f"{file} exists already, and is not overwritten")
    if file is not None and not os.access(file.parent, os.W_OK):
        raise Usage(f"{file}: nothing can be written into {file.parent}")


def refused(asks: list[dict[str, Any]], answers: dict[str, Any]) -> bool:
    """Whether an approval among the asks was answered no: then nothing was approved."""
    kinds = {str(ask.get("id")): ask.get("type") for ask in asks}
    return any(kinds.get(name) == "approval" and answer is False for name, answer in answers.items())


def printed(asks: list[dict[str, Any]], answered: Answered, *, tty: bool) -> str:
    """The answers for a script: the bare value of a single ask, else NAME=VALUE lines. A list is joined by
    commas; on a terminal, what could act on it is escaped.
    """
    shown = {
        name: plain.block(value(answer)) if tty else value(answer)
        for name, answer in answered.answers.items()
    }
    if len(asks) == 1 and len(shown) == 1:
        return next(iter(shown.values()))
    return "\n".join(f"{plain.line(name)}={text}" for name, text in shown.items())


def value(answer: Any) -> str:
    """An answer as text: a boolean as true or false, chosen options with commas between them."""
    if isinstance(answer, bool):
        return "true" if answer else "false"
    return ",".join(map(str, answer)) if isinstance(answer, list) else str(answer)


def _tell(answered: Answered, saved: Path | None) -> None:
    if answered.comment:
        say(f"Remark: {plain.line(answered.comment)}")
    for name, remark in answered.comments.items():
        say(f"Remark on {plain.line(name)}: {plain.line(remark)}")
    where = "keep it with --save-token or --json" if saved is None else f"it is in {saved}"
    if answered.token is not None:
        say(f"A token over {words.count(len(answered.grants), 'grant')} was conferred; {where}.")
    for name in answered.tokens:
        say(f"A token was signed for {plain.line(name)}; {where}.")


def _came(error: VenueError, status: Status) -> str:
    match status:
        case Status.EXPIRED:
            return "expired: nobody answered in time"
        case Status.CANCELLED:
            return f"withdrawn: {plain.line(error)}"
    return f"rejected: {plain.line(error)}" if code(error) == "rejected" else plain.line(error)


def _described(text: str | None) -> str | None:
    if text is None or not text.startswith("@"):
        return text
    try:
        return Path(text[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"--description {text}: {getattr(error, 'strerror', None) or 'is no text'}") from None


def _posted(venue: Venue, title: str, asks: list[dict[str, Any]], more: dict[str, Any], key: str) -> str:
    """Post the question under a key, so that it is asked once, however often the connection drops."""
    try:
        return venue.ask(title, asks, key=key, wait=False, **more).id
    except (Unreachable, VenueFault, KeyboardInterrupt):
        say(f"venue: perhaps it was asked. So that it is not asked twice, try again with: --once {key}")
        raise


def _seconds(timeout: str | None) -> int | None:
    seconds = None if timeout is None else words.seconds(timeout)
    if timeout is not None and seconds is None:
        raise Usage("--timeout: such as 30m, 12h or 7d")
    return seconds
