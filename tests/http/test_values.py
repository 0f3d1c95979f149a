"""Reads by path (`wire.md` 4; D24): what was written comes back equal, whole or in parts, by every way in."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.harness.actors import Actor, Reply

from .conftest import House

KEYS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=8)
SAFE = st.text("abcxyz0189_-.~!é日", min_size=1, max_size=6).filter(lambda key: key not in (".", ".."))
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | KEYS
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(SAFE, inner, max_size=4),
    max_leaves=12,
)
TREE = {"map": {"a": 1, "b": {"c": [10, {"d": None}]}}, "list": ["x", "y", "z"], "text": "t", "null": None}


@pytest.fixture(scope="module")
def owner(house: House) -> Actor:
    """Whose workspace it is."""
    person = house.owner()
    person.run("v/ops/covia/write", {"path": "w/tree", "value": TREE}).ok()
    return person


def get(actor: Actor, form: str, path: str, **query: Any) -> Reply:
    """A GET of one of the read forms."""
    headers = query.pop("headers", {})
    return actor.request("GET", f"/api/v1/values/{form}", params={"path": path, **query}, headers=headers)


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 is not true, and is 1.0."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def places(value: Any, path: tuple[str, ...] = ()) -> Any:
    """Every place of a document, with what stands there."""
    yield path, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*path, str(index)))


@settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(document=DOCUMENTS)
def test_what_is_written_reads_back_equal(owner: Actor, document: Any) -> None:
    """At every depth, by GET and by operation, whole, listed and sliced."""
    owner.run("v/ops/covia/write", {"path": "w/any", "value": document}).ok()
    for path, value in list(places(document))[:12]:
        where = "/".join(("w/any", *path))
        found = get(owner, "read", where).ok()
        assert found["exists"] is True
        assert same(found["value"], value)
        assert owner.run("v/ops/covia/read", {"path": where}).ok() == found
        assert owner.run("v/ops/covia/read", {"path": ["w", "any", *path]}).ok() == found
        listed = get(owner, "list", where).ok()
        if isinstance(value, dict):
            assert listed["keys"] == sorted(value)
            page = get(owner, "slice", where).ok()["values"]
            assert same({entry["key"]: entry["value"] for entry in page}, value)
        elif isinstance(value, list):
            assert listed["count"] == len(value)
            assert same(get(owner, "slice", where).ok()["values"], value)


@settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(key=KEYS)
def test_any_key_is_stored_and_found_or_refused_with_a_word(owner: Actor, key: str) -> None:
    """As a path of keys every key goes; as a path of text only what a path can say (D6)."""
    written = owner.run("v/ops/covia/write", {"path": ["w", "keys", key], "value": key})
    if written.status == 200:
        assert owner.run("v/ops/covia/read", {"path": ["w", "keys", key]}).ok()["value"] == key
    else:
        assert written.code == "invalid_input"
    found = get(owner, "read", f"w/keys/{key}")
    assert found.status == 200 or found.code == "invalid_input"


TYPES = [
    ("w/tree", "Map"),
    ("w/tree/list", "Vector"),
    ("w/tree/text", "String"),
    ("w/tree/null", "Nil"),
    ("w/tree/map/a", "Long"),
    ("w/none", "Nil"),
    ("h", "Map"),
    ("j", "Map"),
    ("v", "Map"),
    ("/", "Map"),
]


@pytest.mark.parametrize(("path", "type_"), TYPES)
def test_types_have_the_protocols_words(owner: Actor, path: str, type_: str) -> None:
    """And absence is told from a stored null."""
    found = get(owner, "list", path).ok()
    assert (found["type"], found["exists"]) == (type_, path != "w/none")


def test_absence_null_and_too_large_are_three_answers(owner: Actor) -> None:
    """`wire.md` 4.2, letter for letter."""
    assert get(owner, "read", "w/none").ok() == {"exists": False, "value": None, "valueBytes": 0}
    assert get(owner, "read", "w/tree/null").ok() == {"exists": True, "value": None, "valueBytes": 4}
    cut = {"exists": True, "type": "Vector", "value": None, "truncated": True, "valueBytes": 13}
    assert get(owner, "read", "w/tree/list", maxSize=12).ok() == cut
    assert get(owner, "read", "w/tree/list", maxSize=13).ok()["value"] == ["x", "y", "z"]
    assert get(owner, "slice", "w/none").ok() == {"exists": False}
    assert get(owner, "aggregate", "w/none").ok() == {"exists": False}
    assert get(owner, "list", "w/none").ok() == {"exists": False, "type": "Nil"}


@pytest.mark.parametrize("path", ["w/tree/map/b/c/1/d", "/w/tree/map/b/c/1/d", "w/tree/map/b/c/1/d/"])
def test_deep_paths_go_through_maps_and_vectors(owner: Actor, path: str) -> None:
    """A leading and a trailing slash make no difference."""
    assert get(owner, "read", path).ok() == {"exists": True, "value": None, "valueBytes": 4}
    assert get(owner, "read", path.replace("/1/", "/01/")).ok()["exists"] is False


def test_etag_spares_what_the_client_has(owner: Actor) -> None:
    """304 to the same tag, weak or in a list or as a star; never for what is absent or cut."""
    first = get(owner, "read", "w/tree")
    tag = first.headers["etag"]
    assert tag.startswith('"0x')
    assert len(tag) == 68
    for known in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        again = get(owner, "read", "w/tree", headers={"If-None-Match": known})
        assert (again.status, again.body, again.headers["etag"]) == (304, "", tag)
    assert get(owner, "read", "w/tree", headers={"If-None-Match": '"0x00"'}).status == 200
    for path, query in (("w/none", {}), ("w/tree", {"maxSize": 3})):
        bare = get(owner, "read", path, headers={"If-None-Match": "*"}, **query)
        assert (bare.status, "etag" in bare.headers) == (200, False)


def test_pages_of_values_run_to_the_end(owner: Actor) -> None:
    """Keys and elements come page by page, each once, and a page beyond the end is empty."""
    owner.run("v/ops/covia/write", {"path": "w/pages", "value": {f"k{n:02}": n for n in range(25)}}).ok()
    owner.run("v/ops/covia/write", {"path": "w/vector", "value": list(range(25))}).ok()
    keys: list[str] = []
    while page := get(owner, "list", "w/pages", offset=len(keys), limit=10).ok()["keys"]:
        keys += page
    assert keys == [f"k{n:02}" for n in range(25)]
    for path in ("w/pages", "w/vector"):
        found: list[Any] = []
        while page := get(owner, "slice", path, offset=len(found), limit=10).ok()["values"]:
            found += page
        assert [entry if isinstance(entry, int) else entry["value"] for entry in found] == list(range(25))
    assert get(owner, "slice", "w/vector", limit=25, maxSize=10).code == "invalid_input"
    assert get(owner, "slice", "w/tree/text").code == "invalid_input"


def test_fields_show_what_stands_below_each_key(owner: Actor) -> None:
    """Present, absent, deep; what does not fit is cut; not on what has no keys, and not too many."""
    owner.run(
        "v/ops/covia/write", {"path": "w/rows", "value": {"a": {"n": 1, "d": {"x": "y"}}, "b": {"n": "2"}}}
    )
    shown = get(owner, "list", "w/rows", fields="n,d/x").ok()["values"]
    assert shown["a"] == {"n": {"exists": True, "value": 1}, "d/x": {"exists": True, "value": "y"}}
    assert shown["b"]["d/x"] == {"exists": False, "value": None}
    small = get(owner, "list", "w/rows", fields="n,d/x", maxSize=1).ok()["values"]
    assert small["a"]["n"] == {"exists": True, "value": 1}
    assert small["b"]["n"] == {"exists": True, "value": None, "truncated": True}
    assert get(owner, "list", "w/tree/list", fields="n").code == "invalid_input"
    assert get(owner, "list", "w/rows", fields=",".join("abcdefghijklmnopq")).code == "invalid_input"
    data = {"path": "w/rows", "fields": ["n", "d/x"], "maxSize": 1}
    assert owner.run("v/ops/covia/list", data).ok()["values"] == small


def test_inspect_keeps_to_its_budget(owner: Actor) -> None:
    """One text, or one for each path; a missing path says so; what is left out is counted."""
    whole = get(owner, "inspect", "w/tree/list").ok()["result"]
    assert json.loads(whole) == ["x", "y", "z"]
    owner.run("v/ops/covia/write", {"path": "w/wide", "value": list(range(1000))}).ok()
    short = get(owner, "inspect", "w/wide", budget=40).ok()["result"]
    assert len(short) < 100
    assert "more */" in short
    assert "\n" in get(owner, "inspect", "w/tree", compact="false").ok()["result"]
    many = owner.run("v/ops/covia/inspect", {"paths": ["w/tree/text", "w/none"]}).ok()["result"]
    assert many == {"w/tree/text": '"t"', "w/none": "null /* nothing at w/none */"}
    assert owner.run("v/ops/covia/inspect", {"paths": "w/tree/text"}).ok()["result"] == '"t"'
    for wrong in ({}, {"paths": []}, {"path": "w", "paths": ["w"]}):
        assert owner.run("v/ops/covia/inspect", wrong).code == "invalid_input"


def test_counts_and_groups(owner: Actor) -> None:
    """By depth, by a field, and what has no such field under null."""
    rows = {"a": {"s": "open"}, "b": {"s": "done"}, "c": {"s": "open"}, "d": {}}
    owner.run("v/ops/covia/write", {"path": "w/states", "value": rows}).ok()
    grouped = get(owner, "aggregate", "w/states", groupBy="s").ok()
    assert grouped == {
        "exists": True,
        "count": 4,
        "groups": {"open": {"count": 2}, "done": {"count": 1}, "null": {"count": 1}},
    }
    assert get(owner, "count", "w/states").ok() == {"exists": True, "count": 4}
    assert get(owner, "count", "w/states", depth=0).ok()["count"] == 1
    assert get(owner, "count", "w/states", depth=2).ok()["count"] == 3
    assert get(owner, "count", "w/states", depth=9).ok()["count"] == 0
    assert get(owner, "count", "w/tree/text").ok() == {"exists": False}


def test_views_of_inbox_jobs_and_catalogue(house: House, owner: Actor) -> None:
    """`h/`, `j/` and `v/` are read like documents, whole or deep, and written by nobody."""
    job_id = owner.ask(title="Look?")
    record = get(owner, "read", f"h/{job_id}").ok()["value"]
    assert (record["id"], record["title"], record["status"]) == (job_id, "Look?", "open")
    assert get(owner, "read", f"h/{job_id}/asks/0/prompt").ok()["value"] == "OK?"
    assert job_id in get(owner, "list", "h").ok()["keys"]
    listed = get(owner, "list", "h", fields="title,status").ok()["values"][job_id]
    assert listed["title"] == {"exists": True, "value": "Look?"}
    assert get(owner, "aggregate", "h", groupBy="status").ok()["groups"]["open"]["count"] >= 1
    assert get(owner, "read", f"j/{job_id}/status").ok()["value"] == "INPUT_REQUIRED"
    assert get(owner, "read", f"j/{job_id}").ok()["value"] == owner.job(job_id).ok()
    stranger = house.stranger()
    for path in ("v/ops/hitl/request", "v/info/adapters/hitl", "v/skills/agents/hitl"):
        assert get(stranger, "read", path).ok()["exists"] is True
    for path in (f"h/{job_id}/status", f"j/{job_id}", "v/x", "a/x", "h/new"):
        for operation in ("write", "append"):
            refused = owner.run(f"v/ops/covia/{operation}", {"path": path, "value": 1})
            assert refused.code == "not_writable", (path, operation)
        copied = owner.run("v/ops/covia/copy", {"from": "w/tree", "to": path})
        assert copied.code == "not_writable", path
    owner.cancel(job_id).ok()


@pytest.mark.parametrize("spelled", ["{}", "0x{}", "0X{}"])
def test_ids_with_and_without_their_mark(owner: Actor, spelled: str) -> None:
    """Every entrance strips one 0x and compares without case (D13)."""
    job_id = owner.ask()
    name = spelled.format(job_id.upper())
    assert owner.job(name).ok()["id"] == f"0x{job_id}"
    assert get(owner, "read", f"h/{name}").ok()["value"]["id"] == job_id
    assert get(owner, "read", f"j/{name}/status").ok()["exists"] is True
    for part in ("history", "sse"):
        assert owner.request("HEAD", f"/api/v1/jobs/{name}/{part}").status == 200
    assert owner.respond(name, "reject").ok() == {"id": job_id, "status": "rejected"}
    assert owner.cancel(name).ok()["status"] == "FAILED"
    assert owner.request("GET", f"/api/v1/jobs/{name}/receipt").status == 200
    assert owner.run("v/ops/covia/delete", {"path": f"h/{name}"}).ok() == {"deleted": True}
    assert owner.request("PUT", f"/api/v1/jobs/{name}/delete").ok() == {"deleted": True}
    assert owner.job(name).code == "not_found"


def test_proofs_in_the_header_open_what_they_say(house: House, owner: Actor) -> None:
    """`X-Covia-Ucans` on every body-less read of values and jobs, and on the stream; bad ones are dropped."""
    other = house.owner()
    job_id = owner.ask()
    proofs = [
        owner.grant(other.did, "w/tree", "crud/read"),
        "nonsense",
        owner.grant(other.did, f"j/{job_id}", "crud/read"),
    ]
    header = {"X-Covia-Ucans": " , ".join(proofs)}
    for form in ("read", "list", "slice", "inspect", "count", "aggregate"):
        foreign = f"{owner.did}/w/tree/list"
        assert get(other, form, foreign, headers=header).status == 200, form
        assert get(other, form, foreign).code == "denied"
        assert get(other, form, f"{owner.did}/w/pages", headers=header).code == "denied"
        assert get(house.stranger(), form, foreign, headers=header).code == "auth_required"
    for part in ("", "/history", "/sse"):
        path = f"/api/v1/jobs/{job_id}{part}"
        assert other.request("HEAD", path, headers=header).status == 200
        assert other.request("HEAD", path).status == 404
    seen = other.request("PUT", f"/api/v1/jobs/{job_id}/cancel", headers=header)
    assert seen.code == "not_found"
    owner.cancel(job_id).ok()


def test_job_pages(house: House) -> None:
    """Oldest first, in bare hex; before the beginning is the beginning, and no more than a thousand."""
    owner = house.owner()
    ids = [owner.ask() for _ in range(3)]

    def page(**query: Any) -> Reply:
        return owner.request("GET", "/api/v1/jobs", params=query)

    assert page().ok() == {"items": ids, "total": 3, "offset": 0, "limit": 1000}
    assert page(offset=1, limit=1).ok() == {"items": ids[1:2], "total": 3, "offset": 1, "limit": 1}
    assert page(offset=-5, limit=2).ok()["items"] == ids[:2]
    assert page(offset=9).ok()["items"] == []
    assert page(limit=0).ok()["items"] == []
    for wrong in ({"limit": -1}, {"limit": 1001}, {"limit": "x"}, {"offset": "1.0"}, {"limit": [1, 2]}):
        assert page(**wrong).code == "invalid_input", wrong


def test_operations_by_path_raw_or_encoded(house: House) -> None:
    """Slashes as they are, or as %2F; whatever is not there is a missing resource, not a missing endpoint."""
    stranger = house.stranger()
    for name in ("v/ops/hitl/request", quote("v/ops/hitl/request", safe=""), "hitl:request"):
        assert stranger.request("GET", f"/api/v1/operations/{name}").ok()["name"] == "v/ops/hitl/request"
    for missing in ("operations/v/ops/none", "adapters/none/operations"):
        reply = stranger.request("GET", f"/api/v1/{missing}")
        assert (reply.status, reply.code) == (404, "not_found")
        assert not reply.body["error"].startswith("Endpoint")
    adapter = stranger.request("GET", "/api/v1/adapters/hitl/operations").ok()
    assert adapter["v/ops/hitl/request"]["operation"]["adapter"] == "hitl:request"
    assert stranger.request("GET", "/api/v1/assets").code == "auth_required"
    assert stranger.request("GET", "/api/v1/agents").body["error"] == "Endpoint GET /api/v1/agents not found"
    assert stranger.request("GET", "/api/v1/jobs/").code == "no_endpoint"
