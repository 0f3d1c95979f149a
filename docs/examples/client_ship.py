from typing import Literal

from pydantic import BaseModel

from venue.client import AskExpired, AskRejected, Venue


class Ship(BaseModel):
    ship: bool
    where: Literal["test", "live"] = "test"


with Venue() as venue:  # VENUE_URL and VENUE_TOKEN say where, and who asks
    try:
        answer = venue.ask("Ship 1.4.0?", Ship, timeout=3600)
        print("to", answer.where) if answer.ship else print("held back")
    except (AskRejected, AskExpired) as error:
        print(error)
