"""Authority: does a chain that is sound give this, and whose word stands at its root (V12 to V16, D6 to D8).

A request goes up the chain one capability at a time: a capability of the token that covers the request, one
of a proof that covers that, and so on to a token without proofs, whose issuer must be one that counts.
Capabilities are never added up, and the caveats of every capability on the way apply.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from .capability import Capability, canonical, inside, is_ability
from .did import managed_by
from .errors import BrokenChain, Malformed, NotCovered, NotOwner
from .token import Token

Found = Mapping[str, Token]
Caveats = Callable[[Mapping[str, Any]], NotCovered | None]
Reached = tuple[tuple[Token, ...], str]

NOWHERE: Reached = ((), "refused")
Attest = Literal["all", "managed"]


def nobody(_did: str) -> bool:
    """No owner has an inbox here."""
    return False


def names(dids: Collection[str]) -> frozenset[str]:
    """A set of DIDs. A lone text is one DID, not a collection of letters to find a substring in."""
    return frozenset((dids,)) if isinstance(dids, str) else frozenset(dids)


class Roots:
    """Whose signature counts at the root of a chain (D7). Without arguments: only the resource's owner.

    `venue` holds every DID of this venue, which may attest for an owner who has an inbox here (`hosts`): for
    any with `attest` "all", for its own managed users alone with "managed". `trusted` are other venues, each
    of which may attest for its own managed users.
    """

    __slots__ = ("_attest", "_hosts", "_trusted", "_venue")

    def __init__(
        self,
        venue: Collection[str] = (),
        hosts: Callable[[str], bool] = nobody,
        trusted: Collection[str] = (),
        attest: Attest = "all",
    ) -> None:
        self._venue = names(venue)
        self._hosts = hosts
        self._trusted = names(trusted)
        self._attest = attest

    def word(self, issuer: str, owner: str) -> str:
        """What the root issuer is to the resource's owner: "owner", "venue" or "refused"."""
        if issuer == owner:
            return "owner"
        if issuer in self._venue:
            return "owner" if owner in self._venue else self._own_word(owner)
        return "venue" if issuer in self._trusted and managed_by(owner) == issuer else "refused"

    def _own_word(self, owner: str) -> str:
        attested = self._attest == "all" or managed_by(owner) in self._venue
        return "venue" if attested and self._hosts(owner) else "refused"


class Held:
    """Which capabilities of a token's proofs cover one of its own.

    A token can carry a thousand capabilities and its proof as many, so they are found by the resources that
    lie above, not by comparing each with each.
    """

    __slots__ = ("_indexes", "found")

    def __init__(self, found: Found) -> None:
        self.found = found
        self._indexes: dict[str, dict[str, list[int]]] = {}

    def above(self, token: Token, capability: Capability) -> Iterator[tuple[Token, int]]:
        """Each proof of `token`, with the position of a capability that covers `capability`."""
        can = capability.can
        for proof in dict.fromkeys(token.prf):
            parent = self.found[proof]
            index = self._index(parent)
            for resource in _upward(capability.resource):
                for position in index.get(resource, ()):
                    held = parent.att[position].can
                    if held == "*" or inside(can, held):
                        yield parent, position

    def _index(self, token: Token) -> dict[str, list[int]]:
        index = self._indexes.get(token.hash)
        if index is None:
            index = self._indexes[token.hash] = {}
            for position, capability in enumerate(token.att):
                index.setdefault(capability.resource, []).append(position)
        return index


