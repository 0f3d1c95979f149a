"""Logs as JSON lines with a request id; no token, answer or key ever reaches one (D31, house rule 8)."""

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TextIO

request_id: ContextVar[str] = ContextVar("request_id", default="")
"""The id of the HTTP request that is being served."""


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the request id where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record; of an exception, its type and where it was raised, never its text."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if asked := request_id.get():
            line["request"] = asked
        if record.exc_info and record.exc_info[0]:
            line["exception"] = record.exc_info[0].__name__
            line["where"] = _where(record)
        return json.dumps(line, ensure_ascii=False)


def configure(stream: TextIO) -> None:
    """Send every logger of this process to one stream of JSON lines."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [], True
    logging.getLogger("uvicorn.error").addFilter(_no_traceback)
    # An access line would repeat what a caller put into a URL.
    logging.getLogger("uvicorn.access").disabled = True


def _no_traceback(record: logging.LogRecord) -> bool:
    """Uvicorn logs what failed at start as text, with whatever the exception says; the command line says it
    better.
    """
    return not str(record.msg).startswith("Traceback")


def _where(record: logging.LogRecord) -> str:
    trace = record.exc_info[2] if record.exc_info else None
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""
