"""Waiting: who looks, how often, who is woken, and how one gives up."""

import asyncio
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from gate_stores import OWNER, SOON, T0, Approval, StillClock

from inbox.gates import (
    GateAborted,
    GateArgumentInvalid,
    GateCancelled,
    GateExpired,
    GateNotFound,
    GateRowInvalid,
    GateStore,
    MemoryGateStore,
    open_gate,
    wait_for_gate,
    wait_for_gate_async,
)
from inbox.gates.sqlite import SqliteGateStore

MANY = 1000


class Looks:
    """Counts the queries of a store's waiters, and lets a test wait for the next one."""

    def __init__(self, store: GateStore) -> None:
        self.asked: list[int] = []
        self._look = store.no_longer_pending
        self._looked = threading.Condition()
        store.no_longer_pending = self  # type: ignore[method-assign,assignment]

    def __call__(self, ids: Iterable[str]) -> list[str]:
        asked = [*ids]
        found = self._look(asked)
        with self._looked:
            self.asked.append(len(asked))
            self._looked.notify_all()
        return found

    def until(self, fulfilled: Callable[[list[int]], bool]) -> None:
        with self._looked:
            assert self._looked.wait_for(lambda: fulfilled(self.asked), SOON)


def opened(store: GateStore, count: int) -> list[str]:
    return [store.create(id=f"g{number}", prompt="p").id for number in range(count)]


# -- one query per poll ----------------------------------------------------------------------------


