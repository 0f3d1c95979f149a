"""JSON responses as the protocol wants them: UTF-8, compact, and never empty."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response


def json_response(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON response with this status."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    return Response(body, status, headers, "application/json; charset=utf-8")
