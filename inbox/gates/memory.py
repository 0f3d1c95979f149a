"""A store in memory, for tests and for work inside one process. Its gates end with the process."""

from collections.abc import Iterable
from threading import RLock
from typing import Unpack

from .model import EXPIRED, PENDING
from .rows import Row
from .store import Feature, GateStore, StoreOptions


class MemoryGateStore(GateStore):
    """Keeps the same rows of text as `SqliteGateStore`, in a dict. Safe from any thread."""

    def __init__(self, **options: Unpack[StoreOptions]) -> None:
        super().__init__(**options)
        self._rows: dict[str, Row] = {}
        self._lock = RLock()

    def _unit(self) -> RLock:
        # Nothing that runs inside a unit of work raises after its first write, so there is nothing to undo.
        return self._lock

    def _read(self, id: str) -> Row | None:
        with self._lock:
            row = self._rows.get(id)
            return None if row is None else dict(row)

    def _read_pending(self) -> list[Row]:
        with self._lock:
            pending = [dict(row) for row in self._rows.values() if row["status"] == PENDING]
        return sorted(pending, key=lambda row: (str(row["created_at"]), str(row["id"])))

    def _insert(self, row: Row) -> None:
        self._rows[str(row["id"])] = dict(row)

    def _update_pending(self, id: str, changes: Row) -> bool:
        row = self._rows.get(id)
        if row is None or row["status"] != PENDING:
            return False
        row.update(changes)
        return True

    def _expire(self, ids: Iterable[str]) -> None:
        for id in ids:
            deadline = self._rows.get(id, {}).get("expires_at")
            self._update_pending(id, {"status": EXPIRED, "resolved_at": deadline})

    def _require(self, gate_id: str, feature: Feature, needed: bool) -> None:
        """A dict holds every field."""

    def no_longer_pending(self, ids: Iterable[str]) -> list[str]:
        """Which of these gates are not pending, or not there."""
        with self._lock:
            return [id for id in ids if self._rows.get(id, {}).get("status") != PENDING]

    def check_can_wait(self, id: str) -> None:
        """There is no transaction to wait in."""
