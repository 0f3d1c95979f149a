"""A capability token as a value: its claims, the segments they came from, and when it is live."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from .capability import Capability


class Token(NamedTuple):
    """The claims of one token; nothing here says that its signature is good (`ucan.verify` does).

    `att` holds the well-formed capabilities with absolute resources; `unread` counts entries of `att` that
    are not well formed and therefore give nothing. `exp` and `nbf` are unix seconds, `exp` None means never.
    `prf` holds the proofs as the texts they came in. `segments` are the received header, payload and
    signature, which re-encode to the same text; `hash` is the SHA-256 of the signing input in hex, the
    token's only name (D11).
    """

    iss: str
    aud: str
    att: tuple[Capability, ...]
    exp: int | None
    nbf: int | None
    nnc: str | None
    fct: Any
    prf: tuple[str, ...]
    ucv: str
    unread: int
    header: Mapping[str, Any]
    segments: tuple[str, str, str]
    hash: str

    def is_live(self, now: int) -> bool:
        """Whether `now` (unix seconds) lies in `nbf <= now < exp` (D8: at `exp` it is over)."""
        return (self.exp is None or now < self.exp) and (self.nbf is None or self.nbf <= now)

    def __repr__(self) -> str:
        # Whoever holds the text holds the authority, so a log line names the token by its hash alone.
        return f"<Token {self.hash[:12]} from {self.iss} to {self.aud}>"
