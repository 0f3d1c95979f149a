"""What programs read: JSON in ASCII on standard output, and a refusal as one line of it on standard error."""

import json
from typing import Annotated, Any

import typer

from . import plain

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def print_json(value: Any, *, indent: int | None = 2, err: bool = False) -> None:
    """Print a value as JSON, in ASCII: whatever it holds, a terminal does nothing because of it."""
    typer.echo(json.dumps(value, ensure_ascii=True, indent=indent), err=err)


def refusal(
    said: str, code: str, status: int, *, as_json: bool, do: str = "", by: str = "venue"
) -> typer.Exit:
    """Say on standard error why not, and `do` what next; raise what comes back to end with that status."""
    if as_json:
        print_json({"error": said, "code": code, "status": int(status)}, indent=None, err=True)
    else:
        typer.echo(f"{by}: {plain.line(said)}{do}", err=True)
    return typer.Exit(status)