class Climb:
    """One search from a token to a root that counts. A state is one capability of one token, decided once."""

    __slots__ = ("_caveats", "_decided", "_roots", "held", "problem")

    def __init__(self, found: Found, roots: Roots, caveats: Caveats) -> None:
        self.held = Held(found)
        self.problem: NotCovered | NotOwner | None = None
        self._roots = roots
        self._caveats = caveats
        self._decided: dict[tuple[str, int], Reached] = {}

    def reach(self, token: Token, index: int, link: int = 0) -> Reached:
        """From capability `index` of `token`: the path to its best root, leaf first, and its word."""
        state = (token.hash, index)
        if state not in self._decided:
            self._decided[state] = self._decide(token, token.att[index], link)
        return self._decided[state]

    def _decide(self, token: Token, capability: Capability, link: int) -> Reached:
        reached = self._above(token, capability, link) if token.prf else self._root(token, capability, link)
        # Caveats come last, because a gate may cost more than all the rest.
        if reached[0] and capability.nb and (problem := self._caveats(capability.nb)):
            self._note(problem, link)
            return NOWHERE
        return reached

    def _root(self, token: Token, capability: Capability, link: int) -> Reached:
        word = self._roots.word(token.iss, capability.owner)
        if word == "refused":
            message = "The first issuer neither owns the resource nor may attest for its owner."
            self._note(NotOwner("not_owner_rooted", message, check="V15"), link)
            return NOWHERE
        return (token,), word

    def _above(self, token: Token, capability: Capability, link: int) -> Reached:
        best = NOWHERE
        for parent, index in self.held.above(token, capability):
            path, word = self.reach(parent, index, link + 1)
            if word == "owner":
                return (token, *path), word
            if path and not best[0]:
                best = (token, *path), word
        return best

    def _note(self, problem: NotCovered | NotOwner, link: int) -> None:
        """Keep the refusal that came furthest: a caveat stood in the way only of what was otherwise good."""
        problem.link = link
        if self.problem is None or isinstance(problem, NotCovered):
            self.problem = problem


def answer(leaf: Token, climb: Climb, presenter: str, resource: str, ability: str) -> Reached:
    """V12 to V16: the path that gives `presenter` the `ability` on `resource`, and the word of its root.

    Raises `NotCovered` (`wrong_audience`, `not_covered`, `caveat_unknown`, `caveat_unmet`), `BrokenChain`
    (`amplification`) and `NotOwner` (`not_owner_rooted`).
    """
    if leaf.aud != presenter:
        raise NotCovered("wrong_audience", "The token was given to somebody else.", check="V12")
    check_attenuation(leaf, climb.held)
    wanted = _request(resource, ability, known=leaf.att[0].owner if leaf.att else "")
    for index, capability in enumerate(leaf.att):
        if _gives(capability, wanted, ability):
            reached = climb.reach(leaf, index)
            if reached[0]:
                return reached
    if climb.problem is not None:
        raise climb.problem
    unread = f" ({leaf.unread} of its entries are malformed and give nothing)" if leaf.unread else ""
    raise NotCovered("not_covered", f"No capability of the token covers the request{unread}.", check="V14")


def check_attenuation(leaf: Token, held: Held) -> None:
    """V13: whoever relies on proofs gives nothing that lies outside every single capability of theirs.

    All of every token, also what this request does not use: a token that claims too much is not worth reading
    (D8). Raises `BrokenChain` (`amplification`).
    """
    for token in held.found.values():
        if not token.prf:
            continue
        for capability in token.att:
            if next(held.above(token, capability), None) is None:
                message = "A link gives more than any one capability of its proofs."
                link = _distance(leaf, token, held.found)
                raise BrokenChain("amplification", message, check="V13", link=link)


class Rights(NamedTuple):
    """What a sound token amounts to, capability by capability (the answer of `ucan:verify`)."""

    chain_depth: int
    root_issuer: str
    att: tuple[tuple[Capability, str], ...]


def rights(leaf: Token, found: Found, roots: Roots) -> Rights:
    """Each capability of the leaf with the word of its best root, caveats aside; the depth counts tokens."""
    climb = Climb(found, roots, lambda _nb: None)
    depth, first = 1, leaf
    while first.prf:
        depth, first = depth + 1, found[first.prf[0]]
    words = tuple((capability, climb.reach(leaf, index)[1]) for index, capability in enumerate(leaf.att))
    return Rights(depth, first.iss, words)


def _request(resource: str, ability: str, known: str) -> str:
    """The compared form of what is asked for. Nothing covers a resource or an ability that is malformed."""
    try:
        if is_ability(ability):
            return canonical(resource, known)
    except Malformed:
        pass
    raise NotCovered("not_covered", "What is asked for is no canonical resource and ability.", check="V14")


def _upward(path: str) -> Iterator[str]:
    """The path, and each that lies above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _gives(held: Capability, resource: str, can: str) -> bool:
    return inside(resource, held.resource) and (held.can == "*" or inside(can, held.can))


def _distance(leaf: Token, wanted: Token, found: Found) -> int:
    """How many links lie between the leaf and one of the tokens below it."""
    level, link = {leaf.hash: leaf}, 0
    while wanted.hash not in level:
        above = [found[proof] for token in level.values() for proof in token.prf]
        level, link = {token.hash: token for token in above}, link + 1
    return link
