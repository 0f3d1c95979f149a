"""Text of others, made safe to show: nothing in it can act on a terminal, hide, or reorder (D22). Pure."""

import unicodedata
from collections.abc import Iterator

from rich.cells import cell_len, get_character_cell_size

_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
"""Letters and marks that take no ink: fillers, joiners and variation selectors."""

_MOST_MARKS = 4
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TAB = "    "


def line(text: object) -> str:
    """A text on one line: control, format and invisible characters as escapes, line ends too."""
    return "".join(_shown(str(text), lines=False))


def lines(text: str) -> list[str]:
    """A text of several lines: as `line`, but line feeds, which end a line, and tabs, which are blanks."""
    return "".join(_shown(text, lines=True)).split("\n")


def block(text: str) -> str:
    """The same as `lines`, joined again."""
    return "\n".join(lines(text))


def wrapped(text: str, width: int) -> list[str]:
    """A safe text cut into pieces of at most `width` columns, at blanks where there are any. Nothing is
    lost but the blank at which a line ends.
    """
    found: list[str] = []
    rest = text
    while cell_len(rest) > width:
        cut = _fitting(rest, width)
        blank = rest.rfind(" ", 1, cut + 1)
        if blank > 0 and rest[:blank].strip():
            found.append(rest[:blank])
            rest = rest[blank + 1 :]
        else:
            found.append(rest[:cut])
            rest = rest[cut:]
    return [*found, rest]


def short(text: str, width: int) -> str:
    """A safe text in at most `width` columns, its end cut off with an ellipsis: for lists, never for what is
    agreed to.
    """
    if cell_len(text) <= width:
        return text
    return text[: _fitting(text, width - 1)] + "…"


def padded(text: str, width: int) -> str:
    """A safe text in exactly `width` columns."""
    cut = short(text, width)
    return cut + " " * (width - cell_len(cut))


def _fitting(text: str, width: int) -> int:
    """How many characters of a text fit into `width` columns; one at least."""
    taken = 0
    for index, character in enumerate(text):
        taken += get_character_cell_size(character)
        if taken > width:
            return max(index, 1)
    return len(text)


def _shown(text: str, *, lines: bool) -> Iterator[str]:
    marks = 0
    for character in text.replace("\r\n", "\n") if lines else text:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if lines and character in "\n\t":
            yield "\n" if character == "\n" else _TAB
        elif character == " ":
            yield character
        elif character in _UNSEEN or marks > _MOST_MARKS or unicodedata.category(character)[0] in "CZ":
            yield _NAMED.get(character) or f"\\u{{{ord(character):04X}}}"
        else:
            yield character
