"""Plays a scenario step by step. What it does not know is an error, never a pass."""

import re
import threading
from collections.abc import Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx

from tests.harness.venue import until

from .errors import BadScenario, Mismatch
from .expectations import PARALLEL_WORDS, Seen, check, check_words
from .matchers import match
from .replies import Reply
from .stage import HOME, Stage
from .steps import Act, client, federation, machine, perform, protocol, tokens

_SCENARIO_WORDS = {"id", "area", "title", "given", "steps", "source", "covers", "decision"}
_GIVEN_WORDS = {"config", "note"}
_STEP_WORDS = {"as", "op", "input", "expect", "save", "ucans", "transport", "background", "after"}
_BACKGROUND = {"jobs.sse": protocol.jobs_sse_in_background}
_MODULES = (client, federation, machine, protocol, tokens)
"""The modules whose import registers the steps."""

_NO_ACCOUNT = ("harness", "clock", "raw")


def play(stage: Stage, scenario: Mapping[str, Any]) -> None:
    """Play every step. Raises Mismatch naming the step at which the venue did otherwise; BadScenario."""
    _only(scenario, _SCENARIO_WORDS, "a scenario")
    _only(scenario["given"], _GIVEN_WORDS, "what is given")
    if not scenario["steps"]:
        raise BadScenario("a scenario without steps proves nothing")
    for number, step in enumerate(scenario["steps"], start=1):
        try:
            _play_step(stage, step)
        except (Mismatch, BadScenario) as error:
            raise type(error)(f"step {number} ({step.get('as')}, {step.get('op')}): {error}") from None


def _play_step(stage: Stage, step: Mapping[str, Any]) -> None:
    if step.get("op") == "parallel":
        _play_parallel(stage, step)
        return
    check_words(step["expect"])
    if "after" in step:
        raise BadScenario("after: only one of several steps at once can wait for another")
    store = stage.venue(HOME).store
    before = store.count("job") if "no_job" in step["expect"] else 0
    reply = _act_out(stage, step)
    check(stage.resolved(step["expect"]), reply, Seen(store, before))


def _act_out(stage: Stage, step: Mapping[str, Any]) -> Reply:
    """Do what a step says, and keep the reply if it has a name; what is expected is not looked at."""
    _only(step, _STEP_WORDS, "a step")
    data = stage.resolved(step["input"])
    ucans = stage.resolved(step.get("ucans", []))
    act = Act(stage, _known(stage, step["as"]), ucans, stage.resolved(step.get("transport", {})))
    try:
        if step.get("background"):
            reply = _in_background(step["op"], act, data)
        else:
            reply = perform(step["op"], act, data)
    except httpx.TransportError as error:
        reply = machine.unreachable(error)
    if "save" in step:
        stage.save(step["save"], data, reply)
    return reply


def _only(words: Mapping[str, Any], known: Set[str], where: str) -> None:
    if strange := words.keys() - known:
        raise BadScenario(f"unknown words in {where}: {sorted(strange)}")


def _known(stage: Stage, who: str) -> str:
    """A principal as the scenario names it: `bob`, `alice!expired`, `bob@venueB`. Raises BadScenario."""
    found = re.fullmatch(r"([\w.]+)(@\w+)?(!expired|!tampered)?", who)
    name, venue = (found[1], (found[2] or "@venue")[1:]) if found else ("", "")
    known = stage.cast.knows(name) or name in ("anonymous", *_NO_ACCOUNT) or stage.is_venue(name)
    if not known or not stage.is_venue(venue):
        raise BadScenario(f"unknown principal: {who}")
    return who


def _in_background(op: str, act: Act, data: Mapping[str, Any]) -> Reply:
    if op not in _BACKGROUND:
        raise BadScenario(f"{op} cannot run in the background")
    return _BACKGROUND[op](act, **data)


def _play_parallel(stage: Stage, step: Mapping[str, Any]) -> None:
    expected = step["expect"]
    _check_parallel(step, expected)
    steps: Sequence[Mapping[str, Any]] = step["input"]["steps"]
    start = threading.Barrier(len(steps))
    with ThreadPoolExecutor(len(steps)) as pool:
        replies = list(pool.map(lambda inner: _at_once(stage, inner, start), steps))
    winners = [inner for inner, reply in zip(steps, replies, strict=True) if reply.ok]
    _check_counts(expected, replies)
    for inner, reply in zip(steps, replies, strict=True):
        if reply.ok:
            check(stage.resolved(inner["expect"]), reply, Seen(stage.venue(HOME).store, 0))
        elif "losers" in expected:
            check(
                {"ok": False, **stage.resolved(expected["losers"])}, reply, Seen(stage.venue(HOME).store, 0)
            )
    if "save_winner" in expected:
        if len(winners) != 1:
            raise Mismatch(f"there are {len(winners)} winners")
        won = replies[steps.index(winners[0])]
        stage.save(expected["save_winner"], stage.resolved(winners[0]["input"]), won)


def _check_parallel(step: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Raises BadScenario for any word that nobody knows, also where only a loser would meet it."""
    _only(step, {"as", "op", "input", "expect"}, "parallel")
    _only(step["input"], {"steps"}, "parallel")
    _only(expected, PARALLEL_WORDS, "parallel")
    if expected.keys().isdisjoint({"ok_count", "settled_count"}):
        raise BadScenario("steps at once of which nothing is counted prove nothing")
    for inner in (*(one["expect"] for one in step["input"]["steps"]), expected.get("losers", {"ok": False})):
        check_words(inner)


def _at_once(stage: Stage, step: Mapping[str, Any], start: threading.Barrier) -> Reply:
    if "after" in step:
        act = Act(stage, _known(stage, step["as"]))
        before = machine.newest(act, step["after"])
        start.wait(10)
        until(lambda: machine.newest(act, step["after"]) != before)
        stage.save_id("job", str(machine.newest(act, step["after"])))
    else:
        start.wait(10)
    return _act_out(stage, step)


def _check_counts(expected: Mapping[str, Any], replies: Sequence[Reply]) -> None:
    refusals = [f"{reply.code}: {reply.error}" for reply in replies if not reply.ok]
    if "ok_count" in expected:
        match(sum(reply.ok for reply in replies), expected["ok_count"], f"ok_count, {refusals}")
    if "settled_count" in expected:
        match(
            sum(reply.settled for reply in replies), expected["settled_count"], f"settled_count, {refusals}"
        )
