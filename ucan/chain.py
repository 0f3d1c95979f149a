"""Integrity: a token and all its proofs are what they say, signed, live and linked (V1 to V11).

Nothing here asks what the token gives or to whom; `authority` does. One bad proof refuses the whole token,
needed or not (D8): what cannot be checked is not carried along.
"""

from collections.abc import Callable, Mapping, MutableMapping, Sequence

from .did import PublicKey, public_key
from .errors import BadSignature, BrokenChain, NotLive, Revoked, UcanError
from .jwt import check_signature, read, token_of
from .token import Token

MAX_LINKS = 12
MAX_PROOFS = 16

Resolve = Callable[[str], Sequence[PublicKey]]
"""Knows every key that a principal may sign with; none, for a principal that it does not know."""

Memo = MutableMapping[str, Token]


def never(_hash: str) -> bool:
    """Nothing is revoked."""
    return False


def gather(
    text: str,
    *,
    now: int | None,
    resolve: Resolve | None,
    memo: Memo | None = None,
    revoked: Callable[[str], bool] = never,
) -> dict[str, Token]:
    """Every distinct token of the chain at `text`, by its text, that one first; or raise `UcanError`.

    Without `now` V7 and V8 are left out: who may revoke a token does not depend on whether it has ended.

    `memo` remembers what cannot change: tokens whose signature by a did:key was verified, by their exact
    text. Times and revocation are looked at on every call, and so is a key that had to be resolved.
    """
    found: dict[str, Token] = {}

    def visit(text: str, link: int) -> Token:
        token = memo.get(text) if memo is not None else None
        try:
            if len(found) > MAX_PROOFS:
                raise BrokenChain("too_deep", f"There are more than {MAX_PROOFS} proofs.", check="V10")
            if token is None:
                token = _authentic(text, resolve, memo)
            _check_now(token, now, revoked)
            found[text] = token
        except UcanError as error:
            error.link = link
            raise
        for proof in token.prf:
            parent = found.get(proof) or visit(proof, link + 1)
            if parent.aud != token.iss:
                message = "The audience of a proof is somebody else than the issuer who relies on it."
                raise BrokenChain("broken_chain", message, check="V11", link=link + 1)
        return token

    leaf = visit(text, 0)
    if len(found) > MAX_LINKS and height(leaf, found) > MAX_LINKS:
        raise BrokenChain(
            "too_deep", f"The chain has more than {MAX_LINKS} links.", check="V10", link=MAX_LINKS
        )
    return found


def keys_of(did: str, resolve: Resolve | None) -> Sequence[PublicKey]:
    """V5: the keys of a principal. A did:key is its key; any other DID is for `resolve` to know.

    Raises `Malformed` and `BadSignature` (`unresolved`, `weak_key`).
    """
    try:
        if is_did_key(did):
            return (public_key(did),)
        keys = () if resolve is None else resolve(did)
    except UcanError as error:
        error.check = "V5"
        raise
    if not keys:
        raise BadSignature("unresolved", "Nobody here knows the key of the issuer.", check="V5")
    return keys


def is_did_key(did: str) -> bool:
    """Whether `did` is a bare did:key: a managed user or agent of one is not, though it starts alike."""
    return did.startswith("did:key:") and ":" not in did[8:]


def check_times(now: int, exp: int | None, nbf: int | None) -> None:
    """V7 and V8: `nbf <= now < exp`, in unix seconds, no skew. Raises `NotLive` (`expired`, `not_yet`)."""
    if exp is not None and now >= exp:
        raise NotLive("expired", f"It expired at {exp}, and it is {now}.", check="V7")
    if nbf is not None and now < nbf:
        raise NotLive("not_yet", f"It is not valid before {nbf}, and it is {now}.", check="V8")


def height(leaf: Token, found: Mapping[str, Token]) -> int:
    """The number of tokens on the longest path up from `leaf`. A shared proof is measured once."""
    heights: dict[str, int] = {}

    def measure(token: Token) -> int:
        if token.hash not in heights:
            heights[token.hash] = 1 + max((measure(found[proof]) for proof in token.prf), default=0)
        return heights[token.hash]

    return measure(leaf)


def _authentic(text: str, resolve: Resolve | None, memo: Memo | None) -> Token:
    """V1 to V6, for one token: all that does not depend on when it is asked."""
    jws = read(text)
    token = token_of(jws)
    check_signature(jws, *keys_of(token.iss, resolve))
    if memo is not None and is_did_key(token.iss):
        memo[text] = token
    return token


def _check_now(token: Token, now: int | None, revoked: Callable[[str], bool]) -> None:
    if now is not None:
        check_times(now, token.exp, token.nbf)
    if revoked(token.hash):
        raise Revoked("revoked", "The token was revoked.", check="V9")
