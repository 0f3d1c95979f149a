"""Many questions at once in asyncio, and one that is given up without withdrawing it."""

import asyncio

from pydantic import BaseModel

from venue.client import AskRejected, AsyncVenue


class Merge(BaseModel):
    merge: bool


async def step(venue: AsyncVenue, name: str) -> bool:
    try:
        return (await venue.ask(f"Merge {name}?", Merge)).merge
    except AskRejected:
        return False


async def main() -> None:
    async with AsyncVenue() as venue:
        print(await asyncio.gather(step(venue, "docs"), step(venue, "code")))
        asked = await venue.ask("Merge tests?", Merge, wait=False)
        try:
            await asked.wait(timeout=0.2)
        except TimeoutError:
            print("not yet")  # it waits on: venue.attach(asked.id, Merge).wait()


asyncio.run(main())
