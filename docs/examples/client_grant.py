"""Ask for authority, and use exactly what was conferred; the process may die between asking and waiting."""

from pydantic import BaseModel, Field

from venue.client import Offer, Venue


class Release(BaseModel):
    publish: bool = Field(description="May I publish 1.4.0?")


offer: Offer = {"with": "w/releases/", "can": "crud/write", "lifetime": 3600}
with Venue() as venue:
    # The key is ours: started again, this program finds its question instead of asking once more.
    asked = venue.ask("Publish 1.4.0?", Release, grants={"publish": [offer]}, key="1.4.0", wait=False)
    print("waiting for", asked.id)
    if asked.wait().publish and asked.answered.token:
        owner = venue.job(asked.id)["caller"]  # whose agent this is
        venue.write(f"{owner}/w/releases/1.4.0", {"by": "helper"}, ucans=[asked.answered.token])
        print("published")
