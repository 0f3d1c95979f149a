"""What verification says: a value, true or false, that a person can read and a program can branch on."""

from typing import NamedTuple

from .errors import NotOwner, UcanError
from .token import Token


class Verdict(NamedTuple):
    """The outcome of one question about tokens. It is true when `valid`.

    `code` is "ok" or the stable class of the refusal (`ucan.errors`), `check` the number of the check that
    refused (docs/ucan.md), `link` its place in the chain (0 is the token presented), `reason` a sentence
    without token bytes. `token` is the token presented, `chain` what was relied on, root-ward: of `authorise`
    one path, otherwise every distinct token. `root` is "owner", "venue", "refused", or empty when nobody
    asked (D7). `issuer` signed, `subject` is who that speaks for, `expires` the earliest `exp` relied on, in
    unix seconds.
    """

    valid: bool
    code: str = "ok"
    check: str = ""
    link: int = 0
    reason: str = ""
    token: Token | None = None
    chain: tuple[Token, ...] = ()
    root: str = ""
    issuer: str = ""
    subject: str = ""
    expires: int | None = None

    def __bool__(self) -> bool:
        return self.valid


def accepted(chain: tuple[Token, ...], root: str = "") -> Verdict:
    """The verdict that `chain`, leaf first, is good."""
    leaf = chain[0]
    expires = leaf.exp if len(chain) == 1 else min((t.exp for t in chain if t.exp is not None), default=None)
    return Verdict(True, "ok", "", 0, "", leaf, chain, root, leaf.iss, leaf.iss, expires)


def refused(error: UcanError) -> Verdict:
    """The verdict that a refusal amounts to."""
    root = "refused" if isinstance(error, NotOwner) else ""
    return Verdict(False, error.code, error.check, error.link, str(error), root=root)
