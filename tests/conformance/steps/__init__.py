"""What each operation of the catalogue does, by name. Whatever is not registered here is unknown."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import BadScenario
from ..replies import Reply

if TYPE_CHECKING:
    from ..stage import Stage


@dataclass(frozen=True)
class Act:
    """A step under way: on which stage, as whom, with which proofs, and how the client sends it."""

    stage: "Stage"
    who: str
    ucans: Sequence[str] = ()
    transport: Mapping[str, Any] = field(default_factory=dict)


Do = Callable[..., Reply]


@dataclass(frozen=True)
class Step:
    """An operation of the catalogue: what it does, and what besides its input it takes."""

    do: Do
    proofs: bool
    transport: frozenset[str]


STEPS: dict[str, Step] = {}


def step(name: str, *, proofs: bool = False, transport: Sequence[str] = ()) -> Callable[[Do], Do]:
    """Register an operation. Its input comes as keyword arguments, so that an unknown key is refused."""

    def register(do: Do) -> Do:
        assert name not in STEPS, name
        STEPS[name] = Step(do, proofs, frozenset(transport))
        return do

    return register


def perform(name: str, act: Act, data: Mapping[str, Any]) -> Reply:
    """Do one step. Raises BadScenario for a name, an input key or a transport that is unknown."""
    if name not in STEPS:
        raise BadScenario(f"unknown operation: {name}")
    found = STEPS[name]
    if act.ucans and not found.proofs:
        raise BadScenario(f"{name} takes no ucans")
    if strange := act.transport.keys() - found.transport:
        raise BadScenario(f"{name} knows no transport {sorted(strange)}")
    arguments = {f"{key}_" if key in ("from", "with") else key: value for key, value in data.items()}
    try:
        inspect.signature(found.do).bind(act, **arguments)
    except TypeError as error:
        raise BadScenario(f"{name}: {error}") from None
    return found.do(act, **arguments)
