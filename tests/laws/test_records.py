"""Laws of canonical JSON, digests, ids and instants (D13)."""

import json
from datetime import UTC, datetime, timedelta
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inbox.canonical import canonical, digest_of, plain
from inbox.clock import millis
from ops import sweep
from ops.errors import BadInput
from ops.ids import IdSource
from ops.jobs import parse_id
from tests.harness.books import Books
from tests.harness.kernel import ASKS, ECHO, Kernel, kernel

from .conftest import Run

SAFE = 2**53 - 1
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
LEAVES = (
    st.none() | st.booleans() | st.integers(-SAFE, SAFE) | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    LEAVES | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=10,
)


def shuffled(value: Any) -> Any:
    """The same value, its keys in the opposite order at every depth."""
    if isinstance(value, dict):
        return {key: shuffled(value[key]) for key in reversed(value)}
    return [shuffled(element) for element in value] if isinstance(value, list) else value


@given(VALUES)
def test_canonical_text_reads_back_equal_and_is_one(value: Any) -> None:
    """Whoever wrote it in whatever order of keys, the text and the digest are the same."""
    text = canonical(value)
    assert plain(text) == value
    assert canonical(plain(text)) == canonical(shuffled(value)) == text
    assert digest_of(shuffled(value)) == digest_of(value)


@given(VALUES, VALUES)
def test_other_values_have_other_texts(one: Any, other: Any) -> None:
    """And other digests; `1` and `1.0` are one number in JSON, `true` and `1` are not."""
    same = canonical(one) == canonical(other)
    assert same == (digest_of(one) == digest_of(other))
    assert same == (json.dumps(_numbers(one), sort_keys=True) == json.dumps(_numbers(other), sort_keys=True))


def _numbers(value: Any) -> Any:
    """A value whose numbers all are floats, and whose zero has no sign."""
    if isinstance(value, dict):
        return {key: _numbers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_numbers(inner) for inner in value]
    return float(value) + 0.0 if isinstance(value, int | float) and not isinstance(value, bool) else value


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(extra=st.dictionaries(TEXTS.map("x-{}".format), VALUES, max_size=3), how=st.integers(0, 4))
def test_a_record_keeps_its_digest_whatever_becomes_of_it(
    venue: Kernel, run: Run, extra: Any, how: int
) -> None:
    """Only `status` and `response` ever change, and the digest covers all the rest, unknown keys too."""
    owner = venue.person(1)

    async def record(request: str) -> Any:
        found = await venue.invoker.run("v/ops/covia/read", {"path": f"h/{request}"}, owner)
        return found["value"]

    async def scenario() -> None:
        request = await venue.ask(venue.agent(owner), asks=[{**extra, **ASKS[0]}], timeout=10)
        before = await record(request)
        body = {key: value for key, value in before.items() if key not in ("digest", "status")}
        assert before["digest"] == digest_of(body)
        assert before["asks"] == [{**extra, **ASKS[0]}]
        match how:
            case 0:
                await venue.respond(owner, request, digest=before["digest"])
            case 1:
                await venue.respond(owner, request, grants=ECHO, comment="c")
            case 2:
                await venue.respond(owner, request, "reject")
            case 3:
                await venue.desk.cancel(request, None, owner)
            case _:
                venue.clock.advance(10_000)
        after = await record(request)
        assert {k: v for k, v in after.items() if k not in ("status", "response")} == {
            k: v for k, v in before.items() if k != "status"
        }
        assert after["status"] != "open"

    run(scenario)


HEX = st.text("0123456789abcdef", min_size=32, max_size=32)


@given(HEX, st.sampled_from(["", "0x", "0X"]), st.booleans())
def test_an_id_is_read_as_it_was_written(bare: str, prefix: str, upper: bool) -> None:
    """Every entrance strips one `0x` and compares without case; what is stored is bare and lower."""
    assert parse_id(prefix + (bare.upper() if upper else bare)) == bare
    assert parse_id(f"0x{parse_id(bare)}") == bare


@given(st.text(max_size=40) | HEX.map("0x0x{}".format) | HEX.map(" {}".format) | HEX.map("{}\n".format))
def test_what_is_no_id_is_refused(text: str) -> None:
    """Also digits of other scripts, a second prefix, and space around."""
    bare = text[2:] if text[:2] in ("0x", "0X") else text
    if len(bare) == 32 and set(bare) <= set("0123456789abcdefABCDEF"):
        return
    with pytest.raises(BadInput):
        parse_id(text)


@given(st.lists(st.integers(-5_000, 5_000), min_size=2, max_size=50))
def test_ids_strictly_increase_wherever_the_clock_goes(steps: list[int]) -> None:
    """Also while it stands still or runs back; and an id begins with its instant when it ran on."""
    now, numbers = [datetime(2030, 1, 1, tzinfo=UTC)], count()
    source = IdSource(lambda: now[0], lambda size: (2**64 - 1 - next(numbers)).to_bytes(size, "big"))
    made, latest = [], 0
    for step in steps:
        now[0] += timedelta(milliseconds=step)
        made.append(source())
        if millis(now[0]) > latest:
            latest = millis(now[0])
            assert int(made[-1][:12], 16) == latest
    assert all(before < after for before, after in pairwise(made))
    assert [parse_id(one) for one in made] == made


@given(st.integers(0, 2**42), st.integers(0, 999))
def test_an_instant_is_whole_milliseconds(at: int, micros: int) -> None:
    """Rounded down and never otherwise, to the last microsecond before the next."""
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at, microseconds=micros)
    assert millis(instant) == at


def test_ids_of_a_venue_stand_in_the_order_of_posting(venue: Kernel, run: Run) -> None:
    """Across users and operations, as the rows have them."""

    async def scenario() -> list[str]:
        return [await venue.ask(venue.person(1 + number % 3)) for number in range(30)]

    made = run(scenario)
    assert made == sorted(made) == sorted(Books.of(venue.path).jobs)


@pytest.mark.parametrize("gone", ["record", "job"])
def test_ids_go_on_where_an_earlier_process_left(run: Run, tmp_path: Path, gone: str) -> None:
    """Though the clock was set back before the restart, and one half of what had the last id was removed."""

    async def scenario() -> None:
        async with kernel(tmp_path / "kept.db") as venue:
            ada = venue.person(1)
            venue.clock.advance(60_000)
            last = await venue.ask(ada)
            await venue.respond(ada, last, "reject")
            if gone == "record":
                await venue.delete(ada, last)
            else:
                await venue.desk.delete(last, ada)
        books = Books.of(tmp_path / "kept.db")
        assert (last in books.requests, last in books.jobs) == (gone == "job", gone == "record")
        async with kernel(tmp_path / "kept.db") as venue:
            await sweep.launch(venue.db, venue.world)
            assert await venue.ask(venue.person(1)) > last

    run(scenario)
