"""May this caller do this to that resource? The one gate in front of everything (D6-D8, D23).

A person may do anything in their own namespace; an agent what its caps say; anybody what their proofs say.
What an agent made itself it may see, and nothing else of `h/` and `j/`.
"""

from collections.abc import Callable, Sequence

from inbox.store.base import Transaction
from ucan.capability import covers_ability, covers_resource, parse_configured
from ucan.chain import Resolve
from ucan.did import PublicKey, agent_id_of, managed_by, public_key
from ucan.verify import Roots, Verdict, authorise

from . import bindings, ledger, users
from .errors import (
    AgentRefused,
    AuthRequired,
    CapabilityDenied,
    Forbidden,
    OperatorRefused,
    WeakCredential,
)
from .model import ASKERS, Call, Caller, Kind, World


def admit(caller: Caller, callers: frozenset[Kind]) -> None:
    """Let a caller of one of these kinds pass, before anything is read; the first gate of every operation.

    Raises AuthRequired (`auth_required`) for an anonymous caller, AgentRefused (`agent_refused`) for an
    agent, whatever its caps say (D9), WeakCredential (`weak_credential`) for one who came through a relay
    (D2), and OperatorRefused (`operator_refused`) for the operator (D5).
    """
    if caller.kind in callers:
        return
    match caller.kind:
        case Kind.ANONYMOUS:
            raise AuthRequired("Say who you are: this needs a bearer token")
        case Kind.AGENT:
            raise AgentRefused(
                "An agent may not do this, whatever its caps: only the person it works for may"
            )
        case Kind.RELAYED:
            raise WeakCredential(
                "An identity token is enough to ask and to read; sign a bearer of your own for this"
            )
        case Kind.OPERATOR:
            raise OperatorRefused("The operator never answers, grants or reads what belongs to others")
    raise Forbidden("Only the operator may do this, from the command line")


def require(call: Call, ability: str, resource: str) -> None:
    """Let the call go on, or say why not.

    `resource` is absolute. Raises AuthRequired, CapabilityDenied (`capability_denied`) for an agent in its
    owner's namespace, Forbidden (`denied`) for everybody else.
    """
    admit(call.caller, ASKERS)
    if _own(call, ability, resource):
        return
    verdict = by_proof(call, ability, resource)
    if not verdict:
        raise _denial(call, ability, resource, verdict)


def sees(call: Call, resource: str) -> str | None:
    """Let the call read a resource, or say why not; returns whose making it is narrowed to, None for no
    narrowing.

    In `h/` and `j/` of its owner an agent sees what it made itself, whatever its caps say (D23), unless a
    proof opens more.
    """
    owner, _, path = resource.partition("/")
    inside = call.caller.is_agent and owner == call.caller.user and path.partition("/")[0] in ("h", "j")
    if inside and not by_proof(call, "crud/read", resource):
        return call.caller.did
    require(call, "crud/read", resource)
    return None


def by_proof(call: Call, ability: str, resource: str) -> Verdict:
    """What the presented proofs alone come to for this caller; the very gate that `ucan:verify` runs."""
    return worth(call, call.caller.proofs, call.caller.did, ability, resource)


def worth(call: Call, tokens: Sequence[str], presenter: str, ability: str, resource: str) -> Verdict:
    """What these tokens come to here and now for whoever presents them: chain, roots and revocations (D7, D8,
    D11).
    """
    return authorise(
        tokens,
        presenter=presenter,
        resource=resource,
        ability=ability,
        now=call.now_seconds,
        roots=roots(call),
        resolve=keyring(call.tx, call.world),
        revoked=revocations(call.tx),
    )


def roots(call: Call) -> Roots:
    """Whose signature counts at the root of a chain here (D7)."""
    return Roots(
        venue=call.world.dids,
        hosts=lambda did: users.registered(call.tx, did),
        trusted=call.world.trusted,
        attest=call.world.terms.grants.attest,
    )


def keyring(tx: Transaction, world: World) -> Resolve:
    """The keys of principals that are no did:key: of this venue, those bound here to agents and managed users
    (and no others: the web has no say over them), and what was learnt of did:web.
    """

    def resolve(did: str) -> Sequence[PublicKey]:
        if did in world.dids:
            return (public_key(f"did:key:{world.signer.kid}"),)
        if agent_id_of(did) is not None or managed_by(did) in world.dids:
            return [public_key(key) for key in bindings.live_keys(tx, did)]
        return world.web_keys(did)

    return resolve


def revocations(tx: Transaction) -> Callable[[str], bool]:
    """Which tokens were revoked, by their hash."""
    return lambda token_hash: ledger.is_revoked(tx, token_hash)


def _own(call: Call, ability: str, resource: str) -> bool:
    if _owner(resource) != call.caller.user:
        return False
    return not call.caller.is_agent or _caps_cover(call, ability, resource)


def _caps_cover(call: Call, ability: str, resource: str) -> bool:
    for entry in call.caller.caps or ():
        cap = parse_configured(entry, call.caller.user)
        if covers_resource(cap.with_, resource) and covers_ability(cap.can, ability):
            return True
    return False


def _denial(call: Call, ability: str, resource: str, verdict: Verdict) -> Forbidden:
    if call.caller.is_agent and _owner(resource) == call.caller.user:
        caps = ", ".join(f"{cap['can']} on {cap['with'] or 'everything'}" for cap in call.caller.caps or ())
        return CapabilityDenied(
            f"Capability denied: {ability} on {resource} is outside this agent's caps ({caps or 'none'}). "
            "Retrying will not help; ask the owner."
        )
    why = verdict.reason if call.caller.proofs else "no proof presented"
    return Forbidden(f"Access denied: {ability} on {resource} - {why}")


def _owner(resource: str) -> str:
    return resource.partition("/")[0]
