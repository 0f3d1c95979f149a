"""Calls over HTTP: who is asked, how long to be patient, and what each answer means."""

import asyncio
import random
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from inbox.clock import Clock

from .errors import ClockSkew, NotAuthenticated, Refused, Settled, TooFast, Unreachable, WrongVenue
from .identity import Credential

PATIENCE = 30.0
"""How long a call that may be repeated is repeated, in seconds."""

_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
_SKEW = 30


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
        self._client = httpx.AsyncClient(
            base_url=f"{base}/api/v1/",
            timeout=httpx.Timeout(30.0, connect=10.0),
            transport=transport,
            headers={} if user_agent is None else {"User-Agent": user_agent},
        )

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()

    async def did(self) -> str:
        """The venue's DID. Raises WrongVenue when another was expected."""
        if self._did is None:
            answer = await self._patiently("GET", "status", {}, repeat=True)
            found = str(_json(answer).get("did", ""))
            if self._expected not in (None, found):
                raise WrongVenue(str(self._expected), found)
            self._did = self._expected = found
        return self._did

    async def call(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        params: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        repeat: bool | None = None,
    ) -> Any:
        """Call the venue and return the JSON of its answer.

        A call that changes nothing, or that a key merges, is repeated while the venue is unreachable; one
        that it called too fast is repeated always, for nothing has happened. Raises Refused, Unreachable.
        """
        options = {"json": json, "params": params, "headers": await self.headers(headers)}
        may_repeat = method == "GET" if repeat is None else repeat
        answer = await self._patiently(method, path, options, repeat=may_repeat)
        return answer.json() if answer.content else None

    def stream(self, path: str, headers: dict[str, str]) -> Any:
        """A stream of server-sent events, open for as long as the block lasts; a heartbeat comes every few
        seconds.
        """
        accept = {"Accept": "text/event-stream", **headers}
        return self._client.stream("GET", path, headers=accept, timeout=httpx.Timeout(30.0, connect=10.0))

    async def headers(self, more: dict[str, str] | None = None) -> dict[str, str]:
        """The Authorization of a call, fresh, and what else is given."""
        bearer = self._credential.bearer(await self.did())
        return {**({"Authorization": f"Bearer {bearer}"} if bearer else {}), **(more or {})}

    def refusal(self, answer: httpx.Response) -> Refused:
        """What an error answer means."""
        body = _json(answer)
        code, message = str(body.get("code", "unknown")), str(body.get("error", answer.reason_phrase))
        if code in ("not_open", "expired"):
            return Settled(code, answer.status_code, message, str(body.get("how", "")), body.get("when"))
        if answer.status_code == 429:
            return TooFast(code, 429, message)
        if answer.status_code != 401:
            return Refused(code, answer.status_code, message)
        skew = self._skew(answer)
        if abs(skew) > _SKEW:
            return ClockSkew(code, 401, message, skew)
        return NotAuthenticated(code, 401, f"{message}. Check the key or token")

    async def _patiently(
        self, method: str, path: str, options: dict[str, Any], *, repeat: bool
    ) -> httpx.Response:
        loop = asyncio.get_running_loop()
        end, pause = loop.time() + self._patience, _FIRST_PAUSE
        while True:
            try:
                answer = await self._client.request(method, path, **options)
            except httpx.HTTPError as error:
                wait = pause
                if not repeat or loop.time() + wait > end:
                    raise self._unreachable(error) from error
            else:
                if not answer.is_error:
                    return answer
                wait = max(pause, _retry_after(answer))
                again = answer.status_code == 429 or (repeat and answer.status_code >= 502)
                if not again or loop.time() + wait > end:
                    raise self.refusal(answer)
            await asyncio.sleep(wait * random.uniform(0.8, 1.2))  # noqa: S311 - it only spreads the load
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _unreachable(self, error: httpx.HTTPError) -> Unreachable:
        return Unreachable(
            f"The venue at {self.base} cannot be reached ({type(error).__name__}). Is it running?"
        )

    def _skew(self, answer: httpx.Response) -> int:
        """How far this clock is ahead of the venue's, in seconds; 0 when the venue does not say."""
        try:
            theirs = parsedate_to_datetime(answer.headers["date"])
        except (KeyError, ValueError):
            return 0
        return int((self._clock() - theirs).total_seconds())


def _retry_after(answer: httpx.Response) -> float:
    text = answer.headers.get("retry-after", "")
    return float(text) if text.isdigit() else 0.0


def _json(answer: httpx.Response) -> dict[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
