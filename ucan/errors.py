"""One tree of errors. Every leaf stands for one kind of refusal, and every error carries a stable code.

Inside the package a refusal is raised; the functions of `ucan.verify` catch it and hand back a Verdict with
the same code, check and link. Readers and issuers (`jwt`, `did`, `strict`, `issue`) let it out.
"""


class UcanError(Exception):
    """Something was refused.

    `code` is the stable class of the refusal, `check` the number of the check that made it (docs/ucan.md;
    empty outside verification), `link` the place in the chain: 0 is the token presented, 1 its proof, and so
    on. The text is a sentence for a person and never holds bytes of a token.
    """

    codes: tuple[str, ...] = ()

    def __init__(self, code: str, message: str, *, check: str = "", link: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.check = check
        self.link = link


class Malformed(UcanError):
    """It is not what it should be: text, JSON, a DID, a claim, a capability; or of a kind not spoken here."""

    codes = ("malformed", "too_large", "unsupported")


class BadSignature(UcanError):
    """The key of the issuer did not sign this, or is a key that anybody can sign for."""

    codes = ("bad_signature", "weak_key", "unresolved")


class NotLive(UcanError):
    """Its time is over, has not come, or is longer than such a credential may live."""

    codes = ("expired", "not_yet", "too_long")


class BrokenChain(UcanError):
    """The links do not fit: wrong hands, too many of them, or a link that gives more than it was given."""

    codes = ("broken_chain", "too_deep", "amplification")


class NotCovered(UcanError):
    """A good token, but not for this: another presenter, another resource, or a caveat in the way."""

    codes = ("not_covered", "wrong_audience", "wrong_subject", "caveat_unknown", "caveat_unmet")


class NotOwner(UcanError):
    """Nobody with a say over the resource stands at the root (D7)."""

    codes = ("not_owner_rooted",)


class Revoked(UcanError):
    """The token, or one that it rests on, was revoked (D11)."""

    codes = ("revoked",)
