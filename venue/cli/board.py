"""`venue inbox watch` as values: what is on the screen, and what each key and each piece of news makes of it.

Pure: a board and an event in, a board and what is to be done out. No key by itself confers or settles
anything: what confers is typed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from ..client import Summary
from . import card, typed
from .draft import Draft, Entry, Wish, wish
from .keys import Key

Mode = Literal["list", "card", "draft", "reject", "help"]


@dataclass(frozen=True)
class Open:
    """Load a request and show it; `then` is what the key that asked for it goes on to."""

    request: str
    then: Mode = "card"


@dataclass(frozen=True)
class Send:
    """Answer the request on the screen with the draft."""

    draft: Draft


@dataclass(frozen=True)
class Reject:
    """Reject the request on the screen."""

    reason: str | None


@dataclass(frozen=True)
class Sign:
    """Sign a token, with the key of whoever sits here."""

    wish: Wish


@dataclass(frozen=True)
class Reload:
    """Load the list anew."""


@dataclass(frozen=True)
class Quit:
    """End."""


Effect = Open | Send | Reject | Sign | Reload | Quit


@dataclass(frozen=True)
class Board:
    """The screen. `loaded` is when the list was last right (epoch milliseconds), None before the first time;
    `live` whether news arrive; `gone` how the request on the screen was settled elsewhere. `read` holds the
    steps of answering, by request and number, whose end has been on the screen.
    """

    me: str
    items: tuple[Summary, ...] = ()
    count: int = 0
    loaded: int | None = None
    live: bool = False
    error: str = ""
    mode: Mode = "list"
    behind: Mode = "list"
    chosen: str = ""
    view: card.View | None = None
    scroll: int = 0
    draft: Draft | None = None
    reason: Entry = field(default_factory=Entry)
    gone: card.Settled | None = None
    note: str = ""
    read: frozenset[tuple[str, int]] = frozenset()
    drafts: Mapping[str, Draft] = field(default_factory=dict)
    reasons: Mapping[str, Entry] = field(default_factory=dict)

    @property
    def place(self) -> int:
        """Where in the list the chosen request stands."""
        return next((index for index, item in enumerate(self.items) if item.id == self.chosen), 0)


Outcome = tuple[Board, Effect | None]


def listed(board: Board, items: tuple[Summary, ...], count: int, now: int) -> Board:
    """With the list as it is now. What was chosen stays chosen; if it is gone, its neighbour is."""
    place = min(board.place, max(len(items) - 1, 0))
    known = any(item.id == board.chosen for item in items)
    chosen = board.chosen if known else items[place].id if items else ""
    return replace(board, items=items, count=count, loaded=now, error="", chosen=chosen)


def opened(board: Board, view: card.View, then: Mode) -> Board:
    """With a request on the screen, as a card or about to be answered or rejected."""
    shown = replace(board, view=view, gone=view.settled, mode="card", scroll=0, note="")
    if then == "draft" and view.settled is None:
        return _drafting(shown)
    if then == "reject" and view.settled is None:
        return _rejecting(shown)
    return shown


def settled_elsewhere(board: Board, how: card.Settled) -> Board:
    """The request on the screen was settled: who, what and when is shown, and what was typed is kept."""
    if board.view is None:
        return board
    record = {**board.view.record, "status": how.status}
    return replace(board, gone=how, view=replace(board.view, record=record, settled=how))


def done(board: Board, note: str) -> Board:
    """Back in the list after a request was settled from here."""
    request = "" if board.view is None else str(board.view.record["id"])
    drafts = {name: draft for name, draft in board.drafts.items() if name != request}
    reasons = {name: reason for name, reason in board.reasons.items() if name != request}
    clean = replace(board, drafts=drafts, reasons=reasons, draft=None, reason=Entry(), view=None, gone=None)
    return replace(clean, mode="list", note=note)


def press(board: Board, key: Key) -> Outcome:
    """What a key makes of the board."""
    if key.name == "quit":
        return board, Quit()
    return _PRESS[board.mode](replace(board, note=""), key)


def _in_list(board: Board, key: Key) -> Outcome:
    match key:
        case Key("down") | Key("char", "j"):
            return _chosen(board, board.place + 1), None
        case Key("up") | Key("char", "k"):
            return _chosen(board, board.place - 1), None
        case Key("home") | Key("char", "g"):
            return _chosen(board, 0), None
        case Key("end") | Key("char", "G"):
            return _chosen(board, len(board.items) - 1), None
        case Key("pagedown"):
            return _chosen(board, board.place + 10), None
        case Key("pageup"):
            return _chosen(board, board.place - 10), None
        case Key("char", "q"):
            return board, Quit()
        case Key("char", "?"):
            return replace(board, mode="help", behind="list"), None
        case Key("char", "R"):
            return board, Reload()
    then = _OPENS.get((key.name, key.text))
    return (board, Open(board.chosen, then)) if then is not None and board.chosen else (board, None)


def _in_card(board: Board, key: Key) -> Outcome:
    by = _SCROLLS.get(key)
    if by is not None:
        return replace(board, scroll=max(board.scroll + by, 0)), None
    match key:
        case Key("escape") | Key("left") | Key("char", "q"):
            return replace(board, mode="list", view=None, gone=None), None
        case Key("char", "?"):
            return replace(board, mode="help", behind="card"), None
        case Key("char", "a") | Key("char", "r") if board.gone is not None:
            return replace(board, note="It is settled; there is nothing left to decide."), None
        case Key("char", "a"):
            return _drafting(board), None
        case Key("char", "r"):
            return _rejecting(board), None
    return board, None


def _in_draft(board: Board, key: Key) -> Outcome:
    draft = board.draft
    if draft is None or board.view is None:
        return replace(board, mode="list"), None
    match key.name:
        case "escape":
            kept = {**board.drafts, str(board.view.record["id"]): draft}
            return replace(board, mode="card", drafts=kept, scroll=0), None
        case "pagedown":
            return replace(board, scroll=board.scroll + 5), None
        case "pageup":
            return replace(board, scroll=max(board.scroll - 5, 0)), None
    if board.gone is not None:
        return replace(board, note="It was settled meanwhile. Esc goes back; your text stays here."), None
    if key.name == "up":
        return replace(board, draft=draft.back(), scroll=0), None
    if key.name == "enter":
        return _entered(board, draft)
    return replace(board, draft=draft.edited(_typed(draft.entry, key, several=_several(draft)))), None


def reached(board: Board) -> Board:
    """With what is being answered read to its end."""
    step = _place(board)
    return board if step is None or step in board.read else replace(board, read=board.read | {step})


def _place(board: Board) -> tuple[str, int] | None:
    if board.mode != "draft" or board.view is None or board.draft is None:
        return None
    return str(board.view.record["id"]), board.draft.at


def _entered(board: Board, draft: Draft) -> Outcome:
    if _place(board) not in board.read:
        return replace(board, draft=replace(draft, note="Read on first: PgDn, until its end is here.")), None
    if draft.step.kind == "send":
        return board, Send(draft)
    try:
        wished = wish(draft.step, draft.entry.text)
    except typed.BadInput as error:
        return replace(board, draft=replace(draft, note=str(error))), None
    if wished is not None:
        return board, Sign(wished)
    return replace(board, draft=draft.forward(), scroll=0), None


def _in_reject(board: Board, key: Key) -> Outcome:
    if board.view is None:
        return replace(board, mode="list"), None
    if key.name == "escape":
        kept = {**board.reasons, str(board.view.record["id"]): board.reason}
        return replace(board, mode="card", reasons=kept, scroll=0), None
    if board.gone is not None:
        return replace(board, note="It was settled meanwhile. Esc goes back; your text stays here."), None
    if key.name == "enter":
        return board, Reject(board.reason.text.strip() or None)
    return replace(board, reason=_typed(board.reason, key, several=True)), None


def _in_help(board: Board, _: Key) -> Outcome:
    return replace(board, mode=board.behind), None


def _typed(entry: Entry, key: Key, *, several: bool) -> Entry:
    """After a key in a line; a line end is only for texts, and nothing pasted ever enters anything."""
    match key.name:
        case "char":
            return entry.insert(key.text)
        case "newline":
            return entry.insert("\n") if several else entry
        case "paste":
            text = key.text.replace("\r\n", "\n").replace("\r", "\n")
            return entry.insert(text if several else " ".join(text.split("\n")).strip())
    return entry.press(key.name)


def _several(draft: Draft) -> bool:
    step = draft.step
    return step.kind in ("remark", "comment") or (step.kind == "ask" and step.ask["type"] == "text")


def _chosen(board: Board, place: int) -> Board:
    if not board.items:
        return board
    return replace(board, chosen=board.items[min(max(place, 0), len(board.items) - 1)].id)


def _drafting(board: Board) -> Board:
    if board.view is None:
        return board
    record = board.view.record
    draft = board.drafts.get(str(record["id"])) or Draft(record["asks"])
    return replace(board, mode="draft", draft=draft, scroll=0)


def _rejecting(board: Board) -> Board:
    if board.view is None:
        return board
    return replace(
        board, mode="reject", reason=board.reasons.get(str(board.view.record["id"]), Entry()), scroll=0
    )


_OPENS: Mapping[tuple[str, str], Mode] = {
    ("enter", ""): "card",
    ("right", ""): "card",
    ("char", "a"): "draft",
    ("char", "r"): "reject",
}
_SCROLLS = {
    Key("down"): 1,
    Key("char", "j"): 1,
    Key("up"): -1,
    Key("char", "k"): -1,
    Key("pagedown"): 10,
    Key("char", " "): 10,
    Key("pageup"): -10,
    Key("home"): -1_000_000,
}
_PRESS = {
    "list": _in_list,
    "card": _in_card,
    "draft": _in_draft,
    "reject": _in_reject,
    "help": _in_help,
}
