"""The agent's side: ask, wait, and use exactly what was conferred."""

from pydantic import BaseModel

from venue.client import Offer, Venue


class Ship(BaseModel):
    ship: bool


offer: Offer = {"with": "w/releases/", "can": "crud/write", "lifetime": 3600}
with Venue() as venue:  # VENUE_TOKEN_FILE says who asks
    asked = venue.ask("Ship 1.4.0?", Ship, timeout=3600, grants={"ship": [offer]}, wait=False)
    print(asked.wait(), asked.answered.grants, len(asked.answered.token or ""))
