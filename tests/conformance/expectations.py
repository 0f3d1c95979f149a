"""Does a reply satisfy what its step expects?"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.harness.store import Store

from . import matchers
from .errors import BadScenario, Mismatch
from .matchers import ABSENT, match, matches
from .replies import KINDS, Reply

_WORDS = {"ok", "error", "result", "job", "record", "inbox_count", "no_job", "one_of", "verdict"}
_ERROR_WORDS = {"kind", "contains", "excludes", "http"}
PARALLEL_WORDS = {"ok_count", "settled_count", "losers", "save_winner"}


class Seen(NamedTuple):
    """What a step can be judged by: the store it left, and how many jobs there were before it."""

    store: Store
    jobs_before: int


def check(expected: Mapping[str, Any], reply: Reply, seen: Seen) -> None:
    """Raises Mismatch when the reply is not what is expected, BadScenario for an expectation nobody knows."""
    check_words(expected)
    if "ok" in expected:
        _check_ok(expected["ok"], reply)
    if "error" in expected:
        _check_error(expected["error"], reply)
    if "result" in expected:
        match(reply.result, expected["result"], "result")
    if "job" in expected:
        match(ABSENT if reply.job is None else reply.job, _of_job(expected["job"], reply), "job")
    if "verdict" in expected:
        match(reply.verdict, expected["verdict"], "verdict")
    if "one_of" in expected:
        _check_one_of(expected["one_of"], reply, seen)
    _check_store(expected, reply, seen)


def check_words(expected: Mapping[str, Any]) -> None:
    """Raises BadScenario for any word of an expectation that nobody knows, reached or not."""
    _only(expected, _WORDS, "an expectation")
    if not expected:
        raise BadScenario("a step that expects nothing proves nothing")
    if expected.get("ok", "any") not in (True, False, "any"):
        raise BadScenario(f"ok is true, false or any, not {expected['ok']!r}")
    if "inbox_count" in expected and expected["inbox_count"].keys() != {"owner", "count"}:
        raise BadScenario("inbox_count has an owner and a count")
    error = expected.get("error", {})
    _only(error, _ERROR_WORDS, "error")
    kind = error.get("kind", {"$in": []})
    _only(dict.fromkeys(kind["$in"] if isinstance(kind, dict) else [kind]), set(KINDS.values()), "kind")
    for name in ("result", "job", "verdict", "record"):
        matchers.check_words(expected.get(name), name)
    for one in expected.get("one_of", ()):
        check_words(one)


def _only(words: Mapping[str, Any], known: set[str], where: str) -> None:
    if strange := words.keys() - known:
        raise BadScenario(f"unknown words in {where}: {sorted(strange)}")


def _check_error(expected: Mapping[str, Any], reply: Reply) -> None:
    """Check a refusal: its kind, its text, its HTTP status."""
    if reply.ok:
        raise Mismatch("expected a refusal, and there was none")
    if "kind" in expected:
        _check_kind(expected["kind"], reply)
    if "http" in expected:
        match(reply.http, expected["http"], f"http status of {reply.code}")
    for text in expected.get("contains", ()):
        if text not in (reply.error or ""):
            raise Mismatch(f"the error does not name {text!r}: {reply.error}")
    for text in expected.get("excludes", ()):
        if text in (reply.error or ""):
            raise Mismatch(f"the error holds what it must not: {reply.error}")


def _check_ok(expected: Any, reply: Reply) -> None:
    if expected is True and not reply.ok:
        raise Mismatch(f"refused ({reply.code}, {reply.http}): {reply.error}")
    if expected is False and reply.ok:
        raise Mismatch(f"not refused: {reply.result!r}"[:600])


def _check_kind(expected: Any, reply: Reply) -> None:
    if not matches(reply.kind, expected):
        raise Mismatch(
            f"kind: expected {expected}, got {reply.kind} ({reply.code}, {reply.http}): {reply.error}"
        )


def _of_job(expected: Any, reply: Reply) -> Any:
    """Without a job there are no keys to look into: each must then accept absence, as `$not` does."""
    if reply.job is not None or not isinstance(expected, Mapping):
        return expected
    for key, value in expected.items():
        match(ABSENT, value, f"job.{key}")
    return {"$absent": True}


def _check_one_of(expected: list[Any], reply: Reply, seen: Seen) -> None:
    reasons = []
    for one in expected:
        try:
            check(one, reply, seen)
        except Mismatch as mismatch:
            reasons.append(str(mismatch))
        else:
            return
    raise Mismatch(f"none of these: {'; '.join(reasons)}")


def _check_store(expected: Mapping[str, Any], reply: Reply, seen: Seen) -> None:
    if "inbox_count" in expected:
        said = expected["inbox_count"]
        match(seen.store.count("request", owner=said["owner"]), said["count"], "inbox_count")
    if "no_job" in expected:
        made = seen.store.count("job") - seen.jobs_before
        match(made == 0, expected["no_job"], f"no_job ({made} made)")
    if "record" in expected:
        record = None if reply.job_id is None else seen.store.record(reply.job_id)
        match(ABSENT if record is None else record, expected["record"], "record")
