"""What a person types, read by the type of the ask it answers (D14). Pure.

Nothing is guessed: `yes` is no boolean, and an option is named by its id. What does not fit is refused here,
with what would fit, before anything is sent.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from . import card, plain, words

Answers = dict[str, Any]
Offer = Mapping[str, Any]


class BadInput(Exception):
    """What was typed does not fit; the message says what would."""


def answers(asks: Sequence[Mapping[str, Any]], given: Sequence[str]) -> Answers:
    """The answers that `name=value` texts amount to, every required ask answered. Raises BadInput."""
    found: Answers = {}
    names = [str(ask["id"]) for ask in asks]
    for text in given:
        name, ask, value = _named(asks, text)
        if name in found:
            raise BadInput(f"--set {plain.line(name)}: given twice")
        found[name] = answer(ask, value)
    missing = [
        name for name, ask in zip(names, asks, strict=True) if ask.get("required") and name not in found
    ]
    if missing:
        raise BadInput(f"required, and not answered: {_listed(missing)}. Use --set NAME=VALUE")
    return found


def remarks(asks: Sequence[Mapping[str, Any]], given: Sequence[str]) -> dict[str, str]:
    """The remarks that `name=text` texts amount to. Raises BadInput."""
    found: dict[str, str] = {}
    for text in given:
        name, _, remark = _named(asks, text, "--remark")
        found[name] = remark
    return found


def answer(ask: Mapping[str, Any], text: str) -> Any:
    """One answer from its text, by the type of its ask. Raises BadInput naming what would fit."""
    name = plain.line(ask["id"])
    match ask["type"]:
        case "approval":
            if text not in ("true", "false"):
                raise BadInput(f"{name}: true or false, not {plain.line(text)!r}")
            return text == "true"
        case "choice":
            return _option(ask, text)
        case "checkboxes":
            chosen = [_option(ask, part) for part in _parts(name, text)]
            if len(set(chosen)) < len(chosen):
                raise BadInput(f"{name}: each option once")
            return chosen
        case "text" | "token":
            return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput(f"{name}: this kind of ask is not known here; give the answer as JSON") from None


def echoed(asks: Sequence[Mapping[str, Any]], given: Answers, names: Sequence[str]) -> list[dict[str, Any]]:
    """The offers that `--echo` names: an ask's, an option's (`ask/option`), or one as `with:can`.

    Each must be on a choice that the answers make. Raises BadInput saying which choice would.
    """
    found: list[dict[str, Any]] = []
    for name in names:
        offers = _offers(asks, given, name)
        found += [dict(offer) for offer in offers if offer not in found]
    return found


def narrowed(
    asks: Sequence[Mapping[str, Any]],
    given: Answers,
    echoes: Sequence[dict[str, Any]],
    texts: Sequence[str],
    now: int,
) -> list[dict[str, Any]]:
    """The echoes, each made smaller as `ECHO.with=…`, `ECHO.can=…`, `ECHO.exp=…` say; `now` in milliseconds.

    An end is unix seconds, or a length of time from now. Raises BadInput.
    """
    found = [dict(echo) for echo in echoes]
    for text in texts:
        match = re.fullmatch(r"(.+?)\.(with|can|exp)=(.*)", text, flags=re.DOTALL)
        if match is None:
            raise BadInput("--narrow: ECHO.with=PATH, ECHO.can=ABILITY or ECHO.exp=1h")
        meant = [dict(offer) for offer in _offers(asks, given, match[1])]
        hit = [echo for echo in found if {k: v for k, v in echo.items() if k != "narrow"} in meant]
        if len(hit) != 1:
            raise BadInput(
                f"--narrow {plain.line(match[1])}: names {len(hit)} echoed offers, not one; see --echo"
            )
        value: Any = _end(match[3], now) if match[2] == "exp" else match[3]
        hit[0]["narrow"] = {**hit[0].get("narrow", {}), match[2]: value}
    return found


def triggered(asks: Sequence[Mapping[str, Any]], given: Answers) -> list[tuple[str, Offer]]:
    """Every offer on a choice that the answers make, with the name that echoes it; equal offers once."""
    found: list[tuple[str, Offer]] = []
    for ask, name, option, offers in _choices(asks):
        if _made(ask, option, given):
            found += [(name, offer) for offer in offers if offer not in [known for _, known in found]]
    return found


def asked_for(text: str) -> dict[str, Any]:
    """An offer from `with:can` or `with:can:lifetime`. A third part that is no lifetime is a slip, and never
    read as an ability. Raises BadInput.
    """
    rest, _, last = text.rpartition(":")
    lifetime = words.seconds(last)
    if lifetime is not None:
        rest, _, last = rest.rpartition(":")
    third = lifetime is None and (last[:1].isdigit() or (":" in rest and not rest.startswith("did:")))
    if not rest or not last or third:
        raise BadInput(
            "--grant: WITH:CAN or WITH:CAN:LIFETIME, such as w/reports/:crud/read:1h; "
            "a lifetime is a number and s, m, h or d"
        )
    return {"with": rest, "can": last, **({} if lifetime is None else {"lifetime": lifetime})}


def _named(
    asks: Sequence[Mapping[str, Any]], text: str, flag: str = "--set"
) -> tuple[str, Mapping[str, Any], str]:
    """Which ask a text answers, and with what; an id may hold `=` itself."""
    fitting = [ask for ask in asks if text.startswith(f"{ask['id']}=")]
    if not fitting:
        known = _listed(str(ask["id"]) for ask in asks)
        raise BadInput(
            f"{flag} {plain.line(text.partition('=')[0])}: NAME=VALUE, where NAME is one of {known}"
        )
    ask = max(fitting, key=lambda one: len(str(one["id"])))
    name = str(ask["id"])
    return name, ask, text[len(name) + 1 :]


def _option(ask: Mapping[str, Any], text: str) -> str:
    known = [str(option["id"]) for option in ask.get("options") or []]
    if text not in known:
        raise BadInput(f"{plain.line(ask['id'])}: one of {_listed(known)}, not {plain.line(text)!r}")
    return text


def _parts(name: str, text: str) -> list[str]:
    if not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",")] if text.strip() else []
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not all(isinstance(part, str) for part in found):
        raise BadInput(f'{name}: option ids with commas between them, or a JSON list such as ["a", "b"]')
    return found


def _offers(asks: Sequence[Mapping[str, Any]], given: Answers, name: str) -> list[Offer]:
    """The triggered offers that a name stands for."""
    named: list[Offer] = []
    exact: list[Offer] = []
    makeable = []
    for ask, choice, option, offers in _choices(asks):
        for offer in offers:
            here = name in (str(ask["id"]), choice)
            if not here and name != f"{offer['with']}:{offer['can']}":
                continue
            if _made(ask, option, given):
                (named if here else exact).append(offer)
            else:
                makeable.append((ask, option))
    if named or exact:
        return named or exact
    if makeable:
        needed = _listed(dict.fromkeys(_needed(*choice) for choice in makeable))
        raise BadInput(f"--echo {plain.line(name)}: only with a choice that offers it: {needed}")
    known = list(dict.fromkeys(choice for _, choice, _, offers in _choices(asks) if offers))
    offered = f"one of {_listed(known)}" if known else "nothing is offered here"
    raise BadInput(f"--echo {plain.line(name)}: {offered}")


def _choices(
    asks: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[Mapping[str, Any], str, Mapping[str, Any] | None, Sequence[Offer]]]:
    for ask in asks:
        for name, option, offers in card.choices(ask):
            yield ask, name, option, offers


def _made(ask: Mapping[str, Any], option: Mapping[str, Any] | None, given: Answers) -> bool:
    answer = given.get(str(ask["id"]))
    if option is None:
        return answer is True
    return option["id"] in answer if isinstance(answer, list) else option["id"] == answer


def _needed(ask: Mapping[str, Any], option: Mapping[str, Any] | None) -> str:
    return f"{ask['id']}={'true' if option is None else option['id']}"


def _end(text: str, now: int) -> int:
    span = words.seconds(text)
    if span is not None:
        return now // 1000 + span
    if not re.fullmatch(r"[0-9]{1,11}", text):
        raise BadInput("--narrow ….exp: unix seconds, or a length of time such as 1h")
    return int(text)


def _listed(names: Any) -> str:
    return ", ".join(plain.line(name) for name in names) or "none"
