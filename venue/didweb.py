"""The keys of did:web principals, learnt before a token is judged (D2, D7): https only, public addresses
only.

Verification is pure and asks nobody; so whatever a token names is fetched first, kept for minutes, and looked
up then. What cannot be fetched has no key, and what it signed is refused.
"""

import asyncio
import contextlib
import ipaddress
import logging
import socket
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx

from inbox.clock import Clock, millis
from ucan.did import PublicKey, agent_id_of, managed_by, public_key, web_url
from ucan.errors import UcanError
from ucan.jwt import read
from ucan.strict import loads

log = logging.getLogger("venue.didweb")

Fetch = Callable[[str], Awaitable[bytes]]
"""Fetches the document at an https URL, or raises."""

_KEPT_MS = 5 * 60 * 1000
_FORGOTTEN_MS = 30 * 1000
_TIMEOUT = 5.0
_LARGEST = 64 * 1024
_MOST = 16
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


class DidWeb:
    """Remembers the keys of did:web principals for some minutes, and failures for half a minute.

    `venue` are the DIDs of this venue: its own keys, and those of its users and of agents, are no affair of
    the web.
    """

    def __init__(self, fetch: Fetch, clock: Clock, venue: Collection[str] = ()) -> None:
        self._fetch = fetch
        self._clock = clock
        self._venue = venue
        self._known: dict[str, tuple[Sequence[PublicKey], int]] = {}

    def keys(self, did: str) -> Sequence[PublicKey]:
        """The keys that were learnt of a principal; none when its document is not known."""
        found, until = self._known.get(did, ((), 0))
        return found if until > millis(self._clock()) else ()

    async def learn(self, tokens: Sequence[str]) -> None:
        """Fetch the documents of every did:web that these tokens, or the proofs in them, were issued by."""
        now = millis(self._clock())
        foreign = {did for did in _issuers(tokens) if not self._is_ours(did)}
        wanted = {did for did in foreign if self._known.get(did, ((), 0))[1] <= now}
        if wanted:
            self._known = {did: known for did, known in self._known.items() if known[1] > now}
            await asyncio.gather(*(self._learn_one(did, now) for did in sorted(wanted)[:_MOST]))

    def _is_ours(self, did: str) -> bool:
        return did in self._venue or managed_by(did) in self._venue or agent_id_of(did) is not None

    async def _learn_one(self, did: str, now: int) -> None:
        try:
            async with asyncio.timeout(_TIMEOUT):
                found = _keys_in(loads(await self._fetch(web_url(did))), did)
        except (OSError, ValueError, UcanError, httpx.HTTPError) as error:
            log.warning("the document of %s could not be used: %s", did, type(error).__name__)
            self._known[did] = ((), now + _FORGOTTEN_MS)
        else:
            self._known[did] = (found, now + _KEPT_MS)


async def fetch_public(url: str) -> bytes:
    """Fetch from a public address, never from this machine or a private network, and follow nothing.

    The address is resolved once and connected to as it was checked, so that a name cannot change in between.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 443
    address = await _public_address(host, port)
    literal = f"[{address}]" if ":" in address else address
    async with httpx.AsyncClient(timeout=_TIMEOUT, follow_redirects=False, trust_env=False) as client:
        request = client.build_request(
            "GET",
            f"https://{literal}:{port}{parts.path}",
            headers={"Host": parts.netloc, "Accept": "application/did+json, application/json"},
            extensions={"sni_hostname": host},
        )
        response = await client.send(request, stream=True)
        response.raise_for_status()
        body = b""
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > _LARGEST:
                raise ValueError("the document is too large")
        return body


async def _public_address(host: str, port: int) -> str:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in found]
    if not addresses or not all(_is_public(ipaddress.ip_address(address)) for address in addresses):
        raise ValueError("the host is not on a public address")
    return addresses[0]


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address is out there; one that carries another within is judged by that one."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in _NAT64:
            return _is_public(ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF))
        if address.sixtofour is not None:
            return _is_public(address.sixtofour)
    return address.is_global and not address.is_multicast


def _issuers(tokens: Sequence[str]) -> Iterator[str]:
    """The did:web issuers named by tokens and the proofs in them, unverified, at most as many as a chain may
    have.
    """
    waiting, seen = list(tokens), 0
    while waiting and seen <= _MOST:
        seen += 1
        try:
            claims = read(waiting.pop()).claims
        except UcanError:
            continue
        issuer, proofs = claims.get("iss"), claims.get("prf")
        if isinstance(issuer, str) and issuer.startswith("did:web:"):
            yield issuer
        if isinstance(proofs, list):
            waiting += [proof for proof in proofs if isinstance(proof, str)]


def _keys_in(document: Any, did: str) -> Sequence[PublicKey]:
    """The Multikeys of a document that are its subject's own; a method of another kind gives nothing.

    Raises ValueError for a document of somebody else, or without any such key.
    """
    if not isinstance(document, dict) or document.get("id") != did:
        raise ValueError("the document is about another DID")
    methods = document.get("verificationMethod")
    keys = [*_keys_of(methods if isinstance(methods, list) else [], did)][:_MOST]
    if not keys:
        raise ValueError("the document lists no key that is understood here")
    return keys


def _keys_of(methods: Sequence[Any], did: str) -> Iterator[PublicKey]:
    for method in methods:
        if isinstance(method, dict) and method.get("controller") == did:
            with contextlib.suppress(UcanError):
                yield public_key(f"did:key:{method.get('publicKeyMultibase')}")
