"""What a terminal or a console sends, as keys. Pure: bytes or characters in, keys out."""

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass

_NAMED = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1b[C": "right",
    "\x1b[D": "left",
    "\x1bOA": "up",
    "\x1bOB": "down",
    "\x1bOC": "right",
    "\x1bOD": "left",
    "\x1b[H": "home",
    "\x1b[F": "end",
    "\x1bOH": "home",
    "\x1bOF": "end",
    "\x1b[1~": "home",
    "\x1b[4~": "end",
    "\x1b[3~": "delete",
    "\x1b[5~": "pageup",
    "\x1b[6~": "pagedown",
    "\r": "enter",
    "\n": "newline",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x15": "clear",
    "\x01": "home",
    "\x05": "end",
    "\x03": "quit",
    "\x1b": "escape",
}
_SCANNED = {"H": "up", "P": "down", "K": "left", "M": "right", "G": "home", "O": "end"}
_SCANNED |= {"I": "pageup", "Q": "pagedown", "S": "delete"}
_PREFIXES = "\x00\xe0"
"""What a Windows console says before the code of a special key; the second is the letter à as well."""

_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[A-Za-z])")
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?\Z")
_PASTE, _PASTED = "\x1b[200~", "\x1b[201~"


@dataclass(frozen=True)
class Key:
    """A key: `name` is `char` for a character and `paste` for what was pasted, both with their `text`."""

    name: str
    text: str = ""


class Decoder:
    """Makes keys of bytes, whichever way they are cut into pieces."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""

    @property
    def waiting(self) -> bool:
        """Whether a lone escape, or the beginning of a sequence, is held back."""
        return bool(self._rest)

    def feed(self, data: bytes) -> list[Key]:
        """The keys that are complete by now."""
        self._rest += self._decode(data)
        found: list[Key] = []
        while self._rest:
            key, used = self._next()
            if not used:
                break
            self._rest = self._rest[used:]
            if key is not None:
                found.append(key)
        return found

    def flush(self) -> list[Key]:
        """Nothing more came: an escape that was held back was the key itself."""
        if self._rest.startswith(_PASTE):
            return []
        held, self._rest = self._rest, ""
        return [Key("escape")] if held else []

    def _next(self) -> tuple[Key | None, int]:
        text = self._rest
        if text.startswith(_PASTE):
            end = text.find(_PASTED)
            return (None, 0) if end < 0 else (Key("paste", text[len(_PASTE) : end]), end + len(_PASTED))
        sequence = _SEQUENCE.match(text)
        if sequence is not None:
            name = _NAMED.get(sequence[0])
            return (None if name is None else Key(name)), sequence.end()
        if _UNFINISHED.match(text):
            return None, 0
        name = _NAMED.get(text[0])
        if name is not None:
            return Key(name), 1
        return (Key("char", text[0]) if text[0].isprintable() else None), 1


def of_console(presses: Sequence[str]) -> list[Key]:
    """The keys that a Windows console had ready: each a character, or a special key as a prefix and its code.

    Characters that come together were pasted, for such a console says nothing of a paste: what was pasted
    never enters anything. An à comes with the character after it.
    """
    named = [_SCANNED.get(press[1:]) if press[0] in _PREFIXES else None for press in presses]
    plain = [one for one, name in zip(presses, named, strict=True) if name is None and one[0] != "\x00"]
    text = "".join(plain).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if len(text) > 1:
        return [Key("paste", text)]
    decoder = Decoder()
    typed = decoder.feed(text.encode()) or decoder.flush()
    return [Key(name) for name in named if name is not None] + typed
