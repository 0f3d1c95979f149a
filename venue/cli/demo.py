"""`venue demo`: the main job as a story, on a server of its own."""

from typing import Annotated

import httpx
import typer
from rich.console import Console

from inbox.clock import system_clock

from ..demo.stage import DemoFailed
from ..demo.story import run


def demo(
    stay: Annotated[bool, typer.Option(help="Leave the server running at the end, until Ctrl-C.")] = False,
) -> None:
    """See an agent ask, a person decide and a token confer exactly what was agreed to, in seconds."""
    try:
        run(Console(markup=False, emoji=False, highlight=False), system_clock, stay=stay)
    except KeyboardInterrupt:
        typer.echo("The server was stopped.")
    except (DemoFailed, httpx.HTTPError) as error:
        typer.echo(f"venue demo: {error}", err=True)
        raise typer.Exit(1) from None
