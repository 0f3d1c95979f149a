"""What may be minted: offered, triggered by a choice that was made, and echoed by the person (D9, D14). Pure.

Nothing here signs anything or asks whether the grantor has the authority; it only says what was consented to.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ucan.capability import Capability, parse
from ucan.errors import UcanError

from .asks import check_offer, triggered_offers
from .errors import BadRequest
from .explain import shortened
from .model import Ask, Grant, GrantPolicy, Offer, Reply

_REPEATABLE = {"with", "can", "exp", "lifetime", "nb"}
_NARROWABLE = {"with", "can", "exp"}


def consented(
    asks: Sequence[Ask],
    reply: Reply,
    owner: str,
    now: int,
    policy: GrantPolicy,
) -> tuple[Grant, ...]:
    """The grants that the echoes of an answer confer; none when nothing was echoed. `now` is in unix seconds.

    An echo repeats a triggered offer's `with` and `can` letter for letter, may repeat its `exp`, `lifetime`
    and `nb`, and may `narrow` it. One that was not offered and triggered refuses the whole answer. Duplicates
    count once; of equal offers the one that ends first is granted. An offer that ended meanwhile, or that a
    ceiling lowered meanwhile forbids, is refused.

    Raises BadRequest (`invalid_input`).
    """
    triggered = list(triggered_offers(asks, reply.answers))
    granted: dict[tuple[str, str], Grant] = {}
    for index, echo in enumerate(reply.echoes):
        place = f"grants[{index}]"
        offer = _matched(echo, place, triggered, now, policy)
        check_offer(offer, place, owner, now, policy)
        grant = _grant(offer, echo.get("narrow"), place, owner, now, policy)
        if granted.setdefault(offer.key, grant) != grant:
            raise BadRequest(f"{place}: this offer is echoed twice, and narrowed differently")
    return tuple(granted.values())


def earliest(grants: Sequence[Grant]) -> int | None:
    """When a token over these grants ends: with the first of them; None only if none of them ends (D10)."""
    return min((grant.exp for grant in grants if grant.exp is not None), default=None)


def _matched(
    echo: Mapping[str, Any], place: str, triggered: Sequence[Offer], now: int, policy: GrantPolicy
) -> Offer:
    strange = sorted(echo.keys() - _REPEATABLE - {"narrow"})
    if strange:
        raise BadRequest(f"{place}: unknown key {shortened(strange[0])!r} in an echo")
    if not {"with", "can"} <= echo.keys():
        raise BadRequest(f"{place}: an echo repeats with and can")
    repeated = {name: value for name, value in echo.items() if name != "narrow"}
    fitting = [offer for offer in triggered if _repeats(repeated, offer)]
    if not fitting:
        raise BadRequest(f"{place}: this grant was not offered with a choice that was made")
    equal = [offer for offer in triggered if offer.key == fitting[0].key]
    return min(equal, key=lambda offer: _ends_first(offer, now, policy))


def _grant(offer: Offer, narrow: Any, place: str, owner: str, now: int, policy: GrantPolicy) -> Grant:
    """The offer's own object, or what `narrow` makes smaller inside it; the record keeps both."""
    whole = parse(offer.claim(), owner)
    end = _end(offer, now, policy)
    if narrow is None:
        return Grant(offer.raw(), whole.with_, whole.can, offer.nb, end)
    if not isinstance(narrow, dict) or not narrow or not narrow.keys() <= _NARROWABLE:
        raise BadRequest(f"{place}.narrow: an object of with, can or exp")
    part = _part(whole, narrow, place, owner)
    said = {**offer.raw(), "narrow": narrow}
    return Grant(said, part.with_, part.can, offer.nb, _sooner(end, narrow, place, now))


def _part(whole: Capability, narrow: Mapping[str, Any], place: str, owner: str) -> Capability:
    wanted = {"with": narrow.get("with", whole.with_), "can": narrow.get("can", whole.can)}
    try:
        part = parse(wanted, owner)._replace(nb=whole.nb)
    except UcanError as error:
        raise BadRequest(f"{place}.narrow: {error}") from error
    if not whole.covers(part):
        raise BadRequest(f"{place}.narrow: is not inside what was offered")
    return part


def _sooner(end: int | None, narrow: Mapping[str, Any], place: str, now: int) -> int | None:
    if "exp" not in narrow:
        return end
    exp = narrow["exp"]
    if type(exp) is not int or exp <= now or (end is not None and exp > end):
        raise BadRequest(f"{place}.narrow.exp: must be unix seconds, ahead of now and not beyond the offer")
    return exp


def _repeats(echo: Mapping[str, Any], offer: Offer) -> bool:
    """Whether an echo says nothing that the offer does not say. Compared as JSON: 1 is not true."""
    offered = offer.raw()
    return all(name in offered and _same(value, offered[name]) for name, value in echo.items())


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _end(offer: Offer, now: int, policy: GrantPolicy) -> int | None:
    if "exp" in offer.model_fields_set:
        return offer.exp
    return now + (offer.lifetime if offer.lifetime is not None else policy.default_lifetime)


def _ends_first(offer: Offer, now: int, policy: GrantPolicy) -> float:
    end = _end(offer, now, policy)
    return float("inf") if end is None else end
