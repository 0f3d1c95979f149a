"""What an operation replies: plain data, so that it may cross from one process to another."""

import sqlite3
from typing import Any

from inbox import gates

Reply = dict[str, Any]


def done(result: Any = None, **extras: Any) -> Reply:
    return {"ok": True, "result": result, **extras}


def failed(error: BaseException) -> Reply:
    """An exception as data: its class, its text, and its fields."""
    fields = {name: plain(value) for name, value in vars(error).items() if not name.startswith("_")}
    if isinstance(error, gates.GateError):
        fields |= {"code": error.code, "paths": plain(getattr(error, "paths", ()))}
    is_driver = isinstance(error, sqlite3.Error)
    name = "sqlite3.Error" if is_driver else type(error).__name__
    return {"ok": False, "error": {"class": name, "message": str(error), **fields}}


def plain(value: Any) -> Any:
    """A Python value as JSON."""
    if hasattr(value, "as_json"):
        return value.as_json()
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, gates.Issue) else value
