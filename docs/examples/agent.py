"""The agent's side: ask, wait, and use exactly what was conferred."""

import os
from pathlib import Path

from covia import Grid
from covia.auth import BearerAuth

token = Path("helper.token").read_text()
venue = Grid.connect(os.environ.get("VENUE_URL", "http://127.0.0.1:8080"), auth=BearerAuth(token))

offer = {"with": "w/releases/", "can": "crud/write", "lifetime": 3600}
ask = {"id": "ship", "type": "approval", "prompt": "Ship it?", "required": True, "grants": [offer]}
job = venue.invoke("v/ops/hitl/request", {"title": "Ship 1.4.0?", "asks": [ask], "timeout": 3600})
job.wait()
print(job.output["answers"], job.output["grants"], len(job.output["token"]))
