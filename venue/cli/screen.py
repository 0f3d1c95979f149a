"""`venue inbox watch` drawn: a board as lines, as many and as wide as the terminal has. Pure."""

from collections.abc import Iterator, Sequence

from . import card, plain, words
from .board import Board
from .card import Line
from .draft import Draft, Entry, Step, hint

KEYS = (
    ("up/down, j/k", "choose a request; in a card, scroll"),
    ("Enter", "show the request"),
    ("a", "answer: each question in turn, then each grant by itself"),
    ("r", "reject, with a reason that reaches whoever asked"),
    ("Esc", "go back; what you typed is kept"),
    ("up", "while answering: the question before"),
    ("PgUp/PgDn", "scroll"),
    ("R", "load the list anew"),
    ("q, Ctrl-C", "quit"),
)
_CURSOR = "▏"
_LEAST = 20


def lines(board: Board, width: int, height: int, now: int) -> list[Line]:
    """The whole screen: a head, what is looked at, and a foot; exactly `height` lines."""
    wide = max(width - 1, _LEAST)
    head, foot = [_head(board, wide)], _foot(board, wide)
    room = max(height - len(head) - len(foot), 1)
    body, kept = _body(board, wide, room, now)
    loose, fixed = body[: len(body) - kept], body[len(body) - kept :]
    space = max(room - kept, 1)
    shown = [*_window(loose, min(board.scroll, max(len(loose) - space, 0)), space), *fixed]
    return [*head, *shown, *[Line("")] * (room - len(shown)), *foot][:height]


def furthest(board: Board, width: int, height: int, now: int) -> int:
    """How far the board can be scrolled."""
    wide = max(width - 1, _LEAST)
    room = max(height - 1 - len(_foot(board, wide)), 1)
    body, kept = _body(board, wide, room, now)
    return max(len(body) - kept - max(room - kept, 1), 0)


def _window(lines: list[Line], start: int, space: int) -> list[Line]:
    """The lines that fit; what does not is said to be there."""
    shown = lines[start : start + space]
    below = len(lines) - start - space
    return shown if below <= 0 else [*shown[:-1], Line(f"  … {below + 1} more lines: PgDn", "head")]


def _head(board: Board, width: int) -> Line:
    link = "live" if board.live else "NOT CONNECTED, what is shown may be old"
    shown = len(board.items)
    more = f", the oldest {shown} are shown" if board.count > shown else ""
    text = f"venue inbox · {f'{board.count} open{more} · ' if board.loaded is not None else ''}{link}"
    if board.loaded is None and not board.error:
        text = "venue inbox · connecting"
    return Line(plain.padded(text, width), "head")


def _body(board: Board, width: int, room: int, now: int) -> tuple[list[Line], int]:
    """What is between head and foot, and how many lines at its end are always shown."""
    match board.mode:
        case "help":
            return [Line(f"  {key:<14} {what}") for key, what in KEYS], 0
        case "list":
            return list(_list(board, width, room, now)), 0
        case "card" if board.view is not None:
            return [*_gone(board, width), *card.lines(board.view, width)], 0
        case "draft" if board.view is not None and board.draft is not None:
            return _draft(board, board.view, board.draft, width)
        case "reject" if board.view is not None:
            return _reject(board, board.view, width)
    return [], 0


