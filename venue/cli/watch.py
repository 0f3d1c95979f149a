"""`venue inbox watch`: the loop between a terminal, a venue and the board."""

import contextlib
import os
import queue
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ucan.did import did_key

from ..client import Change, Refused, Settled, Unreachable, Venue, VenueError
from . import board as boards
from . import plain, screen, show, signing
from .board import Board, Effect
from .connection import Connection, Usage, now
from .desk import settlement, view
from .draft import Draft, Wish
from .terminal import Terminal, is_one

_TICK = 5.0
_PATIENCE = 1.0
_MOST = 1_000
_RELOADS = ("resync", "request.", "refused")


class Watch:
    """One person in front of one inbox."""

    def __init__(self, connection: Connection, venue: Venue, live: Live, terminal: Terminal) -> None:
        self._connection = connection
        self._venue = venue
        self._live = live
        self._terminal = terminal
        self._news: queue.SimpleQueue[Change] = queue.SimpleQueue()
        self._board = Board(connection.me)

    def run(self) -> None:
        """Until somebody quits. Raises NotAuthenticated once the key or token is no longer good."""
        stop = self._venue.follow(self._heard)
        try:
            self._load()
            while True:
                self._draw()
                keys = self._terminal.wait(_TICK)
                for key in keys:
                    self._board, effect = boards.press(self._board, key)
                    if isinstance(effect, boards.Quit):
                        return
                    if effect is not None:
                        self._draw()
                        self._perform(effect)
                    if key.name == "enter":
                        self._draw()
                heard = self._listen()
                if not (keys or heard or self._board.live):
                    self._load()  # no news can come: look for oneself
        finally:
            stop()

    def _heard(self, change: Change) -> None:
        self._news.put(change)
        self._terminal.wake()

    def _listen(self) -> bool:
        """Take in all the news there are, and load the list once for all of them; whether there were any."""
        news: list[Change] = []
        with contextlib.suppress(queue.Empty):
            while True:
                news.append(self._news.get_nowait())
        for change in news:
            self._board = replace(self._board, live=change.kind not in ("lost", "refused"))
        if any(change.kind.startswith(_RELOADS) for change in news):
            self._load()
            self._look_again(news)
        return bool(news)

    def _look_again(self, news: list[Change]) -> None:
        """Whether the request on the screen was settled, by whoever it was."""
        board = self._board
        if board.view is None or board.gone is not None:
            return
        request = str(board.view.record["id"])
        if any(change.kind == "resync" or change.id == request for change in news):
            with self._told():
                fresh = view(self._connection, self._venue, request)
                if fresh.settled is not None:
                    self._board = boards.settled_elsewhere(replace(board, view=fresh), fresh.settled)

    def _load(self) -> None:
        with self._told():
            page = self._venue.page("open", limit=_MOST)
            self._board = boards.listed(self._board, tuple(page.items), page.count, now())

    def _perform(self, effect: Effect) -> None:
        with self._told():
            match effect:
                case boards.Open(request, then):
                    found = view(self._connection, self._venue, request)
                    self._board = boards.opened(self._board, found, then)
                case boards.Send(draft):
                    self._answer(draft)
                case boards.Reject(reason):
                    record = self._record()
                    self._venue.reject(str(record["id"]), reason, digest=record["digest"])
                    self._after("Rejected")
                case boards.Sign(wish):
                    self._sign(wish)
                case boards.Reload():
                    self._load()

    def _answer(self, draft: Draft) -> None:
        record = self._record()
        self._venue.answer(
            str(record["id"]),
            draft.answers,
            grants=draft.echoes,
            comments=draft.remarks or None,
            comment=draft.comment,
            digest=record["digest"],
        )
        self._after(f"Answered, conferring {draft.handed}")

    def _sign(self, wish: Wish) -> None:
        key, draft = self._connection.key, self._board.draft
        if draft is None:
            return
        if key is None or did_key(key.public_key().public_bytes_raw()) != self._connection.me:
            raise Usage(
                "only whoever is their own key can sign here: paste a token that was signed elsewhere"
            )
        text = signing.signed(self._record(), wish, key, now())
        self._board = replace(self._board, draft=draft.answered(text))

    def _record(self) -> dict[str, Any]:
        return {} if self._board.view is None else dict(self._board.view.record)

    def _after(self, what: str) -> None:
        title = plain.short(plain.line(self._record().get("title", "")), 40)
        self._board = boards.done(self._board, f"{what}: {title}")
        self._load()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What goes wrong is said on the screen, and what was typed stays."""
        try:
            yield
        except Settled as error:
            request = str(self._record().get("id", ""))
            how = settlement(self._venue, request, error.how)
            self._board = boards.settled_elsewhere(self._board, how)
        except Unreachable:
            said = "The venue cannot be reached just now; nothing was lost. Try again."
            self._board = replace(
                self._board, live=False, error="" if self._board.loaded else said, note=said
            )
        except Refused as error:
            if error.status == 401:
                raise
            self._board = replace(self._board, note=f"The venue says no: {error}")
        except (Usage, VenueError) as error:
            self._board = replace(self._board, note=str(error))

    def _draw(self) -> None:
        width, height = self._live.console.size
        most = screen.furthest(self._board, width, height, now())
        self._board = replace(self._board, scroll=min(self._board.scroll, most))
        drawn = [show.styled(line) for line in screen.lines(self._board, width, height, now())]
        self._live.update(Text("\n").join(drawn), refresh=True)
        if self._board.scroll >= most:
            self._board = boards.reached(self._board)


def run(connection: Connection) -> None:
    """Watch an inbox until its owner quits. Raises Usage where there is no terminal."""
    if not is_one():
        raise Usage("watch needs a terminal; in a script use venue inbox ls, show, answer and reject")
    venue = connection.open(_PATIENCE)
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)  # they say how large the terminal was, and it can be resized
    console = Console(markup=False, emoji=False, highlight=False, soft_wrap=True)
    live = Live(
        console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
    )
    with Terminal() as terminal, live:
        Watch(connection, venue, live, terminal).run()
