"""The command `venue`: parse, call, print. Exit status 0 done, 1 refused, 2 usage, 3 unreachable (D33)."""

import typer

from . import agent, ask, audit, demo, doctor, inbox, job, key, serve, settings, token, user

app = typer.Typer(
    help="A venue: software agents ask people for decisions and for authority.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
)
app.command("serve")(serve.serve)
app.command("demo")(demo.demo)
app.command("ask")(ask.ask)
app.command("config")(settings.show)
app.command("doctor")(doctor.doctor)
app.add_typer(inbox.app, name="inbox")
app.add_typer(job.app, name="job")
app.add_typer(agent.app, name="agent")
app.add_typer(audit.app, name="audit")
app.add_typer(key.app, name="key")
app.add_typer(token.app, name="token")
app.add_typer(user.app, name="user")