def _list(board: Board, width: int, room: int, now: int) -> Iterator[Line]:
    if board.loaded is None:
        yield Line("")
        yield Line("  What waits for you is not known." if board.error else "  Loading …", "quiet")
        return
    if not board.items:
        yield Line("")
        yield Line("  All clear: nothing waits for you.", "title")
        yield Line(f"  Checked {words.moment(board.loaded)}.", "quiet")
        return
    first = max(min(board.place - room // 2, len(board.items) - room), 0)
    for item in board.items[first : first + room]:
        age = words.brief((now - item.created) / 1000)
        left = "" if item.expires is None else f"{words.brief((item.expires - now) / 1000)} left"
        whose = plain.padded(words.brief_who(item.from_, board.me), 16)
        mark = ">" if item.id == board.chosen else " "
        text = f"{mark} {age:>4} {left:>9}  {whose}  {plain.line(item.title)}"
        yield Line(plain.padded(text, width), "chosen" if item.id == board.chosen else "text")


def _draft(board: Board, view: card.View, draft: Draft, width: int) -> tuple[list[Line], int]:
    step = draft.step
    first = card.described(view, width) if draft.at == 0 else []
    body = [*_gone(board, width), *_who(view, width), *first, *_step(view, draft, step, width)]
    typing = [] if step.kind == "send" else list(_entry(draft.entry, _label(step), width))
    if board.gone is not None:
        typing += list(_kept(draft, width))
    if draft.note:
        typing += [Line(piece, "broad") for piece in plain.wrapped(plain.line(draft.note), width)]
    return [*body, Line(""), *typing], len(typing) + 1


def _step(view: card.View, draft: Draft, step: Step, width: int) -> Iterator[Line]:
    match step.kind:
        case "ask" | "remark":
            number = [str(ask["id"]) for ask in draft.asks].index(str(step.ask["id"])) + 1
            yield from card.ask_lines(view, number, step.ask, width)
        case "offer":
            yield Line("")
            yield Line("Your choice offers to confer this:", "head")
            yield from card.offer_lines(view, step.offer, width)
        case "comment":
            yield Line("")
            yield Line("A remark on the whole reaches whoever asked. Enter alone: none.", "head")
        case "send":
            yield from _summary(view, draft, width)


def _summary(view: card.View, draft: Draft, width: int) -> Iterator[Line]:
    yield Line("")
    yield Line("This is your answer. Enter sends it; there is no taking it back.", "head")
    answers = draft.answers
    for name in draft.tokens:
        yield from _text(f"{name}: a token, which says:", width)
        yield from card.token_lines(view, str(answers.pop(name)), width)
    prompts = {str(ask["id"]): str(ask["prompt"]) for ask in draft.asks}
    for name, answer in answers.items():
        said = {True: "yes", False: "no"}.get(answer) if isinstance(answer, bool) else None
        yield from _text(f"asked: {plain.line(prompts[name])}", width)
        yield from _text(f"{name}: {said or answer}", width)
    for name, remark in {**draft.remarks, **({"": draft.comment} if draft.comment else {})}.items():
        yield from _text(f"remark{' on ' + name if name else ''}: {remark}", width)
    echoes = draft.echoes
    yield Line(f"It confers {draft.handed}{':' if echoes else '.'}", "head")
    for offer in echoes:
        yield from card.offer_lines(view, offer, width)


def _reject(board: Board, view: card.View, width: int) -> tuple[list[Line], int]:
    asked = [*_gone(board, width), *_who(view, width), Line("")]
    typing = list(_entry(board.reason, "why not (Enter alone: no reason)", width))
    return [*asked, *typing], len(typing)


def _who(view: card.View, width: int) -> Iterator[Line]:
    did = str(view.record["from"])
    who = words.who(did, view.owner)
    for piece in plain.wrapped(f"Asked by {who}, {plain.line(did)}", width):
        yield Line(piece, "quiet")
    yield from _text(str(view.record["title"]), width, "title")


def _label(step: Step) -> str:
    match step.kind:
        case "ask":
            open_ = "" if step.ask.get("required") else "; Enter alone leaves it open"
            return hint(step.ask) + open_
        case "remark":
            return "a remark on it, if you like"
        case "offer":
            return "type yes to confer it; Enter alone confers nothing"
    return "remark"


def _entry(entry: Entry, label: str, width: int) -> Iterator[Line]:
    yield Line(plain.short(label, width), "quiet")
    text = plain.block(entry.text[: entry.at]) + _CURSOR + plain.block(entry.text[entry.at :])
    pieces = [piece for part in text.split("\n") for piece in plain.wrapped(part, width - 2)]
    for number, piece in enumerate(pieces):
        yield Line(f"{'  ' if number else '> '}{piece}", "title")


def _kept(draft: Draft, width: int) -> Iterator[Line]:
    texts = [(key, text) for key, text in draft.texts.items() if text]
    if texts:
        yield Line("What you had typed:", "quiet")
    for key, text in texts:
        yield from _text(f"{key}: {text}", width)


def _gone(board: Board, width: int) -> Iterator[Line]:
    if board.gone is not None and board.view is not None and board.mode != "card":
        how = card.settled_words(board.gone, board.me)
        for piece in plain.wrapped(f"Settled meanwhile: {how}. Nothing that you type is sent.", width):
            yield Line(piece, "broad")


def _text(text: str, width: int, kind: str = "text") -> Iterator[Line]:
    for part in plain.lines(text):
        for piece in plain.wrapped(part, width - len(card.RAIL)):
            yield Line(card.RAIL + piece, kind)


def _foot(board: Board, width: int) -> Sequence[Line]:
    said = board.note or board.error
    sending = board.mode == "draft" and board.draft is not None and board.draft.step.kind == "send"
    foot = _SENDING if sending else _FEET[board.mode]
    note = [Line(piece, "broad") for piece in plain.wrapped(plain.line(said), width)] if said else []
    return [*note, Line(plain.padded(foot, width), "quiet")]


_SENDING = "Enter SENDS it · up: the one before · Esc back, keeping what you typed"
_FEET = {
    "list": "Enter show · a answer · r reject · ? keys · q quit",
    "card": "a answer · r reject · Esc back · ? keys",
    "draft": "Enter next · up: the one before · Esc back, keeping what you typed",
    "reject": "Enter rejects it · Ctrl-J new line · Esc back, keeping what you typed",
    "help": "any key goes back",
}
