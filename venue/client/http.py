"""Calls over HTTP: who is asked, how long to be patient, and what each answer means.

The one module of the client that loads httpx; it is imported when a client is made.
"""

import asyncio
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from email.utils import parsedate_to_datetime
from typing import Any, TypeAlias

import httpx

from inbox.clock import Clock
from ucan.did import is_did

from .errors import (
    BadForm,
    ClockSkew,
    NoAnswer,
    NotAuthenticated,
    NotAVenue,
    Refused,
    Settled,
    TooFast,
    Unreachable,
    VenueFault,
    WrongVenue,
)
from .identity import Credential

Events: TypeAlias = AsyncGenerator[tuple[str, dict[str, Any]], None]
"""The events of a stream: the name and the data of each."""

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
_LONGEST_CONNECT = 10.0
_SILENCE = 15.0
"""A stream has a heartbeat every five seconds; after so many without a sign it is dead."""


class Http:
    """One connection pool to one venue, whose DID is learnt before anything is signed for it."""

    def __init__(
        self,
        base: str,
        credential: Credential,
        clock: Clock,
        *,
        did: str | None,
        patience: float,
        transport: httpx.AsyncBaseTransport | None,
        user_agent: str | None = None,
    ) -> None:
        self.base = base
        self._credential = credential
        self._clock = clock
        self._expected = did
        self._did: str | None = None
        self._patience = patience
        # One slow call must leave time for another.
        self._timeout = httpx.Timeout(
            max(patience / 2, 0.1), connect=min(max(patience, 0.1), _LONGEST_CONNECT)
        )
        self._client = httpx.AsyncClient(
            base_url=f"{base}/api/v1/",
            timeout=self._timeout,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            transport=transport,
            headers={} if user_agent is None else {"User-Agent": user_agent},
        )

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def did(self) -> str:
        """The venue's DID. Raises WrongVenue when another was expected, NotAVenue for something else."""
        if self._did is None:
            try:
                said = await self._patiently("GET", "status", signed=False)
            except Refused as error:
                if error.status != 404:
                    raise
                raise self._not_a_venue() from None
            found = said.get("did") if isinstance(said, dict) else None
            if not isinstance(found, str) or not is_did(found):
                raise self._not_a_venue()
            if self._expected not in (None, found):
                raise WrongVenue(str(self._expected), found)
            self._did = self._expected = found
        return self._did

    async def call(
        self,
        method: str,
        path: str,
        *,
        json: object = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Call the venue and return the JSON of its answer.

        While the venue is away, slow or busy the call is repeated: a read changes nothing, a cancel may be
        repeated, and every other call carries a key that merges it with its first attempt. Raises Refused,
        Unreachable, WrongVenue, NotAVenue.
        """
        try:
            return await self._patiently(method, path, json=json, params=params, headers=headers)
        except NotAuthenticated:
            self._did = None  # perhaps another venue stands here by now
            await self.did()
            raise

    @asynccontextmanager
    async def events(self, path: str, headers: Mapping[str, str] | None = None) -> AsyncIterator[Events]:
        """A stream of server-sent events, open while the block lasts: the name and the data of each.

        Raises what `call` raises, at once: a stream is not tried again. Unreachable when it breaks.
        """
        sent = {"Accept": "text/event-stream", **await self._signed(), **(headers or {})}
        patience = httpx.Timeout(_SILENCE, connect=_LONGEST_CONNECT)
        try:
            async with self._client.stream("GET", path, headers=sent, timeout=patience) as answer:
                if not answer.is_success:
                    await answer.aread()
                    raise self._refusal(answer)
                async with aclosing(_frames(answer)) as frames:
                    yield frames
        except (httpx.HTTPError, httpx.StreamError, ValueError) as error:
            raise self._unreachable(error) from error

    async def _patiently(self, method: str, path: str, *, signed: bool = True, **options: Any) -> Any:
        loop = asyncio.get_running_loop()
        end, pause = loop.time() + self._patience, _FIRST_PAUSE
        while True:
            try:
                return await self._once(method, path, signed=signed, **options)
            except (Unreachable, TooFast, VenueFault) as error:
                wait = _wait(error, pause)
                if wait is None or loop.time() + wait > end:
                    raise
            await asyncio.sleep(wait * random.uniform(1.0, 1.2))  # noqa: S311 - it only spreads the load
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _once(
        self,
        method: str,
        path: str,
        *,
        signed: bool,
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Any:
        sent = {**(await self._signed() if signed else {}), **(headers or {})}
        try:
            request = self._client.build_request(method, path, headers=sent, **options)
        except (TypeError, ValueError) as error:
            raise BadForm(f"What is to be sent is no JSON, or its key no text: {error}") from None
        try:
            answer = await self._client.send(request)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        if not answer.is_success:
            raise self._refusal(answer)
        try:
            return answer.json() if answer.content else None
        except ValueError:
            raise self._not_a_venue() from None

    async def _signed(self) -> dict[str, str]:
        """The Authorization of a call, fresh."""
        bearer = self._credential.bearer(await self.did())
        return {"Authorization": f"Bearer {bearer}"} if bearer else {}

    def _refusal(self, answer: httpx.Response) -> Refused | NotAVenue:
        """What an answer other than a success means."""
        said, status = _object(answer), answer.status_code
        details = {name: value for name, value in said.items() if name not in ("code", "error")}
        code, message = str(said.get("code", "unknown")), str(said.get("error", f"HTTP status {status}"))
        if code in ("not_open", "expired"):
            return Settled(code, status, message, details=details)
        if status == 429:
            return TooFast(code, message, _retry_after(answer), details=details)
        if status >= 500:
            details["retry_after"] = _retry_after(answer)
            return VenueFault(code, status, message, details=details)
        if status == 401:
            return self._not_authenticated(answer, code, message, details)
        return self._not_a_venue() if answer.is_redirect else Refused(code, status, message, details=details)

    def _not_authenticated(
        self, answer: httpx.Response, code: str, message: str, details: dict[str, Any]
    ) -> NotAuthenticated:
        skew = self._skew(answer)
        if self._credential.outdated_by(skew):
            return ClockSkew(code, 401, message, skew, details=details)
        return NotAuthenticated(code, 401, message, details=details, hint="Check the key or token")

    def _unreachable(self, error: Exception) -> Unreachable:
        how = type(error).__name__
        if isinstance(error, httpx.TimeoutException) and not isinstance(error, httpx.ConnectTimeout):
            return NoAnswer(f"The venue at {self.base} did not answer in time ({how})")
        return Unreachable(f"The venue at {self.base} cannot be reached ({how}). Is it running?")

    def _not_a_venue(self) -> NotAVenue:
        return NotAVenue(f"What answers at {self.base} is no venue. Is the address right?")

    def _skew(self, answer: httpx.Response) -> int:
        """How far this clock is ahead of the venue's, in seconds; 0 when the venue does not say."""
        try:
            theirs = parsedate_to_datetime(answer.headers["date"])
        except (KeyError, ValueError):
            return 0
        return int((self._clock() - theirs).total_seconds())


async def _frames(answer: httpx.Response) -> Events:
    """The events of a stream; each of this venue's has exactly one line of data, an object."""
    event = ""
    async for line in answer.aiter_lines():
        if line.startswith("event: "):
            event = line.removeprefix("event: ")
        elif line.startswith("data: "):
            data = json.loads(line.removeprefix("data: "))
            if not isinstance(data, dict):
                raise ValueError("an event without an object")
            yield event, data


def _wait(error: Refused | Unreachable, pause: float) -> float | None:
    """How long to wait before the next attempt; None when another would fail alike."""
    if isinstance(error, VenueFault):
        return max(pause, float(error.details["retry_after"])) if error.status > 501 else None
    return max(pause, error.retry_after) if isinstance(error, TooFast) else pause


def _retry_after(answer: httpx.Response) -> float:
    text = answer.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0


def _object(answer: httpx.Response) -> dict[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
