"""The asks of `venue ask`, from its options (D12). Pure."""

import json
from collections.abc import Sequence
from typing import Any

from .typed import BadInput, asked_for

APPROVAL = "approve"


def asks(
    title: str,
    approve: str | None,
    texts: Sequence[str],
    choices: Sequence[str],
    boxes: Sequence[str],
    raw: Sequence[str],
    grants: Sequence[str],
) -> list[dict[str, Any]]:
    """The asks in this order: the approval, choices, checkboxes, texts, then whatever came as JSON.

    Without any, the title itself is put as an approval. Raises BadInput.
    """
    found: list[dict[str, Any]] = []
    if approve is not None or not (texts or choices or boxes or raw):
        offers = [asked_for(text) for text in grants]
        ask = {"id": APPROVAL, "type": "approval", "prompt": approve or title, "required": True}
        found.append({**ask, "grants": offers} if offers else ask)
    elif grants:
        raise BadInput("--grant: goes with --approve; on an option write it as JSON with --ask")
    found += [_with_options("choice", text) for text in choices]
    found += [_with_options("checkboxes", text) for text in boxes]
    for text in texts:
        name, prompt = _pair("--text", text)
        found.append({"id": name, "type": "text", "prompt": prompt, "required": True})
    return found + [_from_json(text) for text in raw]


def _with_options(kind: str, text: str) -> dict[str, Any]:
    name, rest = _pair(f"--{kind}", text)
    prompt, colon, options = rest.rpartition(":")
    known = [part.strip() for part in options.split(",") if part.strip()]
    if not colon or not prompt.strip() or not known:
        raise BadInput(f"--{kind}: ID=PROMPT:option,option")
    listed = [{"id": option, "label": option} for option in known]
    return {"id": name, "type": kind, "prompt": prompt, "options": listed, "required": kind == "choice"}


def _pair(flag: str, text: str) -> tuple[str, str]:
    name, equals, prompt = text.partition("=")
    if not equals or not name.strip() or not prompt.strip():
        raise BadInput(f"{flag}: ID=PROMPT, such as why=Why?")
    return name.strip(), prompt


def _from_json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadInput('--ask: one ask as JSON, such as {"id": "why", "type": "text", "prompt": "Why?"}')
    return found
