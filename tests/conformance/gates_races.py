"""The operations of a case in which several settle at once, and what they are expected to leave."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .gates_match import CaseNotUnderstood, match
from .gates_probes import OWNER
from .gates_reply import Reply, done
from .gates_runner import EXPECTATIONS, HARNESS, CaseRun, Step
from .gates_world import World, file_of

_COUNT_WRITES = """
CREATE TABLE IF NOT EXISTS harness_writes (gate TEXT);
CREATE TRIGGER IF NOT EXISTS harness_count AFTER UPDATE ON hitl_gate
BEGIN INSERT INTO harness_writes VALUES (NEW.id); END;
DELETE FROM harness_writes;
"""


def race(run: CaseRun, step: Step, barrier: str, steps: list[Step]) -> Reply:
    """Every member has read the gate as pending before the first one writes."""
    if barrier != "both_read_pending":
        raise CaseNotUnderstood(f"barrier {barrier}")
    run.raw.executescript(_COUNT_WRITES)
    members = _collected(run, [_held(run, each["as"], each) for each in steps])
    for each, member in zip(steps, members, strict=True):
        if member["ok"]:
            run.expect(each["expect"], member, f"{run.case['id']} member {each['store']}")
    return done(members=members, gate=steps[0]["input"]["id"])


def storm(run: CaseRun, step: Step, workers: int, processes: int, distinct_payloads: bool) -> Reply:
    """Many threads of several processes resolve g1, each on a store of its own."""
    run.raw.executescript(_COUNT_WRITES)
    names = [f"storm{number}" for number in range(processes)]
    for name in names:
        run.actors[name] = run.actor(World(run.kind, file_of(run.directory)))
        run.do(name, "specify", {"name": "s", "spec": run.specs["s"]})
    share = workers // processes

    def resolve(process: int) -> list[Reply]:
        numbers = [process * share + worker for worker in range(share)]
        payloads = [{"n": number if distinct_payloads else 0} for number in numbers]
        given = [{"id": "g1", "payload": payload, "resolver": OWNER} for payload in payloads]
        replies: list[Reply] = run.do(names[process], "storm", {"given": given})["result"]
        return replies

    with ThreadPoolExecutor(processes) as pool:
        members = [member for replies in pool.map(resolve, range(processes)) for member in replies]
    return done(members=members, gate="g1")


def interleave(run: CaseRun, step: Step, first: str, then: list[dict[str, Any]], finish: str) -> Reply:
    """Something happens between the read of a resolve and its write."""
    if (first, finish) != ("resolve_gate reads pending", "resolve_gate writes"):
        raise CaseNotUnderstood(f"interleave {first} … {finish}")
    given = {"id": "g1", "payload": {"approved": True}, "resolver": OWNER}
    held = _held(run, "p1", {"op": "resolve_gate", "input": given, "store": "s1"})
    for each in then:
        if each.keys() == {"advance"}:
            run.advance_clock(step, each["advance"])
        elif each.keys() == {"store.get"}:
            run.do("p2", "store.get", {"id": each["store.get"]})
        else:
            raise CaseNotUnderstood(f"interleave {each}")
    return _collected(run, [held])[0]


def _held(run: CaseRun, who: str, step: Step) -> tuple[str, int]:
    given = {"op": step["op"], "given": step["input"], "store": step["store"]}
    return who, run.do(who, "hold", given)["result"]


def _collected(run: CaseRun, held: list[tuple[str, int]]) -> list[Reply]:
    for who, task in held:
        run.do(who, "release", {"task": task})
    return [run.do(who, "collect", {"task": task}) for who, task in held]


def ok_count(run: CaseRun, wanted: int, reply: Reply, where: str) -> None:
    match(wanted, sum(member["ok"] for member in reply["members"]), where)


def loser(run: CaseRun, wanted: dict[str, Any], reply: Reply, where: str) -> None:
    for member in reply["members"]:
        if not member["ok"]:
            run.expect_error(wanted, member["error"], where)


def row_writes(run: CaseRun, wanted: int, reply: Reply, where: str) -> None:
    found = run.column("SELECT count(*) FROM harness_writes WHERE gate = ?", reply["gate"])
    match(wanted, found[0], where)


def same_result(run: CaseRun, wanted: bool, reply: Reply, where: str) -> None:
    results = [member["result"] for member in reply["members"] if member["ok"]]
    match(wanted, all(result == results[0] for result in results), where)


def row_is_winner(run: CaseRun, wanted: bool, reply: Reply, where: str) -> None:
    """What those who succeeded were told is what the row says."""
    row = run.do("p1", "store.get", {"id": reply["gate"]})["result"]
    told = [member["result"] for member in reply["members"] if member["ok"]]
    match(wanted, bool(told) and all(each == row for each in told), where)


HARNESS |= {"race": race, "storm": storm, "interleave": interleave}
EXPECTATIONS |= {
    "ok_count": ok_count,
    "loser": loser,
    "row_writes": row_writes,
    "same_result": same_result,
    "row_is_winner": row_is_winner,
    "resolved_by_is_winner": row_is_winner,
}
