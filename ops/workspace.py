"""The workspace `w/`: JSON documents at paths (D24).

A write puts a document where it was told to, unless a document stands above that place: then it changes that
one. A place that only has documents below it is a map of them. So a thousand small writes are a thousand
small rows, and whatever was written reads back equal at every depth.
"""

from collections.abc import Sequence
from typing import Any

from inbox.canonical import canonical, plain
from inbox.store.base import Row, Transaction

from .errors import BadInput, QuotaExceeded
from .tree import MISSING, Missing, placed, removed, walk

MAX_DEPTH = 32


def get(tx: Transaction, owner: str, segments: Sequence[str]) -> Any:
    """The value at a path of `w/`, or MISSING. The root is always there."""
    above = _document_at_or_above(tx, owner, segments)
    if above is not None:
        depth, value = above
        return walk(value, segments[depth:])
    rows = _rows_below(tx, owner, segments)
    if not rows and segments:
        return MISSING
    root: Any = {}
    for row in rows:
        root = placed(root, _decode(row["path"])[len(segments) :], plain(row["value"]))
    return root


def exists(tx: Transaction, owner: str, segments: Sequence[str]) -> bool:
    """Whether anything stands at a path; it reads no more than it has to."""
    return _stands(tx, owner, segments, _document_at_or_above(tx, owner, segments))


def keys(tx: Transaction, owner: str, segments: Sequence[str]) -> Sequence[str] | None:
    """The keys of a map that only has documents below it; None where a document or nothing stands.

    The documents themselves are not read.
    """
    if _document_at_or_above(tx, owner, segments) is not None:
        return None
    if segments:
        low, high = _below(segments)
        rows = tx.all("document.paths_below", owner=owner, low=low, high=high)
    else:
        rows = tx.all("document.paths", owner=owner)
    if not rows and segments:
        return None
    return sorted({_decode(row["path"])[len(segments)] for row in rows})


def put(tx: Transaction, owner: str, segments: Sequence[str], value: Any, quota: int) -> tuple[bool, bool]:
    """Write a value; returns whether one was there before, and whether a missing parent below the first level
    was made.

    `quota` is in bytes. Raises BadInput (`invalid_input`), QuotaExceeded (`too_large`).
    """
    if not segments:
        raise BadInput("a document is written below w/, not at w itself")
    if len(segments) > MAX_DEPTH:
        raise BadInput(f"a path has at most {MAX_DEPTH} segments")
    above = _document_at_or_above(tx, owner, segments)
    existed = _stands(tx, owner, segments, above)
    made = not existed and len(segments) > 2 and not exists(tx, owner, segments[:-1])
    if above is not None and above[0] < len(segments):
        depth, document = above
        segments, value = segments[:depth], placed(document, segments[depth:], value)
    _drop_below(tx, owner, segments)
    _store(tx, owner, segments, value, quota)
    return existed, made


def delete(tx: Transaction, owner: str, segments: Sequence[str], quota: int) -> bool:
    """Remove what stands at a path; says whether anything did. The map around it stays, empty if need be."""
    if not segments:
        raise BadInput("the whole of w cannot be deleted at once")
    above = _document_at_or_above(tx, owner, segments)
    if not _stands(tx, owner, segments, above):
        return False
    if above is not None and above[0] < len(segments):
        depth, document = above
        _store(tx, owner, segments[:depth], removed(document, segments[depth:]), quota)
        return True
    _drop_below(tx, owner, segments)
    _drop(tx, owner, segments)
    if len(segments) > 1 and not exists(tx, owner, segments[:-1]):
        _store(tx, owner, segments[:-1], {}, quota)
    return True


_Found = tuple[int, Any] | None
"""The document that holds a place: at which depth it stands, and its value."""


def _stands(tx: Transaction, owner: str, segments: Sequence[str], above: _Found) -> bool:
    """Whether anything stands at a path, given what `_document_at_or_above` found for it."""
    if above is not None:
        depth, value = above
        return not isinstance(walk(value, segments[depth:]), Missing)
    low, high = _below(segments) if segments else ("", "")
    return not segments or tx.one("document.any_below", owner=owner, low=low, high=high) is not None


def _document_at_or_above(tx: Transaction, owner: str, segments: Sequence[str]) -> _Found:
    for depth in range(len(segments), 0, -1):
        row = tx.one("document.get", owner=owner, path=_encode(segments[:depth]))
        if row is not None:
            return depth, plain(row["value"])
    return None


def _store(tx: Transaction, owner: str, segments: Sequence[str], value: Any, quota: int) -> None:
    path, text = _encode(segments), canonical(value)
    row = tx.one("document.get", owner=owner, path=path)
    size = len(path.encode()) + len(text.encode())
    tx.run("document.put", owner=owner, path=path, value=text, size=size)
    delta = size - (0 if row is None else row["size"])
    if _grow(tx, owner, delta) > quota and delta > 0:
        raise QuotaExceeded(f"the workspace would be over its limit of {quota} bytes")


def _drop(tx: Transaction, owner: str, segments: Sequence[str]) -> None:
    rows = tx.all("document.drop", owner=owner, path=_encode(segments))
    _grow(tx, owner, -sum(row["size"] for row in rows))


def _rows_below(tx: Transaction, owner: str, segments: Sequence[str]) -> Sequence[Row]:
    if not segments:
        return tx.all("document.all", owner=owner)
    low, high = _below(segments)
    return tx.all("document.below", owner=owner, low=low, high=high)


def _drop_below(tx: Transaction, owner: str, segments: Sequence[str]) -> None:
    low, high = _below(segments)
    rows = tx.all("document.drop_below", owner=owner, low=low, high=high)
    if rows:
        _grow(tx, owner, -sum(row["size"] for row in rows))


def _grow(tx: Transaction, owner: str, delta: int) -> int:
    row = tx.one("workspace.grow", owner=owner, delta=delta)
    return 0 if row is None else int(row["bytes"])


def _encode(segments: Sequence[str]) -> str:
    # An empty segment has a spelling of its own, so that every path below another is longer than `path/`.
    return "/".join(segment.replace("~", "~0").replace("/", "~1") or "~2" for segment in segments)


def _decode(path: str) -> list[str]:
    return [
        "" if segment == "~2" else segment.replace("~1", "/").replace("~0", "~")
        for segment in path.split("/")
    ]


def _below(segments: Sequence[str]) -> tuple[str, str]:
    """The range of stored paths strictly below a path: `0` is the character after `/`."""
    path = _encode(segments)
    return f"{path}/", f"{path}0"
