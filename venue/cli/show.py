"""Cards and lists on a terminal or in a pipe: colour for the first, plain text for the other."""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from .card import Line

STYLES = {
    "venue": "",
    "title": "bold",
    "text": "",
    "grant": "yellow",
    "broad": "bold red",
    "head": "bold cyan",
    "quiet": "dim",
    "chosen": "reverse",
}


def console() -> Console:
    """A console on standard output that reads nothing into what it prints: a DID holds `:key:`, which would
    otherwise become a picture of one.
    """
    return Console(markup=False, emoji=False, highlight=False, soft_wrap=True)


def styled(line: Line) -> Text:
    """A line of a card in its style."""
    return Text(line.text, style=STYLES[line.kind], no_wrap=True, end="")


def print_lines(lines: Iterable[Line]) -> None:
    """Print the lines of a card; they are as wide as they are meant to be."""
    out = console()
    for line in lines:
        out.print(styled(line), no_wrap=True, crop=False, overflow="ignore", end="\n")


def print_table(rows: Iterable[str]) -> None:
    """Print the rows of a table, the first of which is its head."""
    out = console()
    for number, row in enumerate(rows):
        out.print(Text(row, style="" if number else "dim"), no_wrap=True, crop=False, overflow="ignore")
