"""Ada's side: enrol an agent, see what waits, approve it and confer exactly what it offers."""

import os
import sys
from pathlib import Path

from covia import Grid
from covia.auth import Ed25519Auth
from cryptography.hazmat.primitives.serialization import load_pem_private_key

key = load_pem_private_key(Path("ada.pem").read_bytes(), os.environ["VENUE_PASSPHRASE"].encode())
venue = Grid.connect(os.environ.get("VENUE_URL", "http://127.0.0.1:8080"), auth=Ed25519Auth(key))

if "enrol" in sys.argv:
    Path("helper.token").write_text(venue.run("v/ops/agent/enrol", {"agentId": "helper"})["token"])
for item in venue.run("v/ops/hitl/list", {"status": "open"})["items"]:
    record = venue.workspace.read(f"h/{item['id']}").value
    offer = record["asks"][0]["grants"][0]
    print(f"{record['from']} asks: {record['title']} It would get {offer}.")
    answer = {"id": record["id"], "outcome": "answer", "answers": {"ship": True}, "grants": [offer]}
    venue.run("v/ops/hitl/respond", {**answer, "digest": record["digest"]})