def test_a_thousand_tasks_share_one_query_per_poll(store: GateStore) -> None:
    async def run() -> list[Any]:
        ids = opened(store, MANY)
        looks = Looks(store)
        start = time.monotonic()
        tasks = [asyncio.create_task(wait_for_gate_async(store, id, poll_ms=50)) for id in ids]
        while MANY not in looks.asked:
            await asyncio.sleep(0.01)
        for id in ids[: MANY // 2]:
            store.resolve(id, id, OWNER)
        assert await asyncio.gather(*tasks[: MANY // 2]) == ids[: MANY // 2]
        for id in ids[MANY // 2 :]:
            store.cancel(id, "superseded")
        ended = await asyncio.gather(*tasks[MANY // 2 :], return_exceptions=True)
        assert len(looks.asked) <= (time.monotonic() - start) / 0.05 + 2
        return ended

    assert {type(error) for error in asyncio.run(run())} == {GateCancelled}
    assert store.watch._crowds == {}


def test_many_threads_share_one_query_per_poll(tmp_path: Path) -> None:
    with SqliteGateStore(tmp_path / "gates.db") as store, ThreadPoolExecutor(100) as pool:
        ids = opened(store, 100)
        looks = Looks(store)
        start = time.monotonic()
        waits = [pool.submit(wait_for_gate, store, id, poll_ms=50) for id in ids]
        looks.until(lambda asked: 100 in asked)
        for id in ids:
            store.resolve(id, id, OWNER)
        assert [wait.result(SOON) for wait in waits] == ids
        assert len(looks.asked) <= (time.monotonic() - start) / 0.05 + 2
    assert store.watch._crowds == {}


def test_threads_and_a_loop_spare_each_other_queries(tmp_path: Path) -> None:
    with SqliteGateStore(tmp_path / "gates.db") as store, ThreadPoolExecutor(2) as pool:
        ids = opened(store, 2)
        looks = Looks(store)
        start = time.monotonic()
        in_thread = pool.submit(wait_for_gate, store, ids[0], poll_ms=50)
        in_loop = pool.submit(lambda: asyncio.run(wait_for_gate_async(store, ids[1], poll_ms=50)))
        looks.until(lambda asked: asked.count(2) >= 5)
        assert len(looks.asked) <= (time.monotonic() - start) / 0.05 + 2
        for id in ids:
            store.resolve(id, True, OWNER)
        assert in_thread.result(SOON) is in_loop.result(SOON) is True


@pytest.mark.parametrize("poll_ms", [20, 10_000])
def test_the_next_takes_over_when_the_first_leaves(tmp_path: Path, poll_ms: int) -> None:
    """Also when the first meant to sleep for long."""
    with SqliteGateStore(tmp_path / "gates.db") as store, ThreadPoolExecutor(2) as pool:
        opened(store, 2)
        looks = Looks(store)
        abort = threading.Event()
        first = pool.submit(wait_for_gate, store, "g0", poll_ms=poll_ms, timeout=0.2, abort=abort)
        looks.until(lambda asked: 1 in asked)
        second = pool.submit(wait_for_gate, store, "g1", poll_ms=20)
        looks.until(lambda asked: 2 in asked)
        with pytest.raises(GateAborted):
            first.result(SOON)
        looks.until(lambda asked: asked[-1] == 1)
        store.resolve("g1", True, OWNER)
        assert second.result(SOON) is True


def test_a_gate_settled_between_two_looks_is_not_missed(store: GateStore) -> None:
    """Settled at the very instant at which somebody starts to wait, many times over."""
    for number in range(100):
        gate = open_gate(store, id=f"g{number}", prompt="p")
        get = store.get

        def settle_after_reading(id: str, get: Any = get) -> Any:
            found = get(id)
            store.get = get  # type: ignore[method-assign]
            store.resolve(id, id, OWNER)
            return found

        store.get = settle_after_reading  # type: ignore[method-assign]
        assert gate.wait(poll_ms=1, timeout=SOON) == gate.id


def test_one_unreadable_row_ends_its_own_wait_only(tmp_path: Path) -> None:
    with SqliteGateStore(tmp_path / "gates.db") as store, ThreadPoolExecutor(2) as pool:
        opened(store, 2)
        looks = Looks(store)
        waits = [pool.submit(wait_for_gate, store, id, poll_ms=10) for id in ("g0", "g1")]
        looks.until(lambda asked: 2 in asked)
        raw = sqlite3.connect(tmp_path / "gates.db", isolation_level=None)
        raw.execute("UPDATE hitl_gate SET status = 'cancelled', created_at = 'never' WHERE id = 'g0'")
        raw.close()
        with pytest.raises(GateRowInvalid):
            waits[0].result(SOON)
        store.resolve("g1", True, OWNER)
        assert waits[1].result(SOON) is True


def test_a_gate_deleted_under_a_waiter_is_not_found(tmp_path: Path) -> None:
    with SqliteGateStore(tmp_path / "gates.db") as store, ThreadPoolExecutor(1) as pool:
        opened(store, 1)
        looks = Looks(store)
        wait = pool.submit(wait_for_gate, store, "g0", poll_ms=10)
        looks.until(lambda asked: 1 in asked)
        raw = sqlite3.connect(tmp_path / "gates.db", isolation_level=None)
        raw.execute("DELETE FROM hitl_gate")
        raw.close()
        with pytest.raises(GateNotFound):
            wait.result(SOON)


def test_a_waiter_notices_the_deadline(store: GateStore, clock: StillClock) -> None:
    gate = open_gate(store, prompt="p", expires_at="2026-01-01T00:01:00Z")
    look = store.no_longer_pending

    def look_and_move(ids: Iterable[str]) -> list[str]:
        clock.advance(seconds=30)
        return look(ids)

    store.no_longer_pending = look_and_move  # type: ignore[method-assign]
    with pytest.raises(GateExpired):
        gate.wait(poll_ms=1, timeout=SOON)
    assert clock.now > T0


# -- giving up -------------------------------------------------------------------------------------

IMPOSSIBLE: list[dict[str, Any]] = [
    {"poll_ms": bad} for bad in (0, -1, math.nan, math.inf, "250", None, True)
] + [{"timeout": bad} for bad in (-1, math.nan, math.inf, "5", True)]


@pytest.mark.parametrize("given", IMPOSSIBLE, ids=str)
def test_an_impossible_rhythm_is_refused_in_threads_and_tasks_alike(given: dict[str, Any]) -> None:
    store = MemoryGateStore()
    gate = open_gate(store, id="g1", prompt="p")
    with pytest.raises(GateArgumentInvalid) as in_thread:
        gate.wait(**given)
    with pytest.raises(GateArgumentInvalid) as in_task:
        asyncio.run(gate.wait_async(**given))
    assert in_thread.value.paths == in_task.value.paths == tuple(given)


@pytest.mark.parametrize("timeout", [0, 0.02])
def test_a_timeout_gives_up_and_touches_nothing(store: GateStore, timeout: float) -> None:
    gate = open_gate(store, id="g1", prompt="p", schema=Approval)
    with pytest.raises(GateAborted):
        gate.wait(timeout=timeout)
    with pytest.raises(GateAborted):
        asyncio.run(gate.wait_async(timeout=timeout))
    assert [pending.id for pending in store.list_pending()] == ["g1"]
    store.resolve("g1", {"approved": True}, OWNER)
    assert gate.wait(timeout=0) == Approval(approved=True)
    assert asyncio.run(gate.wait_async(timeout=0)) == Approval(approved=True)


def test_an_abort_is_noticed_within_one_poll_by_first_and_others(tmp_path: Path) -> None:
    with SqliteGateStore(tmp_path / "gates.db") as store, ThreadPoolExecutor(2) as pool:
        opened(store, 2)
        looks, abort = Looks(store), threading.Event()
        waits = [pool.submit(wait_for_gate, store, id, poll_ms=10, abort=abort) for id in ("g0", "g1")]
        looks.until(lambda asked: 2 in asked)
        abort.set()
        for wait in waits:
            with pytest.raises(GateAborted):
                wait.result(SOON)
    assert store.watch._crowds == {}


def test_a_cancelled_task_is_cancelled_and_aborted(store: GateStore) -> None:
    async def run() -> None:
        gate = open_gate(store, id="g1", prompt="p")
        task = asyncio.create_task(gate.wait_async(poll_ms=10))
        await asyncio.sleep(0)
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await task
        assert isinstance(caught.value, GateAborted)
        assert (caught.value.gate_id, caught.value.code) == ("g1", "aborted")
        assert task.cancelled()

    asyncio.run(run())
    assert store.watch._crowds == {}
    assert [pending.id for pending in store.list_pending()] == ["g1"]


def test_asyncio_ends_a_wait_in_its_own_ways(store: GateStore) -> None:
    async def run() -> None:
        gate = open_gate(store, id="g1", prompt="p")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(gate.wait_async(poll_ms=10), 0.02)
        with pytest.raises(ExceptionGroup) as caught:
            await _beside_a_failure(gate.wait_async(poll_ms=10))
        assert [type(error) for error in caught.value.exceptions] == [KeyError]

    asyncio.run(run())
    assert store.watch._crowds == {}


async def _beside_a_failure(wait: Coroutine[Any, Any, Any]) -> None:
    async def fail() -> None:
        await asyncio.sleep(0.02)
        raise KeyError

    async with asyncio.TaskGroup() as group:
        group.create_task(wait)
        group.create_task(fail())


def test_a_loop_is_spared_a_file_that_is_locked(tmp_path: Path) -> None:
    """While another process holds the file, the loop goes on with its other work."""

    async def run() -> None:
        with SqliteGateStore(tmp_path / "gates.db") as store:
            gate = open_gate(store, prompt="p")
            task = asyncio.create_task(gate.wait_async(poll_ms=1))
            holder = sqlite3.connect(tmp_path / "gates.db", isolation_level=None)
            holder.execute("BEGIN EXCLUSIVE")
            for _ in range(20):
                await asyncio.wait_for(asyncio.sleep(0.001), SOON)
            assert not task.done()
            holder.execute("ROLLBACK")
            holder.close()
            await asyncio.to_thread(store.resolve, gate.id, True, OWNER)
            assert await asyncio.wait_for(task, SOON) is True

    asyncio.run(run())
