"""The TypeScript SDK, request by request: what it sends, and what it needs of the answers (`wire.md` 1).

The SDK is on no registry; tests/data/typescript.json holds the exchanges, in the order of one client's life.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.harness.actors import Actor, new_signer

from .conftest import House

DATA = json.loads((Path(__file__).parents[1] / "data" / "typescript.json").read_text(encoding="utf-8"))
EXCHANGES = DATA["exchanges"]
LACKS = re.compile(r"\bEndpoint (GET|POST|PUT|DELETE|PATCH|HEAD) /")
"""By these words the SDK concludes that the venue lacks a feature, for the rest of the connection."""

TYPES = {"string": str, "array": list, "object": dict, "number": (int, float)}
HOST = "venue.example"


class Client:
    """What the SDK keeps between its calls."""

    def __init__(self, house: House) -> None:
        self.house = house
        people = {
            name: Actor(house.http, house.did, signer=new_signer(), now=self._now)
            for name in ("user", "other")
        }
        self.people = people
        self.known: dict[str, Any] = {
            "venue": house.did,
            "api": f"https://{HOST}/api/v1",
            "soon": house.clock.seconds + 3_600,
            **{name: person.did for name, person in people.items()},
        }

    def _now(self) -> int:
        return self.house.clock.seconds

    def bearer(self, who: str) -> dict[str, str]:
        """A fresh bearer as the SDK signs it: with the audience and the bare multikey as `kid`."""
        return {} if who == "nobody" else self.people[who].headers()

    def filled(self, value: Any) -> Any:
        """The value with `$name` replaced by what is known under that name."""
        if isinstance(value, dict):
            return {key: self.filled(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.filled(inner) for inner in value]
        if not isinstance(value, str):
            return value
        if value.removeprefix("$") in self.known and value.startswith("$"):
            return self.known[value[1:]]
        return re.sub(r"\$([a-z]+)", lambda found: str(self.known[found[1]]), value)


@pytest.fixture(scope="module")
def client(open_house: Callable[..., House]) -> Client:
    """A client of a venue with a public host, and so with a did:web."""
    house = open_house(public_url=f"https://{HOST}", users={"auto_create": True})
    house.http.headers["host"] = HOST
    assert house.did == f"did:web:{HOST}"
    return Client(house)


def at(value: Any, place: str) -> Any:
    """What stands at a dotted place."""
    for part in filter(None, place.split(".")):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def fits(found: Any, need: str, client: Client) -> bool:
    """Whether something is what the SDK needs there."""
    if need == "job":
        return bool(re.fullmatch("0x[0-9a-f]{32}", found))
    if need == "endpoint":
        return bool(LACKS.search(found))
    if need.startswith("$"):
        return bool(found == client.filled(need))
    if need.startswith("="):
        literal = need[1:]
        return json.dumps(found) == literal or found == literal
    return isinstance(found, TYPES[need]) and found != ""  # type: ignore[arg-type]


def test_one_life_of_a_client(client: Client) -> None:
    """Every exchange in its order; each answer is JSON that is not empty, in the shape that is needed."""
    for exchange in EXCHANGES:
        name, request = exchange["name"], exchange["request"]
        sent = client.bearer(request["as"])
        body = request.get("body")
        if body is not None:
            sent["Content-Type"] = "application/json"
        answer = client.house.http.request(
            request["method"],
            client.filled(request["path"]),
            headers=sent,
            content=None if body is None else json.dumps(client.filled(body)),
        )
        assert answer.status_code == exchange["status"], (name, answer.text)
        assert re.match(r"application/(did\+)?json", answer.headers["content-type"]), name
        found = answer.json()
        for place, need in exchange["needs"].items():
            assert fits(at(found, place), need, client), (name, place, found)
        if "endpoint" not in exchange["needs"].values():
            assert not LACKS.search(answer.text), name
        for key, place in exchange.get("keep", {}).items():
            client.known[key] = at(found, place)


def split_as_typescript(text: str) -> list[dict[str, str]]:
    """Events as the SDK splits them: at line feeds alone, data joined by line feeds, comments left out."""
    events: list[dict[str, str]] = []
    event: dict[str, str] = {}
    for line in text.split("\n"):
        if line == "":
            if event:
                events.append(event)
            event = {}
        elif not line.startswith(":"):
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            event[field] = f"{event[field]}\n{value}" if field == "data" and "data" in event else value
    return events


@pytest.mark.parametrize("accept", ["text/event-stream", "*/*", None])
def test_stream_as_typescript_splits_it(client: Client, accept: str | None) -> None:
    """A finished job is one whole frame and the end, whatever its texts hold; errors are JSON."""
    owner = client.people["user"]
    job_id = owner.ask(description="a\r\nb\u2028c\u0085d\ne: f\n\ng")
    owner.respond(job_id, "reject", comment="no\r\n\r\nno").ok()
    headers = {**owner.headers(), **({} if accept is None else {"Accept": accept})}
    answer = client.house.http.get(f"/api/v1/jobs/{job_id}/sse", headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert "\r" not in answer.text
    (event,) = split_as_typescript(answer.text)
    assert event["event"] == "job-update"
    assert json.loads(event["data"]) == owner.job(job_id).ok()
    refused = client.house.http.get(f"/api/v1/jobs/{'0' * 32}/sse", headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")


def test_stream_of_a_waiting_job(client: Client) -> None:
    """One frame at once, one for each change, the finished record last, then the end."""
    owner = client.people["user"]
    job_id = owner.ask()
    with client.house.http.stream("GET", f"/api/v1/jobs/{job_id}/sse", headers=owner.headers()) as answer:
        pieces = answer.iter_text()
        text = next(pieces)
        owner.respond(job_id, answers={"ok": True}).ok()
        text += "".join(pieces)
    records = [json.loads(event["data"]) for event in split_as_typescript(text)]
    assert [record["status"] for record in records] == ["INPUT_REQUIRED", "COMPLETE"]
    assert records[-1] == owner.job(job_id).ok()
