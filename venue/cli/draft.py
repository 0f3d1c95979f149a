"""An answer in the making: each ask in turn, then each offer that the choices trigger, then the whole (D14).

Pure. What was typed is kept as it was typed; what it means is read from it anew each time, so that going back
and choosing otherwise can leave nothing behind.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ucan.errors import UcanError
from ucan.jwt import parse as parse_token

from . import plain, typed, words

Ask = Mapping[str, Any]
YES, NO = "yes", "no"
_SIGN = "sign"


@dataclass(frozen=True)
class Entry:
    """A line being typed, and where in it the cursor stands."""

    text: str = ""
    at: int = 0

    def insert(self, text: str) -> "Entry":
        """With a text put in at the cursor."""
        return Entry(self.text[: self.at] + text + self.text[self.at :], self.at + len(text))

    def press(self, name: str) -> "Entry":
        """After an editing key; other keys change nothing."""
        match name:
            case "backspace" if self.at:
                return Entry(self.text[: self.at - 1] + self.text[self.at :], self.at - 1)
            case "delete":
                return Entry(self.text[: self.at] + self.text[self.at + 1 :], self.at)
            case "left":
                return Entry(self.text, max(self.at - 1, 0))
            case "right":
                return Entry(self.text, min(self.at + 1, len(self.text)))
            case "home":
                return Entry(self.text, 0)
            case "end":
                return Entry(self.text, len(self.text))
            case "clear":
                return Entry()
        return self

    @classmethod
    def of(cls, text: str) -> "Entry":
        """A text with the cursor at its end."""
        return cls(text, len(text))


@dataclass(frozen=True)
class Step:
    """One thing to type: an answer, a remark on it, a yes to an offer, a remark on the whole; or to send."""

    kind: Literal["ask", "remark", "offer", "comment", "send"]
    key: str
    ask: Ask = field(default_factory=dict)
    offer: typed.Offer = field(default_factory=dict)


@dataclass(frozen=True)
class Wish:
    """A token to be signed here: which capabilities, for how many seconds, and for whom the ask says."""

    caps: Sequence[Mapping[str, Any]]
    lifetime: int
    audience: str | None


@dataclass(frozen=True)
class Draft:
    """What was typed so far, by step; the step that is being typed; and what was wrong with it, if so."""

    asks: Sequence[Ask]
    texts: Mapping[str, str] = field(default_factory=dict)
    at: int = 0
    entry: Entry = Entry()
    note: str = ""

    @property
    def steps(self) -> list[Step]:
        """Every step, as the answers so far have it."""
        return list(self._steps())

    @property
    def step(self) -> Step:
        """The one that is being typed."""
        return self.steps[self.at]

    @property
    def answers(self) -> dict[str, Any]:
        """What the texts so far amount to; a step that was left open is no answer."""
        found = {}
        for ask in self.asks:
            text = self.texts.get(_ask_key(ask))
            if text is not None:
                answer = meant(ask, text)
                if answer is not None:
                    found[str(ask["id"])] = answer
        return found

    @property
    def tokens(self) -> list[str]:
        """The ids of the asks that were answered with a token."""
        return [str(ask["id"]) for ask in self.asks if ask["type"] == "token" and ask["id"] in self.answers]

    @property
    def handed(self) -> str:
        """What the answer hands over, in words: what it confers, and tokens."""
        given = [(len(self.echoes), "grant"), (len(self.tokens), "token")]
        return " and ".join(words.count(number, what) for number, what in given if number) or "nothing"

    @property
    def remarks(self) -> dict[str, str]:
        """The remarks on single asks."""
        found = {str(ask["id"]): self.texts.get(f"remark {ask['id']}", "") for ask in self.asks}
        return {name: text for name, text in found.items() if text}

    @property
    def comment(self) -> str | None:
        """The remark on the whole."""
        return self.texts.get("comment") or None

    @property
    def echoes(self) -> list[dict[str, Any]]:
        """The offers that were triggered and to each of which `yes` was typed."""
        return [
            dict(step.offer)
            for step in self.steps
            if step.kind == "offer" and self.texts.get(step.key) == YES
        ]

    def edited(self, entry: Entry) -> "Draft":
        """With something else typed."""
        return replace(self, entry=entry, note="")

    def forward(self) -> "Draft":
        """On to the next step with what was typed, or a note on why not."""
        step, text = self.step, self.entry.text
        try:
            _check(step, text)
        except typed.BadInput as error:
            return replace(self, note=str(error))
        said = text.strip() if step.kind == "offer" else text
        return replace(self, texts={**self.texts, step.key: said}, note="").moved(self.at + 1)

    def back(self) -> "Draft":
        """Back to the step before, with what was typed there; what was typed here is kept if it fits."""
        if self.at == 0:
            return self
        ahead = self.forward()
        return replace(self, texts=ahead.texts, note="").moved(self.at - 1)

    def moved(self, at: int) -> "Draft":
        """At another step, with what was typed there before."""
        where = min(at, len(self.steps) - 1)
        return replace(self, at=where, entry=Entry.of(self.texts.get(self.steps[where].key, "")))

    def answered(self, text: str) -> "Draft":
        """On with a text that was not typed: a token that was signed for this step."""
        return replace(self, entry=Entry.of(text)).forward()

    def _steps(self) -> Iterator[Step]:
        for ask in self.asks:
            yield Step("ask", _ask_key(ask), ask)
            if ask.get("comment"):
                yield Step("remark", f"remark {ask['id']}", ask)
        for name, offer in typed.triggered(self.asks, self.answers):
            yield Step("offer", f"offer {name} {offer['with']} {offer['can']}", offer=offer)
        yield Step("comment", "comment")
        yield Step("send", "send")


def meant(ask: Ask, text: str) -> Any:
    """The answer that a typed text is; None when the ask is left open. Raises BadInput.

    An approval is `yes` or `no`; options go by number or id.
    """
    if not text.strip():
        if ask.get("required"):
            raise typed.BadInput(f"this one is required: {hint(ask)}")
        return None
    match ask["type"]:
        case "approval":
            if text.strip() not in (YES, NO):
                raise typed.BadInput(f"type yes or no, not {plain.line(text)!r}")
            return text.strip() == YES
        case "choice":
            return typed.answer(ask, _by_number(ask, text.strip()))
        case "checkboxes":
            if text.strip() == "none" and "none" not in _ids(ask):
                return []
            parts = [_by_number(ask, part) for part in text.replace(",", " ").split()]
            if text.strip() in _ids(ask):
                parts = [text.strip()]
            chosen = [str(typed.answer({**ask, "type": "choice"}, part)) for part in parts]
            return list(dict.fromkeys(chosen))
        case "token":
            return _token(text.strip())
    return typed.answer(ask, text)


def hint(ask: Ask) -> str:
    """What to type for an ask."""
    count = len(_ids(ask))
    match ask["type"]:
        case "approval":
            return "type yes or no"
        case "choice":
            return f"type a number from 1 to {count}, or an id"
        case "checkboxes":
            return f"type numbers from 1 to {count} with blanks between them, or none"
        case "text":
            return "type a text; Ctrl-J begins a new line"
        case "token":
            return "type sign, or sign 12h, or sign 1 12h for the first alone; or paste a token"
    return "type the answer as JSON"


def wish(step: Step, text: str) -> Wish | None:
    """The token that `sign` wishes for, None where something else was typed. Raises BadInput.

    Alone it is all that the ask wants, for as long as it hints or a week; numbers choose some of it, and a
    length of time says otherwise for how long.
    """
    word, *rest = text.split() or [""]
    if step.kind != "ask" or step.ask["type"] != "token" or word != _SIGN:
        return None
    spec = step.ask.get("token") or {}
    caps, spans = spec.get("caps") or [], [words.seconds(part) for part in rest]
    lives = [span for span in spans if span is not None]
    numbers = [part for part, span in zip(rest, spans, strict=True) if span is None]
    chosen = [number for number in range(1, len(caps) + 1) if not numbers or str(number) in numbers]
    if len(lives) > 1 or not {str(number) for number in chosen} >= set(numbers):
        raise typed.BadInput(f"type sign, numbers from 1 to {len(caps)} if not all, and one time such as 12h")
    lifetime = lives[0] if lives else int(spec.get("lifetime") or words.SIGNED)
    return Wish([caps[number - 1] for number in chosen], lifetime, spec.get("audience"))


def _check(step: Step, text: str) -> None:
    if step.kind == "ask":
        meant(step.ask, text)
    elif step.kind == "offer" and text.strip() not in ("", YES, NO):
        raise typed.BadInput("type yes to confer it, or no")


def _token(text: str) -> str:
    try:
        parse_token(text)
    except UcanError as error:
        raise typed.BadInput(f"this is no token: {error}") from None
    return text


def _by_number(ask: Ask, text: str) -> str:
    ids = _ids(ask)
    if text not in ids and text.isascii() and text.isdigit() and len(text) < 4 and 1 <= int(text) <= len(ids):
        return ids[int(text) - 1]
    return text


def _ids(ask: Ask) -> list[str]:
    return [str(option["id"]) for option in ask.get("options") or []]


def _ask_key(ask: Ask) -> str:
    return f"ask {ask['id']}"
