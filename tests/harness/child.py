"""A venue in a process of its own, so that it can be killed. `python -m tests.harness.child SITE CLOCK`.

Each line on its standard input is a command as JSON and is answered with a line: `{"clock": ms}` moves the
clock and rings the timer, `{"failpoint": {…}}` arms one. The first line out says where it serves.
"""

import json
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

from inbox import events
from venue import log

from .clock import FrozenClock
from .faults import Failpoint, FaultyDatabase
from .site import Site
from .uvicorns import LoopThread, Served

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def main(site: Site, clock: FrozenClock) -> None:
    """Serve until standard input ends."""
    databases: list[FaultyDatabase] = []

    def wrap(db: Any) -> Any:
        databases.append(FaultyDatabase(db))
        return databases[-1]

    with LoopThread() as thread:
        served = Served(thread, site.build(clock, wrap))
        _say({"url": served.url})
        for line in sys.stdin:
            command = json.loads(line)
            if "clock" in command:
                clock.reach(EPOCH + timedelta(milliseconds=command["clock"]))
                thread.loop.call_soon_threadsafe(served.app.state.bells.ring, [events.DEADLINES])
            if "failpoint" in command:
                databases[0].armed = Failpoint(**command["failpoint"])
            _say({"done": command})
        served.leave().result(30)


def _say(what: dict[str, Any]) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    log.configure(sys.stderr)
    main(Site.from_json(sys.argv[1]), FrozenClock(EPOCH + timedelta(milliseconds=int(sys.argv[2]))))
