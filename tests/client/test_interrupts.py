"""A wait ends within a second of Ctrl-C or of cancellation, and the question goes on waiting."""

import asyncio
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import BaseModel

from tests.conftest import ROOT
from tests.harness.actors import Actor
from tests.harness.inboxes import SOON, asked, inbox
from tests.harness.proxy import Proxy, refuse, stall
from tests.harness.served import Served
from venue.client import AsyncVenue, Venue, VenueError


class Ship(BaseModel):
    """What is asked."""

    ship: bool


PROMPTLY = 4.0
"""Less than a heartbeat or a poll would take, and more than a busy machine needs to end a process."""

HEAD = """
import asyncio, sys
from pydantic import BaseModel
from venue.client import AsyncVenue, Venue
class Ship(BaseModel):
    ship: bool
"""
WAITS = {
    "closed by with": "with Venue() as venue:\n    venue.ask('T', Ship)",
    "never closed": "venue = Venue()\nvenue.ask('T', Ship)",
    "in a thread's pool": """
from concurrent.futures import ThreadPoolExecutor
venue = Venue()
handle = venue.ask('T', Ship, wait=False)
with ThreadPoolExecutor(1) as pool:
    waiting = pool.submit(handle.wait)
    try:
        waiting.result()
    except KeyboardInterrupt:
        venue.close()
        raise
""",
    "asyncio": """
async def main():
    async with AsyncVenue() as venue:
        await venue.ask('T', Ship)
asyncio.run(main())
""",
    "polling": "with Venue(sys.argv[1]) as venue:\n    venue.ask('T', Ship)",
    "not yet asked": "with Venue(sys.argv[2]) as venue:\n    venue.ask('T', Ship)",
}


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process there")
@pytest.mark.parametrize("how", WAITS)
def test_ctrl_c_ends_a_wait(how: str, served: Served, ada: Actor, token: str, proxy: Proxy) -> None:
    environment = {"PYTHONPATH": str(ROOT), "VENUE_URL": served.url, "VENUE_TOKEN": token}
    with Proxy(served.url) as no_streams:
        no_streams.inject("/sse", refuse(404), float("inf"))
        proxy.inject("GET /api/v1/status", stall(10), float("inf"))
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", HEAD + WAITS[how], no_streams.url, proxy.url],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        if how == "not yet asked":
            while not proxy.seen:
                time.sleep(0.02)
        else:
            asked(ada)
        time.sleep(0.3)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=SOON)
        assert time.monotonic() - start < PROMPTLY
    assert process.returncode != 0
    assert said.rstrip().endswith("KeyboardInterrupt")
    assert "Exception ignored" not in said
    assert "never awaited" not in said
    assert token not in said
    assert len(inbox(ada)) == (how != "not yet asked")


RACES = """
import asyncio, os, random, signal, sys
from venue.client.loop import Background
sys.setswitchinterval(1e-6)
chance, background, heard = random.Random(7), Background(), 0
async def interrupted():
    for _ in range(chance.randrange(400)):
        pass
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.sleep(0.001)
for _ in range(2000):
    try:
        background.run(interrupted())
    except KeyboardInterrupt:
        heard += 1
background.close(asyncio.sleep(0))
print(heard)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process there")
def test_ctrl_c_while_two_threads_hand_over_is_never_lost() -> None:
    """Raised there it was swallowed, or left a task that nobody could end: the command then hung."""
    environment = {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", RACES]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("2000\n", "")


def test_cancelling_a_task_ends_its_wait(served: Served, ada: Actor, token: str) -> None:
    async def run() -> float:
        async with AsyncVenue(served.url, token=token) as venue:
            handle = await venue.ask("T", Ship, wait=False)
            task = asyncio.create_task(handle.wait())
            await asyncio.sleep(0.3)
            start = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await handle.wait()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(handle.wait(), 0.1)
        return time.monotonic() - start

    assert asyncio.run(run()) < PROMPTLY
    assert len(inbox(ada)) == 1


def test_closing_a_client_ends_the_waits_of_its_other_threads(served: Served, token: str) -> None:
    venue = Venue(served.url, token=token)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(venue.ask("T", Ship, wait=False).wait)
        time.sleep(0.2)
        venue.close()
        with pytest.raises(VenueError, match="closed"):
            waiting.result(SOON)


LIGHT = {"fastapi", "starlette", "uvicorn", "sqlite3", "typer", "rich", "httpx", "ops", "pydantic_settings"}


def test_importing_the_client_loads_no_server_and_no_terminal() -> None:
    code = "import venue.client, json, sys\nprint(json.dumps(list(sys.modules)))"
    command = [sys.executable, "-c", code]
    out = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True, timeout=60).stdout
    loaded = {name.strip(' "[]\n').partition(".")[0] for name in out.split(",")}
    assert "venue" in loaded
    assert not loaded & LIGHT
