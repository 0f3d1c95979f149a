"""What the venue must do, said without the venue: what each call comes to, and every line that it must write.

The model keeps records, jobs, feeds, audit, ledger and keys as the design says they must be. A call is first
planned: either it is refused with a code, or it has an effect, which is applied to the model once the venue
has done it too. `tables.compare` holds the model's books against the venue's.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .house import AGENTS, MOST_PER_INBOX, MOST_PER_REQUESTER, NO_CAPS, PERSONS
from .shapes import DELIVERED, SHAPES, Granted, granted, well_formed

HANDED_OUT = "<handed out once, not kept>"
NEVER = 10**15
_ENDS = {"answered": "COMPLETE", "rejected": "FAILED", "expired": "FAILED", "cancelled": "CANCELLED"}


def user_of(did: str) -> str:
    """Whose family somebody belongs to."""
    return did.partition(":g:")[0]


@dataclass
class Work:
    """A job as it must be. `output` is what must be stored; a minted token is put in when it is known."""

    adapter: str
    owner: str
    maker: str
    status: str
    at: int
    output: Any = None
    error: str | None = None
    states: list[str] = field(default_factory=list)


@dataclass
class Asked:
    """A request as it must be."""

    id: str
    owner: str
    maker: str
    shape: str
    body: Mapping[str, Any]
    expires: int | None
    status: str = "open"
    resolver: str | None = None
    settled: int | None = None
    response: Any = None
    gone: bool = False

    @property
    def digest(self) -> str:
        """`sha256:` over the sorted, compact JSON of the body, which for these texts is RFC 8785."""
        text = json.dumps(self.body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

    def due(self, now: int) -> bool:
        """Whether it is open and past its deadline."""
        return self.status == "open" and self.expires is not None and now >= self.expires


@dataclass
class Minted:
    """A token that the venue signed for an answer, or for `ucan:issue`."""

    text: str
    hash: str
    grantor: str
    audience: str
    grants: Sequence[Mapping[str, Any]]
    exp: int
    request: str | None


@dataclass(frozen=True)
class Delegation:
    """A delegation of `hitl/request`, by its chain of issuers and hashes, leaf first."""

    text: str
    audience: str
    target: str
    good: bool
    issuers: tuple[str, ...]
    hashes: tuple[str, ...]
    ends: int
    grantor: str


@dataclass(frozen=True)
class Plan:
    """What a call comes to: a code of refusal, or what changes once it is done."""

    code: str | None = None
    effect: Callable[[Any], None] = lambda _: None
    notices: bool = False


Answer = Mapping[str, Any]


class Model:
    """The books of a venue as they must be."""

    def __init__(self) -> None:
        self.asked: dict[str, Asked] = {}
        self.jobs: dict[str, Work] = {}
        self.events: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self.audit: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.mints: dict[str, Minted] = {}
        self.revoked: dict[str, str] = {}
        self.blocked: set[tuple[str, str]] = set()
        self.fired: set[str] = set()
        self.keys: dict[tuple[str, str, str], tuple[str, str]] = {}

    # --- what is asked

    def post(
        self, who: str, data: Mapping[str, Any], shape: str, proofs: Sequence[Delegation], now: int
    ) -> Plan:
        """`hitl:request`."""
        target = data.get("user", user_of(who))
        if who in self.fired:
            return Plan("unauthorised")
        if not data["title"]:
            return Plan("invalid_input")
        if code := self._undeliverable(who, target, proofs, now):
            return Plan(code)
        waiting = [one for one in self.asked.values() if one.status == "open" and not one.due(now)]
        if sum(user_of(one.maker) == user_of(who) for one in waiting) >= MOST_PER_REQUESTER:
            return Plan("too_many_open")
        if sum(one.owner == target for one in waiting) >= MOST_PER_INBOX:
            return Plan("too_many_open")

        def effect(job: Any) -> None:
            expires = now + data["timeout"] * 1000 if "timeout" in data else None
            body = {
                "id": job.id,
                "from": who,
                "agent": f"g/{who.partition(':g:')[2]}" if ":g:" in who else None,
                "title": data["title"],
                "asks": SHAPES[shape],
                "created": now,
                "expires": expires,
            }
            kept = {name: value for name, value in body.items() if value is not None}
            self.asked[job.id] = Asked(job.id, target, who, shape, kept, expires)
            self.events[target].append(("request.open", job.id))
            self._job(job.id, "hitl:request", who, "INPUT_REQUIRED", now)

        return Plan(effect=effect)

    def _undeliverable(self, who: str, target: str, proofs: Sequence[Delegation], now: int) -> str | None:
        if who.endswith(NO_CAPS):
            return "capability_denied"
        if target == user_of(who):
            return None
        good = [one for one in proofs if self.worth(one, who, target, now)]
        hands = {who, *(issuer for one in good[:1] for issuer in one.issuers)}
        blocked = any((target, user_of(did)) in self.blocked for did in hands - {target})
        return "denied" if not good or blocked else None

    def worth(self, one: Delegation, who: str, target: str, now: int) -> bool:
        """Whether a delegation lets somebody post into an inbox now."""
        live = now // 1000 < one.ends and not any(link in self.revoked for link in one.hashes)
        return one.good and live and (one.audience, one.target) == (who, target)

    # --- how it is settled

    def respond(self, who: str, data: Mapping[str, Any], now: int) -> Plan:
        """`hitl:respond`; `data` is the input, with `token` telling what a signed token among it is."""
        plan = self._respond(who, data, now)
        if plan.code is None or plan.code == "unauthorised":
            return plan

        def refused(_: Any) -> None:
            line = {"kind": "hitl:respond.refused", "by": who, "code": plan.code, "request": data["id"]}
            self.audit[user_of(who)].append(line)

        return Plan(plan.code, refused, notices=plan.code == "expired")

    def _respond(self, who: str, data: Mapping[str, Any], now: int) -> Plan:
        one = self.asked.get(data["id"])
        if who in self.fired:
            return Plan("unauthorised")
        if who not in PERSONS:
            return Plan("agent_refused")
        if one is None or one.gone or one.owner != who:
            return Plan("not_found")
        if code := self._closed(one, now):
            return Plan(code)
        if "digest" in data and data["digest"] != one.digest:
            return Plan("stale_digest")
        if data["outcome"] == "reject":
            comment = data.get("comment")
            response = {"outcome": "reject"} | ({"comment": comment} if comment else {})
            error = "HITL request rejected" + (f": {comment}" if comment else "")
            return self._settled(one, "rejected", who, now, response, error)
        return self._answered(one, who, data, now)

    def _answered(self, one: Asked, who: str, data: Mapping[str, Any], now: int) -> Plan:
        answers = data["answers"]
        if not well_formed(one.shape, answers):
            return Plan("invalid_input")
        if signed := answers.get("sign"):
            code = _TOKEN_CODES[data["token"]] if who in PERSONS[:2] else _MANAGED_CODES[data["token"]]
            if code is not None:
                return Plan(code)
        grants = granted(one.shape, answers, data.get("grants", ()), one.owner, now // 1000)
        if grants is None:
            return Plan("invalid_input")
        given = {name: value for name, value in answers.items() if value is not None}
        shown = {**given, "sign": DELIVERED} if signed else given
        response: dict[str, Any] = {"outcome": "answer", "answers": shown}
        response |= {"comment": data["comment"]} if data.get("comment") else {}
        response |= {"grants": [dict(grant.said) for grant in grants]} if grants else {}
        output = {"id": one.id, **response} | ({"tokens": {"sign": signed}} if signed else {})
        return self._settled(one, "answered", who, now, response, None, output, grants)

    def _settled(
        self,
        one: Asked,
        status: str,
        who: str,
        now: int,
        response: Any,
        error: str | None,
        output: Any = None,
        grants: Sequence[Granted] = (),
    ) -> Plan:
        def effect(job: Any) -> None:
            self.land(one, status, who, now, response, error, output, grants)
            self._job(job.id, "hitl:respond", who, "COMPLETE", now, {"id": one.id, "status": status})

        return Plan(effect=effect)

    def land(
        self,
        one: Asked,
        status: str,
        who: str | None,
        now: int,
        response: Any = None,
        error: str | None = None,
        output: Any = None,
        grants: Sequence[Granted] = (),
    ) -> None:
        """Everything that must be true together when a request is settled (D16)."""
        one.status, one.resolver, one.settled, one.response = status, who, now, response
        work = self.jobs[one.id]
        work.status, work.error, work.at = _ENDS[status], error, now
        work.output = output
        if grants:
            work.output = {**output, "token": Expected(one.owner, one.maker, tuple(grants), one.id)}
            self.audit[one.owner].append({"kind": "token.minted", "audience": one.maker, "request": one.id})
        self._state(one.id, work)
        self.events[one.owner].append((f"request.{status}", one.id))
        line = {"kind": f"request.{status}", "request": one.id, "digest": one.digest, "requester": one.maker}
        self.audit[one.owner].append(line | ({"resolver": who, "channel": "api"} if who else {}))

    def _closed(self, one: Asked, now: int) -> str | None:
        if one.status == "expired" or one.due(now):
            return "expired"
        return None if one.status == "open" else "not_open"

    def notice(self, now: int) -> int:
        """Somebody looks: what is due expires, the earliest deadline first (D17). Returns how many did."""
        due = [one for one in self.asked.values() if one.due(now)]
        for one in sorted(due, key=lambda one: (one.expires, one.id)):
            self.land(one, "expired", None, now, error="HITL request expired")
        return len(due)

    def cancel(self, who: str, job: str, reason: str | None, now: int) -> Plan:
        """A job's cancel: its maker's and its owner's (D18)."""
        if code := self._not_theirs(who, job):
            return Plan(code)
        one = self.asked.get(job)

        def effect(_: Any) -> None:
            if one is not None and self._closed(one, now) is None:
                self.land(one, "cancelled", who, now, error=reason or "HITL request cancelled")

        return Plan(effect=effect, notices=True)

    def delete_job(self, who: str, job: str, now: int) -> Plan:
        """Deleting a job; one that is parked is cancelled first (D18)."""
        if code := self._not_theirs(who, job):
            return Plan(code)

        def effect(_: Any) -> None:
            one = self.asked.get(job)
            if one is not None and one.due(now):
                self.notice(now)
            elif one is not None and one.status == "open":
                self.land(one, "cancelled", who, now, error="HITL request cancelled")
            self.events[self.jobs.pop(job).owner].append(("job.deleted", job))
            self.keys = {key: made for key, made in self.keys.items() if made[1] != job}

        return Plan(effect=effect)

    def _not_theirs(self, who: str, job: str) -> str | None:
        if who in self.fired:
            return "unauthorised"
        work = self.jobs.get(job)
        return "not_found" if work is None or who not in (work.maker, work.owner) else None

    def delete_record(self, who: str, request: str, now: int) -> Plan:
        """`covia:delete` of `h/<id>`: the owner's own act; an open record is rejected by it (D18)."""
        if who in self.fired:
            return Plan("unauthorised")
        if who not in PERSONS:
            return Plan("agent_refused")
        one = self.asked.get(request)
        there = one is not None and one.owner == who and not one.gone
        if one is not None and there and one.due(now):
            return Plan("expired", notices=True)

        def effect(job: Any) -> None:
            if one is not None and there:
                if one.status == "open":
                    self.land(one, "rejected", who, now, {"outcome": "reject"}, "HITL request rejected")
                one.gone = True
                self.audit[who].append({"kind": "request.deleted", "request": request, "by": who})
                self.events[who].append(("request.deleted", request))
            self._job(job.id, "covia:delete", who, "COMPLETE", now, {"deleted": there})

        return Plan(effect=effect)

    # --- who may, and who may no longer

    def block(self, who: str, requester: str, on: bool, now: int) -> Plan:
        """`hitl:block` and `hitl:unblock` (D12)."""
        if who in self.fired:
            return Plan("unauthorised")
        if who not in PERSONS:
            return Plan("agent_refused")
        family = user_of(requester)
        if family == who:
            return Plan("invalid_input")

        def effect(job: Any) -> None:
            changes = on or (who, family) in self.blocked
            (self.blocked.add if on else self.blocked.discard)((who, family))
            if changes:
                kind = "requester.blocked" if on else "requester.unblocked"
                self.audit[who].append({"kind": kind, "requester": family})
                self.events[who].append((kind, family))
            output = {"requester": family, "blocked": on}
            self._job(job.id, "hitl:block" if on else "hitl:unblock", who, "COMPLETE", now, output)

        return Plan(effect=effect)

    def revoke(self, who: str, leaf: str, may: set[str], now: int) -> Plan:
        """`ucan:revoke` of a token that these may revoke (D11)."""
        if who in self.fired:
            return Plan("unauthorised")
        if who not in PERSONS:
            return Plan("agent_refused")
        if who not in may:
            return Plan("denied")

        def effect(job: Any) -> None:
            new = leaf not in self.revoked
            if new:
                self.revoked[leaf] = who
                self.audit[who].append({"kind": "token.revoked", "token": leaf, "fell": [leaf]})
                self.events[who].append(("token.revoked", leaf))
            self._job(job.id, "ucan:revoke", who, "COMPLETE", now, {"revoked": [leaf] if new else []})

        return Plan(effect=effect)

    def fire(self, who: str, name: str, now: int) -> Plan:
        """`agent:revoke` (D3): the agent, its tokens, and the live ones that were minted for it."""
        if who in self.fired:
            return Plan("unauthorised")
        if who not in PERSONS:
            return Plan("agent_refused")
        agent = f"{who}:g:{name}"

        def effect(job: Any) -> None:
            live = who in AGENTS.get(name, ()) and agent not in self.fired
            if live:
                self.fired.add(agent)
                for mint in self.mints.values():
                    if mint.audience == agent and mint.exp > now // 1000:
                        self.revoked.setdefault(mint.hash, who)
                self.audit[who].append({"kind": "agent.revoked", "agent": agent})
                self.events[who].append(("agent.revoked", name))
            self._job(job.id, "agent:revoke", who, "COMPLETE", now, {"revoked": live})

        return Plan(effect=effect)

    def issue(self, who: str, audience: str, entry: Mapping[str, Any], exp: int, now: int) -> Plan:
        """`ucan:issue` over what is one's own (D9)."""

        def effect(job: Any) -> None:
            self.audit[who].append({"kind": "token.minted", "audience": audience})
            grant = Granted(entry, entry["with"], entry["can"], None, exp)
            token = Expected(who, audience, (grant,), None)
            self._job(job.id, "ucan:issue", who, "COMPLETE", now, {"token": token})

        return Plan(effect=effect)

    def opens(self, who: str, mint: Minted, resource: str, now: int) -> bool:
        """Whether a minted token lets somebody read a resource now (D6-D8)."""
        live = now // 1000 < mint.exp and mint.hash not in self.revoked
        covers = any(
            "nb" not in grant
            and f"{resource}/".startswith(f"{grant['with'].rstrip('/')}/")
            and grant["can"] in ("crud", "crud/read")
            for grant in mint.grants
        )
        return live and covers and mint.audience == who

    # --- keys, and what is common

    def keyed(self, plan: Plan, who: str, operation: str, key: str, said: str) -> tuple[Plan, str | None]:
        """The plan of a call with an idempotency key (D20), and the job that it repeats, if it does."""
        made = self.keys.get((who, operation, key))
        if who in self.fired or plan.code == "agent_refused":
            return plan, None
        if made is not None:
            if made[0] == said:
                return Plan(), made[1]
            return self._conflict(who, operation, said), None

        def effect(job: Any) -> None:
            plan.effect(job)
            if plan.code is None:
                self.keys[who, operation, key] = (said, job.id)

        return Plan(plan.code, effect, plan.notices), None

    def _conflict(self, who: str, operation: str, said: str) -> Plan:
        def effect(_: Any) -> None:
            if operation == "hitl:respond":
                line = {"kind": "hitl:respond.refused", "by": who, "request": json.loads(said)["id"]}
                self.audit[user_of(who)].append({**line, "code": "idempotency_conflict"})

        return Plan("idempotency_conflict", effect)

    def _job(self, name: str, adapter: str, who: str, status: str, at: int, output: Any = None) -> None:
        assert name not in self.jobs
        self.jobs[name] = Work(adapter, user_of(who), who, status, at, output)
        self._state(name, self.jobs[name])

    def _state(self, name: str, work: Work) -> None:
        work.states.append(work.status)
        self.events[work.owner].append((f"job.{work.status.lower()}", name))


@dataclass(frozen=True)
class Expected:
    """A token that must stand somewhere: on whose word, for whom, over what, for which request."""

    grantor: str
    audience: str
    grants: tuple[Granted, ...]
    request: str | None

    @property
    def exp(self) -> int:
        """It ends with the first of its grants (D10)."""
        return min(grant.exp for grant in self.grants)


_TOKEN_CODES = {
    "good": None,
    "other audience": "token_refused",
    "other signer": "token_refused",
    "ended": "invalid_input",
    "garbage": "invalid_input",
}
_MANAGED_CODES = {kind: code or "token_refused" for kind, code in _TOKEN_CODES.items()}
