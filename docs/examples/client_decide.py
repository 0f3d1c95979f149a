"""The person's side in Python: what waits, who really asks, and an answer to exactly what was shown."""

from venue.client import Settled, Venue

with Venue() as venue:  # VENUE_KEY and VENUE_PASSPHRASE say who decides
    for item in venue.inbox():
        record = venue.record(item.id)
        print(f"{record.from_} asks: {record.title}")
        try:
            if record.title.startswith("Publish"):
                offers = record.asks[0]["grants"]
                venue.answer(record.id, {"publish": True}, grants=offers, digest=record.digest)
            else:
                venue.reject(record.id, "Not on a Friday", digest=record.digest)
        except Settled as error:
            print("too late:", error.how)
