"""What makes a request well-formed, and what makes an answer fit its asks (D12, D14). Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ucan.capability import parse
from ucan.did import is_did
from ucan.errors import UcanError

from .canonical import canonical
from .errors import BadRequest, LimitExceeded
from .explain import shortened
from .model import MAX_SECONDS, Ask, GrantPolicy, Limits, Offer, Option, Submission, Terms

_LONGEST_SIGNED = 10 * 365 * 86_400
"""The longest life that a token ask may hint at, in seconds."""


def check_submission(posted: Submission, target: str, now: int, terms: Terms) -> None:
    """Check a whole request before anything is stored; `now` is in unix seconds, `target` the inbox's owner.

    Raises BadRequest (`invalid_input`) naming the place, LimitExceeded (`too_large`) naming the limit.
    """
    limits = terms.limits
    _check_text(posted, limits)
    if not posted.asks:
        raise BadRequest("asks: a request has at least one ask")
    _at_most(len(posted.asks), limits.asks, "asks", "asks")
    _distinct((ask.id for ask in posted.asks), "asks", "ask id")
    for index, ask in enumerate(posted.asks):
        _check_ask(ask, f"asks[{index}]", limits)
        _check_token_spec(ask, f"asks[{index}]", target, terms)
    offers = list(all_offers(posted.asks))
    _at_most(len(offers), limits.offers, "offers", "asks")
    for place, offer in offers:
        check_offer(offer, place, target, now, terms.grants)
    _check_caveats(offers, limits)


def all_offers(asks: Iterable[Ask]) -> Iterator[tuple[str, Offer]]:
    """Every offer of a request, with the place where it stands."""
    for index, ask in enumerate(asks):
        for number, offer in enumerate(ask.grants):
            yield f"asks[{index}].grants[{number}]", offer
        for position, option in enumerate(ask.options):
            for number, offer in enumerate(option.grants):
                yield f"asks[{index}].options[{position}].grants[{number}]", offer


def triggered_offers(asks: Iterable[Ask], answers: Mapping[str, Any]) -> Iterator[Offer]:
    """The offers whose choice was really made: an approval that is true, an option that was selected."""
    for ask in asks:
        answer = answers.get(ask.id)
        if ask.type == "approval" and answer is True:
            yield from ask.grants
        elif ask.type in ("choice", "checkboxes") and answer is not None:
            chosen = [answer] if ask.type == "choice" else answer
            for option in ask.options:
                if option.id in chosen:
                    yield from option.grants


def check_answers(asks: Sequence[Ask], answers: Mapping[str, Any], limits: Limits) -> dict[str, Any]:
    """Check the form of every answer; returns those that answer something (a null does not).

    Raises BadRequest (`invalid_input`) naming the ask, LimitExceeded (`too_large`).
    """
    by_id = {ask.id: ask for ask in asks}
    strange = sorted(answers.keys() - by_id.keys())
    if strange:
        raise BadRequest(f"answers: no ask has the id {shortened(strange[0])!r}")
    given = {name: answer for name, answer in answers.items() if answer is not None}
    for ask in asks:
        if ask.id in given:
            _FORMS[ask.type](ask, given[ask.id], limits)
        elif ask.required:
            raise BadRequest(f"answers: the ask {ask.id!r} is required")
    return given


def check_comments(
    asks: Sequence[Ask],
    comments: Mapping[str, Any],
    overall: str | None,
    limits: Limits,
) -> None:
    """Check that remarks are texts and name asks. Raises BadRequest, LimitExceeded."""
    ids = {ask.id for ask in asks}
    for name, remark in comments.items():
        if name not in ids:
            raise BadRequest(f"comments: no ask has the id {shortened(name)!r}")
        if not isinstance(remark, str):
            raise BadRequest(f"comments: the remark on {name!r} must be a text")
        _no_longer(remark, limits.text, "text answer", f"comments.{name}")
    if overall is not None:
        _no_longer(overall, limits.text, "text answer", "comment")


def check_offer(offer: Offer, place: str, target: str, now: int, policy: GrantPolicy) -> None:
    """Check one offer: a resource and an ability that parse, and an end that the ceiling allows (D6, D10).

    Raises BadRequest (`invalid_input`) naming the place.
    """
    try:
        parse(offer.claim(), target)
    except UcanError as error:
        raise BadRequest(f"{place}: {error}") from error
    said = offer.model_fields_set
    if "exp" in said and "lifetime" in said:
        raise BadRequest(f"{place}: an offer has exp or lifetime, not both")
    if "lifetime" in said and offer.lifetime is None:
        raise BadRequest(f"{place}.lifetime: must be a number of seconds")
    if "exp" in said:
        _check_exp(offer.exp, place, now, policy.max_lifetime)
    elif offer.lifetime is not None:
        if offer.lifetime > MAX_SECONDS:
            raise BadRequest(f"{place}.lifetime: {offer.lifetime} looks like milliseconds; give seconds")
        _check_ceiling(offer.lifetime, f"{place}.lifetime", policy.max_lifetime)


def _check_exp(exp: int | None, place: str, now: int, ceiling: int | None) -> None:
    if exp is None:
        if ceiling is not None:
            raise BadRequest(
                f"{place}.exp: a grant without end is not allowed here; at most {ceiling} seconds"
            )
    elif exp <= now:
        raise BadRequest(f"{place}.exp: {exp} is in the past")
    else:
        if exp > MAX_SECONDS:
            raise BadRequest(f"{place}.exp: {exp} looks like milliseconds; give unix seconds")
        _check_ceiling(exp - now, f"{place}.exp", ceiling)


def _check_ceiling(seconds: int, place: str, ceiling: int | None) -> None:
    if ceiling is not None and seconds > ceiling:
        raise BadRequest(f"{place}: {seconds} seconds is beyond this venue's ceiling of {ceiling} seconds")


def _check_caveats(offers: Iterable[tuple[str, Offer]], limits: Limits) -> None:
    """Two offers that an echo could not tell apart must not differ in their caveats (D12)."""
    seen: dict[tuple[str, str], Offer] = {}
    for place, offer in offers:
        _no_longer(canonical(offer.nb or {}), limits.prompt, "prompt", f"{place}.nb")
        twin = seen.setdefault(offer.key, offer)
        if twin.nb != offer.nb:
            raise BadRequest(f"{place}: another offer has the same with and can, but other caveats")


def _check_text(posted: Submission, limits: Limits) -> None:
    if not posted.title.strip():
        raise BadRequest("title: must not be blank")
    if posted.title.splitlines() != [posted.title]:
        raise BadRequest("title: must be on one line")
    _no_longer(posted.title, limits.title, "title", "title")
    _no_longer(posted.description or "", limits.description, "description", "description")
    if posted.timeout is not None and not 1 <= posted.timeout <= limits.timeout:
        raise BadRequest(f"timeout: must be between 1 and {limits.timeout} seconds")


def _check_ask(ask: Ask, place: str, limits: Limits) -> None:
    if not ask.prompt.strip():
        raise BadRequest(f"{place}.prompt: must not be blank")
    _no_longer(ask.prompt, limits.prompt, "prompt", f"{place}.prompt")
    _no_longer(ask.id, limits.prompt, "prompt", f"{place}.id")
    takes_options = ask.type in ("choice", "checkboxes")
    if takes_options and not ask.options:
        raise BadRequest(f"{place}.options: a {ask.type} ask has at least one option")
    if not takes_options and "options" in ask.model_fields_set:
        raise BadRequest(f"{place}.options: options belong to choice and checkboxes asks, not to {ask.type}")
    if ask.type != "approval" and "grants" in ask.model_fields_set:
        raise BadRequest(f"{place}.grants: offers belong to approval asks and to options")
    _at_most(len(ask.options), limits.options, "options per ask", f"{place}.options")
    _distinct((option.id for option in ask.options), f"{place}.options", "option id")
    for position, option in enumerate(ask.options):
        _check_option(option, f"{place}.options[{position}]", limits)


def _check_token_spec(ask: Ask, place: str, target: str, terms: Terms) -> None:
    """A token spec stands on token asks and only there, and asks for something from somebody else (D12)."""
    if ask.type != "token":
        if "token" in ask.model_fields_set:
            raise BadRequest(f"{place}.token: a token spec belongs to token asks, not to {ask.type}")
        return
    if ask.token is None:
        raise BadRequest(f"{place}.token: a token ask says what to sign")
    if (ask.token.lifetime or 0) > _LONGEST_SIGNED:
        raise BadRequest(f"{place}.token.lifetime: at most {_LONGEST_SIGNED} seconds, which is ten years")
    audience = ask.token.audience
    if audience is not None and not is_did(audience):
        raise BadRequest(f"{place}.token.audience: must be a DID")
    if audience in terms.venue:
        raise BadRequest(f"{place}.token.audience: a token for this venue itself would be a credential")
    _at_most(len(ask.token.caps), terms.limits.offers, "offers", f"{place}.token.caps")
    for number, cap in enumerate(ask.token.caps):
        try:
            parse({"with": cap.with_, "can": cap.can}, target)
        except UcanError as error:
            raise BadRequest(f"{place}.token.caps[{number}]: {error}") from error


def _check_option(option: Option, place: str, limits: Limits) -> None:
    for name in ("id", "label", "description"):
        _no_longer(getattr(option, name) or "", limits.prompt, "prompt", f"{place}.{name}")


def _text(ask: Ask, answer: Any, limits: Limits) -> None:
    if not isinstance(answer, str):
        raise BadRequest(f"answers.{ask.id}: must be a text")
    _no_longer(answer, limits.text, "text answer", f"answers.{ask.id}")


def _approval(ask: Ask, answer: Any, _: Limits) -> None:
    if not isinstance(answer, bool):
        raise BadRequest(f"answers.{ask.id}: must be true or false")


def _choice(ask: Ask, answer: Any, _: Limits) -> None:
    if not isinstance(answer, str) or answer not in {option.id for option in ask.options}:
        raise BadRequest(f"answers.{ask.id}: must be the id of one of its options")


def _checkboxes(ask: Ask, answer: Any, limits: Limits) -> None:
    if not isinstance(answer, list):
        raise BadRequest(f"answers.{ask.id}: must be a list of option ids")
    for chosen in answer:
        _choice(ask, chosen, limits)
    _distinct(answer, f"answers.{ask.id}", "option")


def _token(ask: Ask, answer: Any, limits: Limits) -> None:
    if not isinstance(answer, str):
        raise BadRequest(f"answers.{ask.id}: must be a signed token")
    _no_longer(answer, limits.token, "token", f"answers.{ask.id}")


_FORMS: Mapping[str, Callable[[Ask, Any, Limits], None]] = {
    "text": _text,
    "approval": _approval,
    "choice": _choice,
    "checkboxes": _checkboxes,
    "token": _token,
}


def _distinct(names: Iterable[str], place: str, what: str) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise BadRequest(f"{place}: the {what} {name!r} stands {times} times")


def _at_most(count: int, limit: int, name: str, place: str) -> None:
    if count > limit:
        raise LimitExceeded(f"{place}: {count} is over the limit of {limit} ({name})")


def _no_longer(text: str, limit: int, name: str, place: str) -> None:
    if len(text) > limit:
        raise LimitExceeded(f"{place}: {len(text)} characters is over the limit of {limit} ({name})")
