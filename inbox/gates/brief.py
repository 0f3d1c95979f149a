"""The brief: what the owner reads before answering. `prompt` is for the machine.

A brief is checked whole and copied; a refused one names every problem. A question's options are suggestions:
the gate's schema decides what an answer may be.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from ..jsonvalue import Issue, join, text_issues
from .errors import GateBriefInvalid
from .model import Brief, Option, Question
from .policy import read_once, unknown_keys

MAX_SUMMARY = 280
MAX_EVIDENCE_REF = 500
MAX_QUESTION = 500
MAX_LABEL = 75
MAX_QUESTIONS = 4
OPTIONS = range(2, 5)

_OPTION_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_ANCHOR = re.compile(r"(?P<pin>[^/]+)/(?P<path>.+)#L(?P<first>[0-9]+)(?:-L(?P<last>[0-9]+))?")

Source: TypeAlias = Callable[[str, str], str | None]
"""`(commit, path) -> the text of the file at that commit`, or None where there is none."""


def snapshot_brief(
    gate_id: str,
    raw: Brief | Mapping[str, Any],
    *,
    required: bool = False,
    pins: Mapping[str, str] | None = None,
    source: Source | None = None,
) -> Brief:
    """Check a brief and return a frozen copy of it, for a surface that validates before it opens a gate.

    `raw` may have `summary` (1-280 characters on one line), `evidence_ref` (1-500 on one line) and
    `questions` (1-4, with 2-4 options each); `required` demands the first two. With `pins` (name -> commit)
    and `source`, an `evidence_ref` of the form `<pin>/<path>#L10-L20` must lie inside the file at the pinned
    commit; the last line is inside. Lengths count code points.

    Raises `GateBriefInvalid` naming every problem.
    """
    names = ("summary", "evidence_ref", "questions")
    given = raw.as_json() if isinstance(raw, Brief) else raw
    if not isinstance(given, Mapping):
        raise GateBriefInvalid(gate_id, [Issue("brief", "must be a mapping")])
    fields = {name: value for name, value in read_once(given, *names).items() if value is not None}
    issues = [*unknown_keys(given, *names)]
    for name, limit in (("summary", MAX_SUMMARY), ("evidence_ref", MAX_EVIDENCE_REF)):
        if name in fields:
            issues += _line_issues(name, fields[name], limit)
        elif required:
            issues.append(Issue(name, "required"))
    questions, found = _questions(fields["questions"]) if "questions" in fields else ((), [])
    issues += found
    if not issues and pins and source and "evidence_ref" in fields:
        issues += _anchor_issues(fields["evidence_ref"], pins, source)
    if issues:
        raise GateBriefInvalid(gate_id, issues)
    return Brief(fields.get("summary"), fields.get("evidence_ref"), questions)


def _line_issues(path: str, value: object, limit: int) -> Iterator[Issue]:
    """A text on one line: whoever reads a brief must see all of it."""
    yield from _prose_issues(path, value, limit)
    if isinstance(value, str) and any(unicodedata.category(char) in ("Cc", "Zl", "Zp") for char in value):
        yield Issue(path, "must stand on one line, without control characters")


def _prose_issues(path: str, value: object, limit: int) -> Iterator[Issue]:
    if not isinstance(value, str):
        yield Issue(path, "must be a string")
        return
    yield from text_issues(value, path)
    if not value.strip():
        yield Issue(path, "must not be blank")
    if len(value) > limit:
        yield Issue(path, f"must have at most {limit} characters")


def _questions(raw: object) -> tuple[tuple[Question, ...], list[Issue]]:
    if not isinstance(raw, list | tuple) or not 1 <= len(raw) <= MAX_QUESTIONS:
        return (), [Issue("questions", f"must be a list of 1 to {MAX_QUESTIONS}")]
    issues: list[Issue] = []
    questions = [_question(each, f"questions.{index}", issues) for index, each in enumerate(raw)]
    issues += _repeats("questions", [each.id for each in questions])
    return tuple(questions), issues


def _question(raw: object, path: str, issues: list[Issue]) -> Question:
    fields = _fields(raw, path, ("id", "question", "options"), issues)
    issues += _line_issues(join(path, "id"), fields.get("id"), MAX_QUESTION)
    issues += _prose_issues(join(path, "question"), fields.get("question"), MAX_QUESTION)
    given = fields.get("options")
    path = join(path, "options")
    if not isinstance(given, list | tuple) or len(given) not in OPTIONS:
        issues.append(Issue(path, f"must be a list of {OPTIONS[0]} to {OPTIONS[-1]}"))
        given = ()
    options = tuple(_option(each, join(path, str(index)), issues) for index, each in enumerate(given))
    issues += _repeats(path, [each.id for each in options])
    if sum(each.recommended for each in options) > 1:
        issues.append(Issue(path, "at most one may be recommended"))
    return Question(fields.get("id", ""), fields.get("question", ""), options)


def _option(raw: object, path: str, issues: list[Issue]) -> Option:
    fields = _fields(raw, path, ("id", "label", "recommended"), issues)
    option_id, recommended = fields.get("id"), fields.get("recommended", False)
    if not isinstance(option_id, str) or not _OPTION_ID.fullmatch(option_id):
        issues.append(Issue(join(path, "id"), "must be 1 to 40 letters, digits, - or _"))
    issues += _line_issues(join(path, "label"), fields.get("label"), MAX_LABEL)
    if not isinstance(recommended, bool):
        issues.append(Issue(join(path, "recommended"), "must be true or false"))
    return Option(fields.get("id", ""), fields.get("label", ""), recommended is True)


def _fields(raw: object, path: str, names: tuple[str, ...], issues: list[Issue]) -> dict[str, Any]:
    if isinstance(raw, Question | Option):
        raw = raw.as_json()
    if not isinstance(raw, Mapping):
        issues.append(Issue(path, "must be a mapping"))
        return {}
    issues += (Issue(join(path, issue.path), issue.problem) for issue in unknown_keys(raw, *names))
    return read_once(raw, *names)


def _repeats(path: str, ids: list[Any]) -> Iterator[Issue]:
    for position, each in enumerate(ids):
        if each in ids[:position]:
            yield Issue(path, f"the id {each!r} occurs twice")


def _anchor_issues(reference: str, pins: Mapping[str, str], source: Source) -> Iterator[Issue]:
    anchor = _ANCHOR.fullmatch(reference)
    if anchor is None or anchor["pin"] not in pins:
        return
    text = source(pins[anchor["pin"]], anchor["path"])
    if text is None:
        yield Issue("evidence_ref", "names no file at the pinned commit")
        return
    lines = text.count("\n") + (not text.endswith("\n") and text != "")
    first, last = int(anchor["first"]), int(anchor["last"] or anchor["first"])
    if not 1 <= first <= last <= lines:
        yield Issue("evidence_ref", f"names lines outside the file, which has {lines} at the pinned commit")
