"""`fetch_public`: a document is fetched from a public address or not at all (D2).

No test reaches the network: names that resolve to this machine need none, and literal addresses are refused
before anything is connected.
"""

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from venue.didweb import fetch_public

NOT_PUBLIC = (
    "127.0.0.1",
    "127.1.2.3",
    "localhost",
    "localhost.",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "[::1]",
    "[::]",
    "[fe80::1]",
    "[fc00::1]",
    "[ff02::1]",
    "[2001:db8::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:10.0.0.1]",
    "[2002:7f00:1::]",
    "[64:ff9b::7f00:1]",
)


@pytest.fixture
def listener() -> Iterator[tuple[int, list[Any]]]:
    """A server on loopback that remembers who connected."""
    seen: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            try:
                while True:
                    connection, address = server.accept()
                    seen.append(address)
                    connection.close()
            except OSError:
                return

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1], seen
        server.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("host", NOT_PUBLIC)
def test_an_address_that_is_not_public(host: str, listener: tuple[int, list[Any]]) -> None:
    """Refused, and nobody was called."""
    port, seen = listener
    with pytest.raises((ValueError, OSError)) as caught:
        asyncio.run(fetch_public(f"https://{host}:{port}/.well-known/did.json"))
    assert not isinstance(caught.value, TimeoutError | ConnectionError)
    assert seen == []


def _resolver(answers: list[list[str]]) -> Any:
    """A resolver that gives other addresses each time it is asked, the last ones for ever."""
    asked: list[Any] = []

    def resolve(host: Any, port: Any, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [
            (
                socket.AF_INET6 if ":" in address else socket.AF_INET,
                socket.SOCK_STREAM,
                6,
                "",
                (address, port),
            )
            for address in addresses
        ]

    return resolve, asked


@pytest.mark.parametrize(
    "addresses", [["10.0.0.1"], ["93.184.215.14", "127.0.0.1"], ["127.0.0.1", "93.184.215.14"], []]
)
def test_a_name_with_any_address_that_is_not_public(
    monkeypatch: pytest.MonkeyPatch, addresses: list[str]
) -> None:
    """One private address among public ones is enough to refuse. There is no name for this without a network
    of one's own, so the resolver is replaced.
    """
    resolve, asked = _resolver([addresses])
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with pytest.raises(ValueError, match="not on a public address"):
        asyncio.run(fetch_public("https://bob.example/.well-known/did.json"))
    assert asked == ["bob.example"]


def test_a_name_that_changes_after_it_was_checked(
    monkeypatch: pytest.MonkeyPatch, listener: tuple[int, list[Any]]
) -> None:
    """Rebinding: the second answer is this machine. It is connected to as it was checked, so nobody calls."""
    port, seen = listener
    resolve, asked = _resolver([["192.0.0.9"], ["127.0.0.1"]])  # a global address that answers nothing
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    connected: list[Any] = []

    async def connect(self: Any, host: str, port: int, **_: Any) -> Any:
        connected.append(host)
        raise OSError("there is no network here")

    monkeypatch.setattr("httpcore._backends.auto.AutoBackend.connect_tcp", connect)
    with pytest.raises(Exception, match="no network"):
        asyncio.run(fetch_public(f"https://bob.example:{port}/.well-known/did.json"))
    assert connected == ["192.0.0.9"]
    assert asked == ["bob.example"]
    assert seen == []
