"""Settles as a state machine: whatever is posted, answered, rejected, cancelled, deleted, blocked, revoked,
expired, replayed and restarted in whatever order, the books say what the design says (D9-D26).

100 runs of 50 steps, the same ones each time; `MACHINE_RUNS=1000` plays so many, and others each time.
`MACHINE_STEPS` is how long each is. Hypothesis breaks some runs off; these are not counted.
"""

import json
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ops.model import Job
from ucan.capability import Capability
from ucan.issue import issue
from ucan.jwt import token_hash

from .house import ADA, AGENTS, BOB, MIA, PERSONS, SIGNERS, Builder, Refused
from .model import Asked, Delegation, Minted, Model, Plan, user_of
from .shapes import NARROW, SHAPES, TOKENS, VALUES, offers
from .tables import Secret, Tables

RUNS = int(os.environ.get("MACHINE_RUNS", "100"))
STEPS = int(os.environ.get("MACHINE_STEPS", "50"))
FRESH = "MACHINE_RUNS" in os.environ

ACTORS = (*PERSONS, *(f"{owner}:g:{name}" for name, owners in AGENTS.items() for owner in owners))
PICK = st.integers(0, 7)
SHAPE = st.sampled_from(sorted(SHAPES))
TIMEOUT = st.sampled_from([None, None, 1, 2, 10, 3600])
HIDDEN = "\u202eZero\u200bwidth"
ACTOR, PERSON = st.sampled_from(ACTORS), st.sampled_from(PERSONS)
MOSTLY_PERSON = st.sampled_from((*PERSONS, *PERSONS, *ACTORS))
SOMEBODY = st.sampled_from((*(None,) * 14, *ACTORS))
"""Whose right it is, mostly; now and then anybody."""
KEY = st.sampled_from([None, None, "k1", "k2"])
SAID = st.fixed_dictionaries({name: st.integers(0, 6) for name in VALUES})
GOOD_NARROW = ("path", "can", "soon")
ECHO = st.tuples(PICK, st.sampled_from([None, None, None, *NARROW]), st.booleans())
ECHOES, SOME_ECHOES = st.lists(ECHO, max_size=3), st.lists(ECHO, min_size=1, max_size=3)

MEANT = [
    *("open", "answered", "rejected", "expired", "cancelled", "with a token", "in another's inbox"),
    *("hitl:request done", "hitl:request denied", "hitl:request too_many_open", "hitl:request again"),
    *("hitl:respond done", "hitl:respond expired", "hitl:respond invalid_input", "hitl:respond not_open"),
    *("cancel done", "delete done", "covia:delete done", "ucan:issue done", "ucan:revoke done", "use done"),
]
"""What 100 runs come by many times over; should they come by one of these never, they have become no test."""
_builder: list[Builder] = []
_met: Counter[str] = Counter()


class _Every:
    """Every rule is on."""

    def is_enabled(self, _: str) -> bool:
        """Whether a rule is."""
        return True


