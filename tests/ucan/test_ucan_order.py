"""Coverage is a partial order on capabilities, by properties; and the rows of D6, by example."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ucan_kit import ALICE, BOB

from ucan import Capability, Malformed
from ucan.capability import (
    absolute,
    covers_ability,
    covers_resource,
    parse,
    parse_configured,
    split,
)
from ucan.caveats import url_covers

A = ALICE.did

# Few names and short paths, so that neighbours meet often.
names = st.sampled_from(["w", "h", "report", "reports", "...", "a:b"])
resources = st.builds(
    lambda owner, path, slash: "/".join([owner, *path]) + slash,
    st.sampled_from([A, BOB.did, f"{A}:g:x"]),
    st.lists(names, max_size=3),
    st.sampled_from(["", "/"]),
)
abilities = st.one_of(
    st.just("*"), st.lists(st.sampled_from(["crud", "read", "grant"]), min_size=1, max_size=3).map("/".join)
)
caveats = st.one_of(
    st.none(),
    st.dictionaries(st.sampled_from(["url", "gate"]), st.sampled_from(["x", 1, True, 1.0]), min_size=1),
)
capabilities = st.builds(Capability, resources, abilities, caveats)
many = settings(max_examples=500, deadline=None, database=None)


@many
@given(capabilities)
def test_reflexive(a: Capability) -> None:
    """Each covers itself."""
    assert a.covers(a)


@many
@given(capabilities, capabilities)
def test_antisymmetric(a: Capability, b: Capability) -> None:
    """Two that cover each other are one but for a trailing slash."""
    if a.covers(b) and b.covers(a):
        assert (a.resource, a.can, repr(sorted((a.nb or {}).items()))) == (
            b.resource,
            b.can,
            repr(sorted((b.nb or {}).items())),
        )


@many
@given(capabilities, capabilities, capabilities)
def test_transitive(a: Capability, b: Capability, c: Capability) -> None:
    """What is inside what is inside is inside."""
    if a.covers(b) and b.covers(c):
        assert a.covers(c)


@many
@given(resources, resources)
def test_coverage_is_by_segments(a: str, b: str) -> None:
    """The string comparison says what comparing owners and segments one by one says."""
    (owner_a, path_a), (owner_b, path_b) = split(a), split(b)
    assert covers_resource(a, b) == (owner_a == owner_b and path_b[: len(path_a)] == path_a)


@many
@given(resources, st.text(max_size=12))
def test_absolute_is_settled(resource: str, text: str) -> None:
    """Making absolute what is absolute changes nothing; what is accepted splits into plain segments."""
    assert absolute(resource, BOB.did) == resource
    try:
        made = absolute(text, A)
    except Malformed:
        return
    assert absolute(made, BOB.did) == made
    assert not {"", ".", ".."} & set(split(made)[1])


@pytest.mark.parametrize(
    ("path", "made"),
    [
        ("w/reports/", f"{A}/w/reports/"),
        ("/w/reports", f"{A}/w/reports"),
        ("w", f"{A}/w"),
        (f"{BOB.did}/w/", f"{BOB.did}/w/"),
        (BOB.did, BOB.did),
        ("did:web:a.example%3A8080:u:mia/w", "did:web:a.example%3A8080:u:mia/w"),
        ("w/caf\N{LATIN SMALL LETTER E WITH ACUTE}/\N{FAMILY}", f"{A}/w/caf\u00e9/\N{FAMILY}"),
        ("w/a:b?c#d", f"{A}/w/a:b?c#d"),
    ],
)
def test_absolute(path: str, made: str) -> None:
    """D6: spelled as offered, only made absolute."""
    assert absolute(path, A) == made


@pytest.mark.parametrize(
    "path",
    [
        "", "/", "//w", "w//x", "w/./x", "w/..", "../w", ".", "w/%2e", "w\\x", "w/\x00", "w/\x7f", "w/\x85",
        "w/\u202ex", "w/\u2066", "w/\u200f", "w/\u2028", "w/\ud800", "did:", "did:key", "DID:key:x/w",
        "did:a:b//w",
        "did:a:b/../w", "did:a:b#c/w", "did:a:b?c/w", f"{A}:g:x:g:y/w", "https://a.example/w", "mailto:a/w",
    ],
)  # fmt: skip
def test_absolute_refuses(path: str) -> None:
    """D6: refused, not normalised."""
    with pytest.raises(Malformed):
        absolute(path, A)


@pytest.mark.parametrize(
    ("held", "asked", "covered"),
    [
        ("crud", "crud", True), ("crud", "crud/read", True), ("*", "anything/at/all", True), ("*", "*", True),
        ("crud", "crude", False), ("crud/read", "crud", False), ("crud", "*", False), ("crud/*",
        "crud/read", False),
        ("crud/", "crud/read", False), ("crud", "crud//read", False), ("", "crud", False), ("crud", "",
        False),
        ("grant/crud", "crud", False), ("crud", "grant/crud", False), ("crud", "crud/a b", False),
        ("crud", "crud/\u202e", False),
    ],
)  # fmt: skip
def test_abilities(held: str, asked: str, covered: bool) -> None:
    """D6, by example."""
    assert covers_ability(held, asked) is covered


def test_an_empty_with_is_a_wildcard_in_configured_caps_only() -> None:
    """D6: nothing at all in a signed token."""
    entry = {"with": "", "can": "crud"}
    assert parse_configured(entry, A) == Capability(A, "crud")
    with pytest.raises(Malformed):
        parse(entry, A)


@pytest.mark.parametrize(
    "entry",
    [
        None, [], "x", {}, {"with": "w"}, {"can": "crud"}, {"with": None, "can": "crud"}, {"with": 1,
        "can": "crud"},
        {"with": "w", "can": None}, {"with": "w", "can": ["crud"]}, {"with": "w", "can": "a b"},
        {"with": "w", "can": "crud", "nb": None}, {"with": "w", "can": "crud", "nb": []},
        {"with": "w", "can": "crud", "wiht": "w/x"},
    ],
)  # fmt: skip
def test_a_malformed_entry(entry: object) -> None:
    """Also an unknown key: it could be a misspelt limit."""
    with pytest.raises(Malformed):
        parse(entry, A)


def test_a_kept_caveat_is_kept_verbatim() -> None:
    """True is not 1, and {} is no caveat."""
    held = parse({"with": "w", "can": "crud", "nb": {"gate": True}}, A)
    assert held.covers(parse({"with": "w/x", "can": "crud", "nb": {"gate": True, "url": "u"}}, A))
    assert not held.covers(parse({"with": "w/x", "can": "crud", "nb": {"gate": 1}}, A))
    assert not held.covers(parse({"with": "w/x", "can": "crud"}, A))
    assert parse({"with": "w", "can": "crud", "nb": {}}, A).nb is None
    assert parse(held.as_claim(), A) == held


@pytest.mark.parametrize(
    ("bound", "destination", "covered"),
    [
        ("https://a.example/x", "https://a.example/x", True),
        ("https://a.example/x", "HTTPS://A.example:443/x/y?q=1#f", True),
        ("https://a.example", "https://a.example/", True),
        ("https://a.example/", "https://a.example/x", True),
        ("http://[::1]:080/x", "http://[::1]/x", True),
        ("https://a.example/x", "https://a.example/xy", False),
        ("https://a.example/x", "https://a.example/X", False),
        ("https://a.example/x", "http://a.example/x", False),
        ("https://a.example/x", "https://a.example:444/x", False),
        ("https://a.example/x", "https://a.example.evil/x", False),
        ("https://a.example/x", "https://a.example@evil/x", False),
        ("https://a.example/x", "https://u@a.example/x", False),
        ("https://a.example/x", "https://a.example/x/../y", False),
        ("https://a.example/x", "https://a.example/x/..;/y", False),
        ("https://a.example/x", "https://a.example/x/%2E%2e/y", False),
        ("https://a.example/x", "https://a.example/x%2fy", False),
        ("https://a.example/x", "https://a.example/x\\y", False),
        ("https://a.example/x", " https://a.example/x", False),
        ("https://a.example/x", "https://a.example/x\n", False),
        ("https://a.example/x?q=1", "https://a.example/x?q=1", False),
        ("https://a.example/x#f", "https://a.example/x#f", False),
        ("not a url", "not a url", False),
    ],
)
def test_url_caveat(bound: str, destination: str, covered: bool) -> None:
    """D8: the same place or below, in no other spelling."""
    assert url_covers(bound, destination) is covered
