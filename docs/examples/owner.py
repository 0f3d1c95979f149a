"""Ada's side: enrol an agent, see what waits, approve it and confer exactly what it offers."""

import sys
from pathlib import Path

from venue.client import Venue

with Venue(key="ada.pem") as venue:  # VENUE_PASSPHRASE opens it
    if "enrol" in sys.argv:
        Path("helper.token").write_text(venue.run("v/ops/agent/enrol", {"agentId": "helper"})["token"])
    for item in venue.inbox():
        record = venue.record(item.id)
        offer = record.asks[0]["grants"][0]
        print(f"{record.from_} asks: {record.title} It would get {offer}.")
        venue.answer(record.id, {"ship": True}, grants=[offer], digest=record.digest)
