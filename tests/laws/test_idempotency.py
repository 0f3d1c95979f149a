"""The law of idempotency keys (D20): per actor and operation, one input, one job, as long as the job is."""

from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inbox.errors import InboxError
from ops.errors import IdempotencyConflict, OpsError
from tests.harness.books import Books, connect, dump
from tests.harness.kernel import ASKS, Kernel, kernel

from .conftest import Run

POST, WRITE = "v/ops/hitl/request", "v/ops/covia/write"
REFERENCES = {POST: ("v/ops/hitl/request", "hitl:request"), WRITE: ("v/ops/covia/write", "covia:write")}
INPUTS: dict[str, list[dict[str, Any]]] = {
    POST: [{"title": title, "asks": ASKS} for title in ("A", "B")]
    + [{"title": "A", "asks": ASKS, "timeout": 9}],
    WRITE: [{"path": "w/a", "value": value} for value in (1, True, "1")],
}
CALLS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from([POST, WRITE]),
        st.sampled_from("kl"),
        st.integers(0, 2),
        st.booleans(),
    ),
    min_size=2,
    max_size=8,
)


def made_here(venue: Kernel) -> int:
    """How many jobs there are."""
    with closing(connect(venue.path)) as db:
        return int(db.execute("SELECT COUNT(*) FROM job").fetchone()[0])


def reordered(data: dict[str, Any]) -> dict[str, Any]:
    """The same input, its keys the other way round."""
    return dict(reversed(data.items()))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=CALLS, spelled=st.integers(0, 1))
def test_one_input_is_one_job_and_another_is_a_conflict(
    venue: Kernel, run: Run, calls: Any, spelled: int
) -> None:
    """For each actor and operation on its own; however the input is ordered and the operation is spelled."""

    async def scenario() -> None:
        salt = str(venue.world.new_id())
        agent = venue.agent(venue.person(1))
        actors = [venue.person(1), venue.person(2), agent, venue.agent(venue.person(2))]
        made: dict[tuple[str, str, str], tuple[int, str]] = {}
        for who, operation, key, which, turned in calls:
            caller, data = actors[who], INPUTS[operation][which]
            if caller.is_agent and operation == WRITE:
                continue  # these agents have no caps, and may only ask
            place = (caller.did, operation, key)
            reference = REFERENCES[operation][spelled]
            jobs, known = made_here(venue), len(made)
            call = venue.invoker.invoke(reference, reordered(data) if turned else data, caller, key + salt)
            if place in made and made[place][0] != which:
                with pytest.raises(IdempotencyConflict):
                    await call
            else:
                job = await call
                assert made.setdefault(place, (which, job.id)) == (which, job.id)
            assert made_here(venue) - jobs == len(made) - known
        assert len({job for _, job in made.values()}) == len(made)
        for (maker, _, _), (_, job) in made.items():  # make room for the next example
            await venue.desk.delete(job, next(actor for actor in actors if actor.did == maker))

    run(scenario)


def test_a_key_lives_as_long_as_its_job_and_over_a_restart(run: Run, tmp_path: Any) -> None:
    """It survives what closes the venue, and every end of the request; it goes with the job."""
    path = tmp_path / "kept.db"

    async def scenario() -> None:
        async with kernel(path) as venue:
            owner = venue.person(1)
            first = await venue.invoker.invoke(POST, INPUTS[POST][0], owner, "k")
            await venue.respond(owner, first.id, "reject")
            await venue.delete(owner, first.id)
        async with kernel(path) as venue:
            before = dump(path)
            again = await venue.invoker.invoke(POST, INPUTS[POST][0], owner, "k")
            assert (again.id, again.status.value) == (first.id, "FAILED")
            assert dump(path) == before
            with pytest.raises(IdempotencyConflict):
                await venue.invoker.invoke(POST, INPUTS[POST][1], owner, "k")
            await venue.desk.delete(first.id, owner)
            venue.clock.advance(1)
            other = await venue.invoker.invoke(POST, INPUTS[POST][1], owner, "k")
            assert other.id != first.id
            with pytest.raises(IdempotencyConflict):
                await venue.invoker.invoke(POST, INPUTS[POST][0], owner, "k")

    run(scenario)


def test_an_approval_is_not_taken_for_another_body(venue: Kernel, run: Run) -> None:
    """Approved for 1; the same key for 999,999 is a conflict, and without a key a question of its own."""

    async def scenario() -> None:
        owner = venue.person(1)
        asker = venue.agent(owner)
        small, large = ({"title": f"Pay {amount}", "asks": ASKS} for amount in (1, 999_999))
        job = await venue.invoker.invoke(POST, small, asker, "pay")
        await venue.respond(owner, job.id)
        assert (await venue.invoker.invoke(POST, small, asker, "pay")).output["answers"] == {"ok": True}
        with pytest.raises(IdempotencyConflict):
            await venue.invoker.invoke(POST, large, asker, "pay")
        fresh = await venue.invoker.invoke(POST, large, asker)
        assert fresh.output is None

    run(scenario)


def test_a_refused_call_takes_no_key(venue: Kernel, run: Run) -> None:
    """What was refused may be put right under the same key."""

    async def scenario() -> None:
        owner = venue.person(1)
        with pytest.raises((InboxError, OpsError)):
            await venue.invoker.invoke(POST, {"title": "", "asks": ASKS}, owner, "k")
        job = await venue.invoker.invoke(POST, {"title": "T", "asks": ASKS}, owner, "k")
        assert (await venue.invoker.invoke(POST, {"title": "T", "asks": ASKS}, owner, "k")).id == job.id

    run(scenario)


def test_proofs_are_no_part_of_the_input(venue: Kernel, run: Run) -> None:
    """The same question with a fresh proof is the same question; and one notice."""

    async def scenario() -> None:
        owner = venue.person(1)
        first = await venue.invoker.invoke(POST, INPUTS[POST][0], owner, "k")
        again = await venue.invoker.invoke(POST, INPUTS[POST][0], replace(owner, proofs=("x.y.z",)), "k")
        assert again.id == first.id
        events = Books.of(venue.path).events[owner.did]
        assert [event["kind"] for event in events] == ["request.open", "job.input_required"]

    run(scenario)
