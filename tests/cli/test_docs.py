"""docs/terminal.md speaks of commands and statuses that there are."""

import re

import pytest
import typer
from typer.testing import CliRunner

from tests.conftest import ROOT
from venue.cli import app
from venue.cli.status import Status

TEXT = (ROOT / "docs" / "terminal.md").read_text(encoding="utf-8")


def test_every_command_exists() -> None:
    """Each `venue …` in the document answers --help, and so does each of its groups."""
    known = {name for name, _ in commands()}
    named = {tuple(found.split()) for found in re.findall(r"`venue ((?:[a-z]+ ?){1,2})`", TEXT)}
    assert len(named) > 15
    assert named <= known, named - known


def test_every_command_has_help_and_the_same_connection() -> None:
    """A sentence for each; those that call a venue take the same four options and print JSON."""
    for name, _ in commands():
        shown = CliRunner().invoke(app, [*name, "--help"], env={"COLUMNS": "100", "TERM": "dumb"})
        assert shown.exit_code == 0, name
        if "--url" in shown.output:
            assert all(option in shown.output for option in ("--key", "--token-file", "--as")), name
            assert "--json" in shown.output or name == ("inbox", "watch"), name


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("venue ", {"ask", "inbox", "serve"}),
        ("venue inbox ", {"ls", "show", "answer", "reject", "watch"}),
        ("venue inbox ls --status ", {"open", "any"}),
        ("venue ask --t", {"--to", "--text", "--timeout", "--token-file"}),
    ],
)
def test_a_shell_completes(typed: str, offered: set[str]) -> None:
    """What the completion that `--install-completion` writes asks for, as bash asks."""
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split(" ")) - 1)}
    said = {"_VENUE_COMPLETE": "complete_bash", **words}
    done = CliRunner().invoke(app, [], prog_name="venue", env=said)
    assert offered <= set(done.stdout.split())


def test_the_exit_statuses_are_those_of_the_code() -> None:
    """The table names each, by its number."""
    table = {int(number): name for number, name in re.findall(r"^\| (\d+) \| (\w+) \|", TEXT, re.MULTILINE)}
    assert table == {int(status): status.name.lower() for status in Status}


def commands() -> list[tuple[tuple[str, ...], object]]:
    root = typer.main.get_command(app)
    found: list[tuple[tuple[str, ...], object]] = []
    for name, command in root.commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        found += [((name,), command)] if inner is None else [((name, sub), one) for sub, one in inner.items()]
    return found
