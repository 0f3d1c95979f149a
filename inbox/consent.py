"""What may be minted: offered, triggered by a choice that was made, and echoed by the person (D9, D14). Pure.

Nothing here signs anything or asks whether the grantor has the authority; it only says what was consented to.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ucan.capability import absolute

from .asks import check_offer, triggered_offers
from .errors import BadRequest
from .model import Ask, Grant, GrantPolicy, Offer, Reply

_REPEATABLE = {"with", "can", "exp", "lifetime", "nb"}


def consented(
    asks: Sequence[Ask],
    reply: Reply,
    owner: str,
    now: int,
    policy: GrantPolicy,
) -> tuple[Grant, ...]:
    """The grants that the echoes of an answer confer; none when nothing was echoed. `now` is in unix seconds.

    An echo repeats a triggered offer's `with` and `can` letter for letter, and may repeat its `exp`,
    `lifetime` and `nb`. One that was not offered and triggered refuses the whole answer. Duplicates count
    once; of equal offers the one that ends first is granted. An offer that ended meanwhile, or that a ceiling
    lowered meanwhile forbids, is refused.

    Raises BadRequest (`invalid_input`).
    """
    triggered = list(triggered_offers(asks, reply.answers))
    granted: dict[tuple[str, str], Grant] = {}
    for index, echo in enumerate(reply.echoes):
        offer = _matched(echo, f"grants[{index}]", triggered, now, policy)
        check_offer(offer, f"grants[{index}]", owner, now, policy)
        granted[offer.key] = Grant(
            offered=offer.raw(),
            resource=absolute(offer.with_, owner),
            can=offer.can,
            nb=offer.nb,
            exp=_end(offer, now, policy),
        )
    return tuple(granted.values())


def earliest(grants: Sequence[Grant]) -> int | None:
    """When a token over these grants ends: with the first of them; None only if none of them ends (D10)."""
    return min((grant.exp for grant in grants if grant.exp is not None), default=None)


def _matched(
    echo: Mapping[str, Any],
    place: str,
    triggered: Sequence[Offer],
    now: int,
    policy: GrantPolicy,
) -> Offer:
    strange = sorted(echo.keys() - _REPEATABLE)
    if strange:
        raise BadRequest(f"{place}: unknown key {strange[0]!r} in an echo")
    if not {"with", "can"} <= echo.keys():
        raise BadRequest(f"{place}: an echo repeats with and can")
    fitting = [offer for offer in triggered if _repeats(echo, offer)]
    if not fitting:
        raise BadRequest(f"{place}: this grant was not offered with a choice that was made")
    equal = [offer for offer in triggered if offer.key == fitting[0].key]
    return min(equal, key=lambda offer: _ends_first(offer, now, policy))


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
