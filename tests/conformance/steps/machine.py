"""What the operator and the machine do to a venue: settings, stops, crashes, the clock, raw inspection."""

from typing import Any

import httpx
from pydantic import ValidationError

from ops.errors import OpsError
from tests.harness import operator
from tests.harness.faults import Failpoint
from ucan.did import agent_did, agent_id_of, managed_by, owner_of
from ucan.errors import UcanError

from .. import settings
from ..errors import BadScenario
from ..replies import Reply, refused
from . import Act, step
from .protocol import path_of

_FAILPOINTS = {"after_record_settled": Failpoint("request.settle", "after")}
_AUDIT_KINDS = {"token.issued": "token.minted"}


@step("advance_clock")
def advance_clock(act: Act, seconds: int = 0, ms: int = 0, days: int = 0) -> Reply:
    """Move the one clock, and let the timers of every venue do what is due."""
    expired = act.stage.advance(((days * 24 * 60 * 60) + seconds) * 1000 + ms)
    return Reply(settled=expired > 0)


@step("set_config")
def set_config(act: Act, **config: Any) -> Reply:
    """New settings, by a restart with them."""
    setup = settings.read(config)
    if setup.caps or setup.blocked_by_carol or not setup.timers:
        raise BadScenario("set_config changes settings, and not what people or the machine did")
    venue = act.stage.venue(act.who)
    merged = {**venue.site.settings}
    for table, values in setup.settings.items():
        merged[table] = {**merged.get(table, {}), **values}
    try:
        venue.configure(merged)
    except ValidationError as error:
        return refused("config_error", str(error))
    venue.stop()
    venue.start()
    return Reply()


@step("restart")
def restart(act: Act) -> Reply:
    """Stop, and start on the same data."""
    venue = act.stage.venue(act.who)
    venue.stop()
    venue.start()
    return Reply()


@step("stop")
def stop(act: Act) -> Reply:
    """Stop as on a signal."""
    act.stage.venue(act.who).stop()
    return Reply()


@step("start")
def start(act: Act) -> Reply:
    """Start on the data that is there; a process that died at a failpoint is buried first."""
    venue = act.stage.venue(act.who)
    if venue.up:
        venue.crash()
    venue.start()
    return Reply()


@step("crash")
def crash(act: Act) -> Reply:
    """kill -9."""
    act.stage.venue(act.who).crash()
    return Reply()


@step("failpoint")
def failpoint(act: Act, at: str) -> Reply:
    """Die at a named place, on its next pass."""
    if at not in _FAILPOINTS:
        raise BadScenario(f"unknown failpoint: {at}")
    act.stage.venue(act.who).arm(_FAILPOINTS[at])
    return Reply()


@step("audit")
def audit(act: Act, event: str, subject: str | None = None) -> Reply:
    """The audit lines of one event, over all inboxes or of one grantor."""
    if event not in _AUDIT_KINDS:
        raise BadScenario(f"unknown audit event: {event}")
    lines = act.stage.venue(act.who).store.audit(_AUDIT_KINDS[event])
    entries = [
        {"instructed_by": line["inbox"], "audience": line["audience"], "exp": line.get("exp")}
        for line in lines
        if subject in (None, line["inbox"])
    ]
    return Reply(result={"count": len(entries), "entries": entries})


@step("inspect.store")
def inspect_store(act: Act, needle: str) -> Reply:
    """Where a text stands in the durable store."""
    return Reply(result={"paths": act.stage.venue(act.who).store.places_of(needle)})


@step("inspect.log")
def inspect_log(act: Act, needle: str) -> Reply:
    """How often a text stands in the log."""
    return Reply(result={"count": act.stage.log_text().count(needle)})


@step("inspect.diff")
def inspect_diff(act: Act) -> Reply:
    """Whether the store is another than at the last mark: the scenario's beginning, if none was set."""
    return Reply(result={"changed": act.stage.venue(act.who).store.dump() != act.stage.mark})


@step("agree")
def agree(act: Act, record: str, owner: str, pairs: list[list[str]]) -> Reply:
    """Whether a record, in this inbox, and its job stand in one of these pairs."""
    store = act.stage.venue(act.who).store
    if store.count("request", id=record, owner=owner) != 1:
        return refused("not_found", f"no record {record} in the inbox of {owner}")
    found = [store.status("request", record), store.status("job", record)]
    return Reply() if found in pairs else Reply(ok=False, error=f"record and job stand at {found}")


@step("users.exists")
def users_exists(act: Act, did: str) -> Reply:
    """Whether a DID has an account."""
    return Reply(result=act.stage.venue(act.who).store.has_user(did))


@step("admit_user")
def admit_user(act: Act, did: str) -> Reply:
    """Give a DID an account, by name if the venue manages it."""
    venue = act.stage.venue(act.who)
    user = {"username": did.rpartition(":")[2]} if managed_by(did) == venue.did else {"did": did}
    try:
        venue.on_loop(operator.admitted(venue.site, venue.clock, [user]))
    except OpsError as error:
        return refused(error.code, str(error))
    return Reply()


@step("principal.parse")
def principal_parse(_: Act, did: str) -> Reply:
    """Whose DID this is: its user and, if it has the shape of one, its agent."""
    agent = agent_id_of(did)
    return Reply(result={"user": owner_of(did), **({} if agent is None else {"agent": agent})})


@step("principal.agent")
def principal_agent(_: Act, user: str, agent: str) -> Reply:
    """The DID of an agent."""
    try:
        return Reply(result=agent_did(user, agent))
    except UcanError as error:
        return refused("invalid_input", str(error))


@step("replay")
def replay(act: Act, as_did: str, op: str, input: Any) -> Reply:
    """Call with an identity that was stored, as recovery would: rebuilt from its DID alone."""
    app = act.stage.venue(act.who).app
    caller = act.stage.stored_caller(as_did)
    try:
        result = act.stage.venue(act.who).on_loop(app.state.invoker.run(path_of(op), input, caller))
    except OpsError as error:
        return refused(error.code, str(error))
    return Reply(result=result)


def unreachable(error: httpx.TransportError) -> Reply:
    """The reply when the venue died before it answered."""
    return Reply(ok=False, error=f"no answer: {type(error).__name__}")


def newest(act: Act, what: str) -> str | None:
    """The id of the newest record of the inbox, if that is what a step waits for. Raises BadScenario."""
    if what != "record_visible":
        raise BadScenario(f"after: unknown thing {what!r}")
    return act.stage.venue("venue").store.newest_request(act.stage.cast.did(act.who))
