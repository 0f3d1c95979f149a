"""`venue serve`: one process on one SQLite file (D29, D32)."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from .. import config, keyfile, log
from .output import print_json


def serve(
    data: Annotated[Path | None, typer.Option(help="Directory of the database and the venue's key.")] = None,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; the loopback one by default.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65_535)
    ] = None,
    config_file: Annotated[Path | None, typer.Option("--config", help="A TOML file with settings.")] = None,
    insecure_http: Annotated[
        bool, typer.Option(help="Serve other machines without TLS: tokens can be read.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Say that it is ready as one line of JSON.")
    ] = False,
) -> None:
    """Serve a venue until it is told to stop."""
    from .. import server  # noqa: PLC0415 - half of the start; the other commands need none of it
    from ..app import create_app, open_database, signer_for  # noqa: PLC0415

    log.configure(sys.stderr)
    try:
        settings = config.load(
            config_file, data=data, host=host, port=port, insecure_http=insecure_http or None
        )
        settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = server.hold(settings.data)
        signer = signer_for(settings, keyfile.venue_seed(settings.data))
        app = create_app(settings, db=open_database(settings.data / "venue.db"), signer=signer)

        def ready(open_port: int) -> None:
            url = settings.public_url or f"http://{_bracketed(settings.host)}:{open_port}"
            said = {"url": url, "port": open_port, "did": signer.did}
            if as_json:
                print_json(said, indent=None)
            else:
                typer.echo(f"Venue {signer.did} is ready at {url}")
            sys.stdout.flush()

        started = server.serve(settings, app, ready)
        held.close()
    except (config.ConfigError, keyfile.KeyFileError, OSError) as error:
        typer.echo(f"venue serve: {error}", err=True)
        raise typer.Exit(2) from None
    if not started:
        typer.echo(f"venue serve: {app.state.life.failure or 'the venue did not start'}", err=True)
        raise typer.Exit(1)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
