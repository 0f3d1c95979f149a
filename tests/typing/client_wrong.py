"""What a type checker must refuse of the client: one mistake on each line marked `# wrong`. Never run."""

from pydantic import BaseModel

from venue.client import Offer, Venue, VenueGateStore


class Ship(BaseModel):
    ship: bool


venue = Venue("http://x", token="t")
offer: Offer = {"with": "w/"}  # wrong
good: Offer = {"with": "w/", "can": "crud/read"}

print(venue.ask("T", Ship).shop)  # wrong
answer: str = venue.ask("T", Ship)  # wrong
handle: Ship = venue.ask("T", Ship, wait=False)  # wrong
venue.ask("T", bool)  # wrong
venue.ask(Ship)  # wrong
venue.ask("T", Ship, timeout="5")  # wrong
venue.ask("T", Ship, grants={"ship": good})  # wrong
venue.ask("T", [], grants={"ship": [good]})  # wrong
venue.ask("T", Ship, too="did:x")  # wrong
venue.answer("1", {"ship": True}, echo=[good])  # wrong
venue.attach("1", Ship).wait(timeout="5")  # wrong
Venue(tokn="t")  # wrong
VenueGateStore(7)  # wrong
VenueGateStore(venue, allowances=[])  # wrong
