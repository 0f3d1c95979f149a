"""The questions one can ask about tokens. Each answer is a Verdict; a refusal is never an exception.

V1 text        V2 header      V3 claims     V4 principals   V5 key            V6 signature     V7 expiry
V8 not before  V9 revocation  V10 limits    V11 links       V12 presenter     V13 attenuation  V14 coverage
V15 root       V16 caveats    V17 identity  V18 audience    V19 lifetime      V20 subject

docs/ucan.md says what each of them asks. Not asked here: whether an agent or a managed user really is bound
to the key that signed for it (`Verdict.subject` against `Verdict.issuer`, D3), and whether a principal is
admitted (D4).
"""

from collections.abc import Callable, Collection, Sequence

from .authority import Climb, Rights, Roots, answer, names, rights
from .bearer import check_identity, read_self_issued
from .caveats import Gate, check
from .chain import Memo, Resolve, gather, never
from .errors import NotCovered, UcanError
from .jwt import encode
from .token import Token
from .verdict import Verdict, accepted, refused

__all__ = ["Rights", "Roots", "Verdict", "authenticate", "authorise", "rights_of", "self_issued", "verify"]


def verify(
    token: str,
    *,
    now: int,
    resolve: Resolve | None = None,
    memo: Memo | None = None,
    revoked: Callable[[str], bool] = never,
) -> Verdict:
    """Is the token, with its proofs, sound at `now` (unix seconds)? V1 to V11; not what it gives or to whom.

    `resolve` knows the keys of issuers that are no did:key; `revoked` is asked for the hash of every token of
    the chain (D11); `memo`, a mapping that the caller owns and bounds, saves the signatures of a repeat.
    """
    try:
        return accepted(tuple(gather(token, now=now, resolve=resolve, memo=memo, revoked=revoked).values()))
    except UcanError as error:
        return refused(error)


def authorise(
    tokens: Sequence[str],
    *,
    presenter: str,
    resource: str,
    ability: str,
    now: int,
    roots: Roots,
    destination: str | None = None,
    gate: Gate | None = None,
    revoked: Callable[[str], bool] = never,
    resolve: Resolve | None = None,
    memo: Memo | None = None,
) -> Verdict:
    """Does one of the tokens give `presenter` the `ability` on the absolute `resource`? V1 to V16 (D6 to D8).

    Tokens are judged one by one and never added up; a bad one does not spoil a good one. Of several refusals
    the one that came furthest is returned. `destination` is what a `url` caveat is held against and `gate`
    evaluates a `gate` caveat; without them such a capability gives nothing.
    """
    furthest = None
    for text in tokens:
        try:
            found = gather(text, now=now, resolve=resolve, memo=memo, revoked=revoked)
            climb = Climb(found, roots, lambda nb: check(nb, destination, gate))
            return accepted(*answer(found[text], climb, presenter, resource, ability))
        except UcanError as error:
            if furthest is None or _stage(error) > _stage(furthest):
                furthest = error
    return refused(furthest or NotCovered("not_covered", "No token was presented.", check="V14"))


def authenticate(
    token: str,
    *,
    venue: Collection[str],
    now: int,
    resolve: Resolve | None = None,
    memo: Memo | None = None,
    revoked: Callable[[str], bool] = never,
) -> Verdict:
    """Who calls, by an identity UCAN made for one of this venue's DIDs? V1 to V11 and V17 to V19 (D2).

    `issuer` and `subject` of the verdict are the caller. Such a token may have passed through a relay.
    """
    try:
        found = gather(token, now=now, resolve=resolve, memo=memo, revoked=revoked)
        check_identity(found[token], names(venue), now)
    except UcanError as error:
        return refused(error)
    return accepted(tuple(found.values()))


def self_issued(
    token: str,
    *,
    venue: Collection[str],
    now: int,
    require_audience: bool = True,
    resolve: Resolve | None = None,
) -> Verdict:
    """Who calls, by the SDKs' bearer JWT? V1 to V8 as far as they apply, and V18 to V20 (D2).

    When `subject` is not `issuer` it is an agent or a managed user, and the caller must still check that the
    issuer's key is bound to it (D3).
    """
    try:
        return read_self_issued(token, names(venue), now, require_audience, resolve)
    except UcanError as error:
        return refused(error)


def rights_of(verdict: Verdict, roots: Roots) -> Rights:
    """What a token that `verify` found sound gives: for each capability, whose word is at its root.

    A capability that lies outside the proofs is "refused". Raises `NotCovered` for a verdict that is not
    valid.
    """
    if not verdict.valid or verdict.token is None:
        raise NotCovered("not_covered", "Only a token that was verified has rights.")
    found: dict[str, Token] = {encode(token): token for token in verdict.chain}
    return rights(verdict.token, found, roots)


def _stage(error: UcanError) -> int:
    """How far a token came: the number of the check that refused it."""
    return int(error.check[1:] or 0)
