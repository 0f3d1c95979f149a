"""What the gate library costs: its import against pydantic's, a gate's life, and a thousand waits.

    python bench/gates_cost.py

Prints one line per figure. Figures of one run are comparable with each other; those of two machines are not.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from inbox.gates import GateStore, MemoryGateStore, Resolver, open_gate, wait_for_gate_async
from inbox.gates.sqlite import SqliteGateStore

PROJECT = Path(__file__).resolve().parent.parent
OWNER = Resolver("owner-terminal", "ada", "cli")
PYDANTIC = "from pydantic import BaseModel, TypeAdapter"
RUNS = 15
GATES = 500
WAITS = 2000


def import_ms(statement: str, bytecode: str) -> float:
    """CPU milliseconds of a statement in a fresh interpreter, without the interpreter's own start.

    `bytecode` is where compiled modules are kept, so that a checkout is measured as an installed package is.
    """
    timed = f"import time; began = time.process_time()\n{statement}\nprint(time.process_time() - began)"
    env = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-c", timed]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=PROJECT, env=env)
    return float(ran.stdout) * 1000


def import_ratio() -> tuple[float, float, float]:
    """Medians of runs that alternate, so a busy machine slows both alike: pydantic, both, their ratio."""
    both = f"{PYDANTIC}\nimport inbox.gates"
    with tempfile.TemporaryDirectory() as bytecode:
        import_ms(both, bytecode)
        pairs = [(import_ms(PYDANTIC, bytecode), import_ms(both, bytecode)) for _ in range(RUNS)]
    pydantic, gates = (statistics.median(column) for column in zip(*pairs, strict=True))
    return pydantic, gates, statistics.median(gates / pydantic for pydantic, gates in pairs)


def life_us(store: GateStore) -> float:
    """Microseconds from open to answer, per gate."""

    def live() -> None:
        for number in range(GATES):
            gate = open_gate(store, id=f"g{number}", prompt="p", schema=bool)
            store.resolve(gate.id, True, OWNER)
            gate.wait()

    return seconds(live) / GATES * 1e6


async def waiting_ms_per_s(store: GateStore) -> float:
    """CPU milliseconds per second that many pending waits cost at the default poll."""
    ids = [store.create(prompt="p").id for _ in range(WAITS)]
    gates = [asyncio.create_task(wait_for_gate_async(store, id)) for id in ids]
    await asyncio.sleep(1)
    began = time.process_time()
    await asyncio.sleep(3)
    spent = time.process_time() - began
    for gate in gates:
        gate.cancel()
    await asyncio.gather(*gates, return_exceptions=True)
    return spent / 3 * 1000


def seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    pydantic, gates, ratio = import_ratio()
    print(
        f"import: pydantic {pydantic:.1f} ms, with inbox.gates {gates:.1f} ms, ratio {ratio:.2f} (bound 1.30)"
    )
    print(f"open, resolve, wait in memory: {life_us(MemoryGateStore()):.0f} us a gate")
    with tempfile.TemporaryDirectory() as directory:
        with SqliteGateStore(Path(directory) / "gates.db") as store:
            print(f"open, resolve, wait on a file, two commits: {life_us(store):.0f} us a gate")
        with SqliteGateStore(Path(directory) / "waits.db") as store:
            cost = asyncio.run(waiting_ms_per_s(store))
            print(f"{WAITS} pending waits: {cost:.1f} ms of CPU a second")


if __name__ == "__main__":
    main()
