"""What is refused before any route looks at it, and what every response carries (D32). Pure ASGI.

An unknown Host (DNS rebinding), a body that is no JSON or too large, a browser that comes from another
origin; and a request id and the security headers on every answer.
"""

from collections.abc import Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .config import Settings
from .log import request_id
from .problems import HttpProblem, problem

HEAD = "venue.head"
"""In the scope of a request that asks for the headers alone, and is served as a GET."""

_SAFE = {"GET", "HEAD", "OPTIONS"}
_HEADERS = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)


class Guard:
    """Wraps the whole application."""

    def __init__(self, app: ASGIApp, settings: Settings, entropy: Callable[[int], bytes]) -> None:
        self._app = app
        self._settings = settings
        self._entropy = entropy
        self._origins = frozenset(settings.cors_origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        identifier = self._entropy(8).hex()
        request_id.set(identifier)
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }

        head = scope["method"] == "HEAD"
        if head:
            scope = {**scope, "method": "GET", HEAD: True}
        scope = self._below_prefix(scope)

        async def stamped(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*_secured(message["headers"]), (b"x-request-id", identifier.encode())]
            elif head:
                message = {**message, "body": b""}
            await send(message)

        refusal = self._refusal(scope["method"], headers)
        if refusal is not None:
            await self._readable(problem(*refusal), headers)(scope, receive, stamped)
            return
        body = _Bounded(receive, self._settings.limits.body)
        await self._app(scope, body, stamped)

    def _refusal(self, method: str, headers: MutableMapping[str, Any]) -> tuple[str, str] | None:
        host = headers.get("host", "")
        if not self._known(host):
            return "unknown_host", f"This venue does not answer for the host {host[:100]!r}"
        preflight = method == "OPTIONS" and "access-control-request-method" in headers
        if method in _SAFE and not preflight:
            return None
        origin = headers.get("origin")
        if origin is not None and not self._ours(origin, host) and origin not in self._origins:
            return "foreign_origin", f"Requests from {origin[:100]!r} are not accepted"
        length = headers.get("content-length", "0")
        has_body = length != "0" or "transfer-encoding" in headers
        if (
            has_body
            and headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json"
        ):
            return "unsupported_media_type", "A body must be application/json"
        if length.isdigit() and int(length) > self._settings.limits.body:
            return "body_too_large", _too_large(self._settings.limits.body)
        return None

    def _readable(self, refusal: Response, headers: MutableMapping[str, Any]) -> Response:
        """A refusal that a page of a listed origin may read."""
        origin = headers.get("origin")
        if origin in self._origins:
            refusal.headers.update({"Access-Control-Allow-Origin": str(origin), "Vary": "Origin"})
        return refusal

    def _below_prefix(self, scope: Scope) -> Scope:
        """The request as it is below the prefix of `public_url`; most proxies take it away themselves."""
        prefix = self._settings.prefix
        if not prefix or not scope["path"].startswith(f"{prefix}/"):
            return scope
        return {**scope, "path": scope["path"].removeprefix(prefix), "raw_path": None}

    def _known(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname
        except ValueError:
            return False
        public = self._settings.public_url
        if public is not None and name == urlsplit(public).hostname:
            return True
        if self._settings.loopback or name in ("127.0.0.1", "::1"):
            return name in ("127.0.0.1", "localhost", "::1")
        return public is None and self._settings.insecure_http

    def _ours(self, origin: str, host: str) -> bool:
        public = self._settings.public_url
        if public is not None:
            url = urlsplit(public)
            return origin == f"{url.scheme}://{url.netloc}"
        return origin == f"http://{host}"


def _secured(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, with those security headers that it does not set itself."""
    own = list(headers)
    names = {name.lower() for name, _ in own}
    return [*own, *(header for header in _HEADERS if header[0] not in names)]


class _Bounded:
    """A request body that ends in a refusal when it grows beyond the limit, whatever its headers said."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._seen = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        if self._seen > self._limit:
            raise HttpProblem("body_too_large", _too_large(self._limit))
        return message


def _too_large(limit: int) -> str:
    return f"The body is over the limit of {limit} bytes"
