"""The operator of a venue under test: whoever can read its data directory, on its frozen clock."""

import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from inbox.clock import Clock
from ops.builtin.user import MAX_SESSION, sign_in
from venue.app import build_world, claim, open_database
from venue.cli.local import Local
from venue.didweb import DidWeb

from .site import Site, no_web


async def admitted(
    site: Site, clock: Clock, users: Sequence[Mapping[str, str]], sign_ins: Sequence[str] = ()
) -> list[str]:
    """`venue user add` for each of these inputs of `user:create`, then `venue user signin` for these names.

    Returns the bearers of those who were signed in. Raises OpsError.
    """

    async def work(venue: Local) -> list[str]:
        for user in users:
            await venue.run("v/ops/user/create", dict(user))
        return await venue.write(lambda call: [sign_in(call, name, MAX_SESSION) for name in sign_ins])

    signed: list[str] = await _as_operator(site, clock, work)
    return signed


async def _as_operator(site: Site, clock: Clock, work: Callable[[Local], Awaitable[Any]]) -> Any:
    settings, signer = site.read_settings(), site.signer()
    world = build_world(settings, signer, clock, secrets.token_bytes, DidWeb(no_web, clock))
    site.data.mkdir(parents=True, exist_ok=True)
    db = open_database(site.database)
    await db.open(lambda _: None)
    try:
        await db.write(lambda tx: claim(tx, world, signer))
        return await work(Local(db, world))
    finally:
        await db.close()