class Settles(RuleBasedStateMachine):
    """One run: a house, the model of it, and whatever may be done to them."""

    def __init__(self) -> None:
        super().__init__()
        # By itself a run has only some of its rules; here all of them, for what matters is how they meet.
        self._rules_strategy.enabled_rules_strategy = st.just(_Every())
        self.house = _builder[0].house()
        self.model = Model()
        self.tables = Tables(self.house, self.model)
        self.delegations: list[Delegation] = []
        self.replays: list[tuple[str, str, str, Any, tuple[str, ...]]] = []
        self.last_id = ""
        self.compared = 0

    # --- asking

    @initialize(first=PICK)
    def begin(self, first: int) -> None:
        """Nobody begins with nothing: Ada's agent has asked her, and Bob may ask her."""
        self._post(f"{ADA.did}:g:helper", None, sorted(SHAPES)[first % len(SHAPES)], None, "T", None)
        self._delegate(ADA.did, BOB.did, 10_000, good=True)

    @rule(
        who=ACTOR, shape=SHAPE, timeout=TIMEOUT, title=st.sampled_from(["T", "T", "T", HIDDEN, ""]), key=KEY
    )
    def post(self, who: str, shape: str, timeout: int | None, title: str, key: str | None) -> None:
        """Into the inbox of one's own family."""
        self._post(who, None, shape, timeout, title, key)

    @rule(who=ACTOR, inbox=PERSON, shape=SHAPE, timeout=TIMEOUT, key=KEY)
    def post_elsewhere(self, who: str, inbox: str, shape: str, timeout: int | None, key: str | None) -> None:
        """Into an inbox by name, with whatever delegation one holds for it."""
        self._post(who, inbox, shape, timeout, "T", key)

    @precondition(lambda self: self.delegations)
    @rule(which=PICK, shape=SHAPE, timeout=TIMEOUT, key=KEY)
    def post_by_delegation(self, which: int, shape: str, timeout: int | None, key: str | None) -> None:
        """Into the inbox that a delegation is about."""
        one = self.delegations[-1 - which % len(self.delegations)]
        self._post(one.audience, one.target, shape, timeout, "T", key)

    @rule(
        inbox=PERSON,
        audience=ACTOR,
        lifetime=st.sampled_from([3, 60, 10_000]),
        good=st.sampled_from([True, True, True, False]),
    )
    def delegate(self, inbox: str, audience: str, lifetime: int, good: bool) -> None:
        """The owner of an inbox lets somebody post into it; or says something that does not."""
        self._delegate(inbox, audience, lifetime, good=good)

    @precondition(lambda self: self._passable())
    @rule(which=PICK, audience=ACTOR, lifetime=st.sampled_from([2, 600]))
    def pass_on(self, which: int, audience: str, lifetime: int) -> None:
        """Who has a delegation passes it on, under their own key."""
        passable = self._passable()
        one = passable[-1 - which % len(passable)]
        ends = min(one.ends, self.house.now // 1000 + lifetime)
        text = self._signed(one.audience, audience, one.target, "hitl/request", ends, [one.text])
        issuers, hashes = (one.audience, *one.issuers), (token_hash(text), *one.hashes)
        self._give(Delegation(text, audience, one.target, True, issuers, hashes, ends, one.grantor), 0)

    def _passable(self) -> list[Delegation]:
        now, revoked = self.house.now // 1000, self.model.revoked.keys()
        return [
            one
            for one in self.delegations
            if one.audience in SIGNERS and one.good and now < one.ends and len(one.hashes) < 3
            if not revoked & set(one.hashes)
        ]

    @precondition(lambda self: any(len(one.issuers) > 1 for one in self.delegations))
    @rule(which=PICK, shape=SHAPE, on=st.sampled_from([True, True, False]))
    def block_a_middleman(self, which: int, shape: str, on: bool) -> None:
        """Whoever passed a delegation on is blocked, or not any more; then its holder asks (D12)."""
        chains = [one for one in self.delegations if len(one.issuers) > 1]
        one = chains[-1 - which % len(chains)]
        self._block(one.target, one.issuers[0], on=on)
        self._post(one.audience, one.target, shape, None, "T", None)

    # --- settling

    @rule(
        which=PICK,
        other=SOMEBODY,
        said=SAID,
        sign=st.sampled_from(TOKENS),
        echoes=ECHOES,
        more=st.sampled_from([{}, {}, {"comment": "fine"}, {"digest": True}, {"digest": False}, {"odd": 1}]),
        key=KEY,
    )
    def answer(
        self, which: int, other: str | None, said: Any, sign: str, echoes: Any, more: Any, key: str | None
    ) -> None:
        """By the owner or by somebody else, well formed or not, echoing or not, in every combination."""
        one = self._one(which)
        who = other or one.owner
        answers = self._answers(one, said, sign)
        data = self._reply(one, "answer", {"answers": answers})
        data |= {"grants": self._echoes(one, answers, echoes)} if echoes else {}
        data |= {"comment": more["comment"]} if "comment" in more else {}
        data |= {"digest": one.digest if more["digest"] else "sha256:0"} if "digest" in more else {}
        if "odd" in more:
            answers["unheard-of"] = True
        plan = self.model.respond(who, {**data, "token": sign}, self.house.now)
        self._invoke(plan, who, "hitl:respond", data, key=key)
        self._keep_secret(one, answers, sign)

    @precondition(lambda self: any(one.status == "open" for one in self.model.asked.values()))
    @rule(which=st.integers(0, 5), said=st.sampled_from([0, 0, 1, 2, 3]), echoes=SOME_ECHOES)
    def approve(self, which: int, said: int, echoes: Any) -> None:
        """A well-formed answer of the owner's; mostly its echoes are of what it triggers."""
        self._approve(self._one(which), said, echoes)

    def _approve(self, one: Asked, said: int, echoes: Any) -> None:
        answers = self._answers(one, dict.fromkeys(VALUES, said))
        good = [
            (pick % 7, narrow if narrow in GOOD_NARROW else None, whole) for pick, narrow, whole in echoes
        ]
        data = self._reply(one, "answer", {"answers": answers, "grants": self._echoes(one, answers, good)})
        plan = self.model.respond(one.owner, {**data, "token": "good"}, self.house.now)
        self._invoke(plan, one.owner, "hitl:respond", data)
        self._keep_secret(one, answers, "good")

    def _reject(self, one: Asked, other: str | None, comment: str | None) -> None:
        """With a reason or without."""
        data = self._reply(one, "reject", {} if comment is None else {"comment": comment})
        plan = self.model.respond(other or one.owner, data, self.house.now)
        self._invoke(plan, other or one.owner, "hitl:respond", data)

    def _cancel(self, one: Asked, other: str | None, reason: str | None) -> None:
        """By its maker, its owner, or somebody who may not."""
        who = other or one.maker
        plan = self.model.cancel(who, one.id, reason, self.house.now)
        self._done(plan, self.house.cancel(who, one.id, reason), "cancel")

    def _delete_record(self, one: Asked, other: str | None) -> None:
        """From the inbox, as its owner or as somebody who has none such."""
        who = other or one.owner
        plan = self.model.delete_record(who, one.id, self.house.now)
        self._invoke(plan, who, "covia:delete", {"path": f"h/{one.id}"})

    def _delete_job(self, one: Asked, other: str | None) -> None:
        """The requester's handle goes; a parked one is cancelled first."""
        who = other or user_of(one.maker)
        plan = self.model.delete_job(who, one.id, self.house.now)
        self._done(plan, self.house.delete_job(who, one.id), "delete")

    @rule(
        verb=st.sampled_from(["reject", "cancel", "delete_record", "delete_job", "reject", "cancel"]),
        which=PICK,
        other=SOMEBODY,
        said=st.sampled_from([None, "", "never mind"]),
    )
    def end(self, verb: str, which: int, other: str | None, said: str | None) -> None:
        """In every way but an answer, by whoever may, and now and then by somebody else."""
        self._end(verb, self._one(which), other, said)

    @precondition(lambda self: any(self._deadlines()))
    @rule(
        verb=st.sampled_from(["answer", "reject", "cancel", "delete_record", "delete_job", "timer"]),
        which=PICK,
        late=st.sampled_from([-1, 0, 0, 1]),
    )
    def at_the_deadline(self, verb: str, which: int, late: int) -> None:
        """At the very instant, or a millisecond before or after it, by whoever may (D17)."""
        waiting = [one for one in self.model.asked.values() if one.status == "open" and one.expires]
        one = waiting[-1 - which % len(waiting)]
        self.house.clock.advance(max(0, (one.expires or 0) - self.house.now + late))
        self._end(verb, one, None, "at the last moment")

    def _end(self, verb: str, one: Asked, other: str | None, said: str | None) -> None:
        match verb:
            case "answer":
                self._approve(one, 0, [(0, None, False)])
            case "timer":
                self.sweep()
            case "reject":
                self._reject(one, other, said)
            case "cancel":
                self._cancel(one, other, said)
            case "delete_record":
                self._delete_record(one, other)
            case _:
                self._delete_job(one, other)

    @rule(which=PICK, verbs=st.permutations(["reject", "cancel", "answer"]), late=st.booleans())
    def race(self, which: int, verbs: list[str], late: bool) -> None:
        """Three at once: the first to reach the writer wins, and the others hear of it."""
        one = self._one(which)
        if late and one.expires is not None and one.status == "open" and one.expires > self.house.now:
            self.house.clock.advance(one.expires - self.house.now - 1)
        now, maker, answers = self.house.now, user_of(one.maker), self._answers(one, dict.fromkeys(VALUES, 0))
        echoes = self._echoes(one, answers, [(0, None, False), (1, None, False)])
        inputs = {"answer": {"answers": answers, "grants": echoes}, "reject": {}}

        def called(verb: str) -> Any:
            if verb == "cancel":
                return self.house.cancelling(maker, one.id, None)
            return self.house.calling(one.owner, "hitl:respond", self._reply(one, verb, inputs[verb]))

        def planned(verb: str) -> Plan:
            if verb == "cancel":
                return self.model.cancel(maker, one.id, None, now)
            reply = self._reply(one, verb, inputs[verb])
            return self.model.respond(one.owner, {**reply, "token": "good"}, now)

        late_lines = []
        for verb, found in zip(verbs, self.house.together([called(verb) for verb in verbs]), strict=True):
            plan = planned(verb)
            assert plan.code == (found.code if isinstance(found, Refused) else None), verb
            if plan.code is None:
                plan.effect(found)
            else:
                late_lines.append(plan)
        if any(plan.notices for plan in late_lines) or one.id in self.model.jobs:
            self.model.notice(now)  # a cancel, too, ends with a look at the job
        for plan in late_lines:
            plan.effect(None)
        self.tables.raced = True
        self._keep_secret(one, answers, "good")

    # --- who may, and who may no longer

    @rule(
        what=st.sampled_from(["block", "unblock", "agent", "mint", "delegation", "mint", "delegation"]),
        which=PICK,
        who=MOSTLY_PERSON,
        other=SOMEBODY,
        whom=ACTOR,
        by_hash=st.booleans(),
    )
    def take_away(self, what: str, which: int, who: str, other: str | None, whom: str, by_hash: bool) -> None:
        """A requester is blocked or not any more; an agent or a token is revoked."""
        match what:
            case "block" | "unblock":
                self._block(who, whom, on=what == "block")
            case "agent" if which < 3 and ":g:" in self._one(which).maker:
                self._fire(user_of(self._one(which).maker), self._one(which).maker.partition(":g:")[2])
            case "agent":
                self._fire(who, "clerk" if by_hash else "helper")
            case "mint" if self.model.mints:
                self._revoke_minted(which, other, by_hash)
            case "delegation" if self.delegations:
                self._revoke_delegation(which, other)

    def _block(self, who: str, requester: str, *, on: bool) -> None:
        """And unblock."""
        plan = self.model.block(who, requester, on, self.house.now)
        self._invoke(plan, who, "hitl:block" if on else "hitl:unblock", {"requester": requester})

    def _revoke_minted(self, which: int, who: str | None, by_hash: bool) -> None:
        """A token of the ledger, by its text or by its hash."""
        mint = self._mint(which)
        owners = {grant["with"].partition("/")[0] for grant in mint.grants}
        may = {mint.grantor} | (owners if len(owners) == 1 else set())
        who = who or mint.grantor
        plan = self.model.revoke(who, mint.hash, may, self.house.now)
        self._invoke(plan, who, "ucan:revoke", {"hash": mint.hash} if by_hash else {"token": mint.text})

    def _revoke_delegation(self, which: int, who: str | None) -> None:
        """By whoever signed any link of it, or whose inbox it is about."""
        one = self.delegations[which % len(self.delegations)]
        may = {one.target, *one.issuers}
        plan = self.model.revoke(who or one.target, one.hashes[0], may, self.house.now)
        self._invoke(plan, who or one.target, "ucan:revoke", {"token": one.text})

    def _fire(self, who: str, name: str) -> None:
        """An agent is revoked, mostly one that has asked something: what it asked is withdrawn."""
        plan = self.model.fire(who, name, self.house.now)
        self._invoke(plan, who, "agent:revoke", {"agentId": name})

    @precondition(lambda self: any(mint.request for mint in self.model.mints.values()))
    @rule(which=PICK, other=SOMEBODY, below=st.booleans())
    def use(self, which: int, other: str | None, below: bool) -> None:
        """A minted token opens what was granted, to its audience, while it lives and is not revoked."""
        mints = [mint for mint in self.model.mints.values() if mint.request]
        mint = mints[-1 - which % len(mints)]
        who, grant = other or mint.audience, mint.grants[0]
        resource = grant["with"].rstrip("/") + ("/x" if below else "")
        own = resource.partition("/")[0] == who
        code = None if own or self.model.opens(who, mint, resource, self.house.now) else "denied"
        if code and resource.partition("/")[0] == user_of(who):
            code = "capability_denied"
        code = "unauthorised" if who in self.model.fired else code
        found = self.house.call(who, "covia:read", {"path": resource}, [mint.text])
        assert (found.code if isinstance(found, Refused) else None) == code
        _met[f"use {code or 'done'}"] += 1
        if code != "unauthorised":
            self.model.notice(self.house.now)

    # --- time, and looking

    @rule(by=st.sampled_from([0, 0, -1, -1, 1, 999, 1000, 5000, 8 * 86_400_000]), which=PICK)
    def advance(self, by: int, which: int) -> None:
        """The clock moves, and nobody looks; or it moves to a deadline, or to the millisecond before it."""
        if by > 5000 and which:
            by = 1
        deadlines = self._deadlines()
        if by <= 0 and deadlines:
            by = max(0, deadlines[which % len(deadlines)] - self.house.now + by)
        self.house.clock.advance(max(0, by))

    @rule()
    def sweep(self) -> None:
        """The timer fires."""
        assert self.house.sweep() == self.model.notice(self.house.now)

    @rule(down=st.sampled_from([1, 1, 2000, 20_000]), signed=st.booleans())
    def restart(self, down: int, signed: bool) -> None:
        """Close and open again; what fell due meanwhile expires, and nothing else changes (D21)."""
        if signed:
            self.house.sign_root()
        assert self.house.restart(down) == 0, "the launch found a breach"
        self.model.notice(self.house.now)

    @rule(who=ACTOR, which=PICK)
    def look(self, who: str, which: int) -> None:
        """A list is what stands in the inbox; a job is there for its maker and its owner alone."""
        if who in self.model.fired:
            assert self.house.call(who, "hitl:list", {}) == Refused("unauthorised")
            return
        found = self.house.call(who, "hitl:list", {})
        self.model.notice(self.house.now)
        if isinstance(found, Refused):
            assert (found.code, ":g:clerk" in who) == ("capability_denied", True)
            return
        mine = [
            one
            for one in self.model.asked.values()
            if one.owner == user_of(who) and not one.gone and who in (one.owner, one.maker)
        ]
        assert [(row["id"], row["status"]) for row in found["items"]] == [(m.id, m.status) for m in mine]
        assert found["count"] == len(mine)
        self._see(who, self._one(which))

    @precondition(lambda self: self.replays)
    @rule(which=PICK, same=st.sampled_from([True, True, False]))
    def replay(self, which: int, same: bool) -> None:
        """An earlier call with its key once more, word for word or not (D20)."""
        who, operation, key, data, proofs = self.replays[which % len(self.replays)]
        made = self.model.keys.get((who, operation, key))
        if made is None or who in self.model.fired:
            return
        data = json.loads(made[0]) if same else {**json.loads(made[0]), "comment": "another"}
        found = self.house.call(who, operation, data, proofs, key)
        if same:
            assert found.id == made[1]
            _met[f"{operation} again"] += 1
        else:
            _met[f"{operation} idempotency_conflict"] += 1
            assert found == Refused("idempotency_conflict")
            self.model._conflict(who, operation, json.dumps(data)).effect(None)

    # --- what must hold

    @invariant()
    def the_books_agree(self) -> None:
        """After every step, every table says what the model says."""
        self.tables.compare()
        self.compared += 1

    def teardown(self) -> None:
        """At the end, the audit as a whole, with its signed roots."""
        try:
            for one in self.model.asked.values():
                _met[one.status] += 1
                _met["with a token"] += bool(one.response and "grants" in one.response)
                _met["in another's inbox"] += one.owner != user_of(one.maker)
            self.tables.compare()
            self.tables.verify_audit()
            _met["whole runs"] += self.compared >= STEPS
        finally:
            _builder[0].demolish(self.house)

    # --- how it is done

    def _post(
        self, who: str, inbox: str | None, shape: str, timeout: int | None, title: str, key: str | None
    ) -> None:
        data: dict[str, Any] = {"title": title, "asks": SHAPES[shape]}
        data |= {} if inbox is None else {"user": inbox}
        data |= {} if timeout is None else {"timeout": timeout}
        held = [one for one in self.delegations if (one.audience, one.target) == (who, inbox)][-1:]
        plan = self.model.post(who, data, shape, held, self.house.now)
        self._invoke(plan, who, "hitl:request", data, tuple(one.text for one in held), key)

    def _delegate(self, inbox: str, audience: str, lifetime: int, *, good: bool) -> None:
        can, exp = "hitl/request" if good else "crud/read", self.house.now // 1000 + lifetime
        if inbox == MIA:
            entry = {"with": f"{MIA}/h/", "can": can}
            data = {"aud": audience, "att": [entry], "exp": exp}
            plan = self.model.issue(MIA, audience, entry, exp, self.house.now)
            job = self._invoke(plan, MIA, "ucan:issue", data)
            text, issuers, grantor = job.output["token"], (self.house.world.did,), MIA
        else:
            text, issuers, grantor = self._signed(inbox, audience, inbox, can, exp), (inbox,), inbox
        held = Delegation(text, audience, inbox, good, issuers, (token_hash(text),), exp, grantor)
        self._give(held, carriers=1 if inbox == MIA else 0)

    def _invoke(
        self,
        plan: Plan,
        who: str,
        operation: str,
        data: Any,
        proofs: tuple[str, ...] = (),
        key: str | None = None,
    ) -> Any:
        repeats = None
        if key is not None:
            said = json.dumps(data, sort_keys=True)
            plan, repeats = self.model.keyed(plan, who, operation, key, said)
            self.replays.append((who, operation, key, data, proofs))
        found = self.house.call(who, operation, data, proofs, key)
        if repeats is not None:
            assert found.id == repeats
            _met[f"{operation} again"] += 1
            return found
        return self._done(plan, found, operation)

    def _done(self, plan: Plan, found: Any, verb: str) -> Any:
        code = found.code if isinstance(found, Refused) else None
        _met[f"{verb} {code or 'done'}"] += 1
        assert code == plan.code, f"{code}, and not {plan.code}"
        if plan.notices and plan.code is not None:
            self.model.notice(self.house.now)
        plan.effect(found)
        if plan.notices:
            self.model.notice(self.house.now)
        if isinstance(found, Job):
            assert found.id > self.last_id, "ids run on"
            self.last_id = found.id
        return found

    def _see(self, who: str, one: Asked) -> None:
        job, work = self.house.job(who, one.id), self.model.jobs.get(one.id)
        if work is None or who not in (work.owner, work.maker):
            assert job == Refused("not_found")
        else:
            said = (job["status"], job.get("output"), job.get("error"))
            assert said == (work.status, work.output, work.error)

    def _one(self, which: int) -> Asked:
        """One of the open requests, the newest first; or, now and then, one that is settled."""
        asked = list(self.model.asked.values())
        if which < 6 and (waiting := [one for one in asked if one.status == "open"]):
            asked = waiting
        return asked[-1 - which % len(asked)]

    def _mint(self, which: int) -> Minted:
        mints = list(self.model.mints.values())
        return mints[which % len(mints)]

    def _deadlines(self) -> list[int]:
        asked = self.model.asked.values()
        return [one.expires for one in asked if one.status == "open" and one.expires is not None]

    def _answers(self, one: Asked, said: Any, sign: str = "good") -> dict[str, Any]:
        answers: dict[str, Any] = {}
        for ask in SHAPES[one.shape]:
            if ask["type"] == "token":
                answers["sign"] = self._token(one, sign)
            else:
                value = VALUES[ask["id"]][said[ask["id"]]]
                answers[ask["id"]] = value
        return {name: value for name, value in answers.items() if value is not None or said["ok"] % 2}

    def _token(self, one: Asked, sign: str) -> str:
        if sign == "garbage":
            return "no token"
        signer = one.owner if one.owner in SIGNERS else ADA.did
        if sign == "other signer":
            signer = BOB.did if one.owner == ADA.did else ADA.did
        audience = MIA if sign == "other audience" else one.maker
        audience = ADA.did if audience == one.maker and sign == "other audience" else audience
        now = self.house.now // 1000
        made = now - 20 if sign == "ended" else now
        return self._signed(signer, audience, signer, "crud/read", made + 10, now=made, path="w/g")

    def _signed(
        self,
        signer: str,
        audience: str,
        owner: str,
        can: str,
        exp: int,
        proofs: Any = (),
        *,
        now: int | None = None,
        path: str = "h/",
    ) -> str:
        self._nonce = getattr(self, "_nonce", 0) + 1
        return issue(
            SIGNERS[signer],
            audience=audience,
            capabilities=[Capability(f"{owner}/{path}", can)],
            expires=exp,
            now=self.house.now // 1000 if now is None else now,
            nonce=str(self._nonce),
            proofs=proofs,
        )

    def _give(self, held: Delegation, carriers: int) -> None:
        self.delegations.append(held)
        self.tables.secrets.append(Secret(held.text, carriers))

    def _echoes(self, one: Asked, answers: Any, wanted: Any) -> list[dict[str, Any]]:
        every = offers(one.shape)
        triggered = [offer for offer in every if offer.triggered(answers)]
        echoes = []
        for which, narrow, whole in wanted:
            if which == 7 or not every:
                echoes.append({"with": "w/never-offered", "can": "crud/read"})
                continue
            pool = triggered if which < 6 and triggered else every
            raw = pool[which % len(pool)].raw
            echo = dict(raw) if whole else {"with": raw["with"], "can": raw["can"]}
            if narrow is not None:
                echo["narrow"] = dict(NARROW[narrow])
                if narrow == "path":
                    echo["narrow"]["with"] = raw["with"].strip("/") + "/below"
                if "exp" in echo["narrow"]:
                    echo["narrow"]["exp"] += self.house.now // 1000
            echoes.append(echo)
        return echoes

    def _reply(self, one: Asked, outcome: str, more: Any) -> dict[str, Any]:
        return {"id": one.id, "outcome": outcome, **more}

    def _keep_secret(self, one: Asked, answers: Any, sign: str) -> None:
        """A signed token stands in the output of the job that it was delivered to, once, or nowhere."""
        text = answers.get("sign")
        if isinstance(text, str) and sign != "garbage":
            work = self.model.jobs.get(one.id)
            carried = work is not None and (work.output or {}).get("tokens", {}).get("sign") == text
            self.tables.secrets.append(Secret(text, carriers=1 if carried else 0))


def play(
    runs: int, steps: int, *, fresh: bool, phases: Sequence[Phase] = (Phase.generate, Phase.shrink)
) -> None:
    """So many runs of so many steps, and some broken off; the same ones each time unless `fresh`."""
    chosen = settings(
        max_examples=runs * 4 // 3,
        stateful_step_count=steps,
        derandomize=not fresh,
        database=None,
        deadline=None,
        phases=phases,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    _builder.append(Builder())
    try:
        run_state_machine_as_test(Settles, settings=chosen)
    finally:
        _builder.pop().close()


@pytest.mark.timeout(60 + 3 * RUNS)
def test_whatever_happens_the_books_agree() -> None:
    """Every step of every run; and the runs come by everything that they are meant to come by."""
    _met.clear()
    play(RUNS, STEPS, fresh=FRESH)
    assert _met["whole runs"] >= RUNS
    assert not [what for what in MEANT if not _met[what]]
