"""What is asked and answered in the machine: few requests, each answered in every way, good and bad.

What an answer comes to is said here once more, in the words of D14 and D15 and not in those of the code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

DAY = 86_400
DELIVERED = "<signed token delivered to requester>"
READ, CRUD, WRITE = "crud/read", "crud", "crud/write"

SHAPES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "approval": [
        {
            "id": "ok",
            "type": "approval",
            "prompt": "OK?",
            "required": True,
            "grants": [{"with": "w/a", "can": READ}, {"with": "/w/b", "can": CRUD, "lifetime": 60}],
        }
    ],
    "choice": [
        {
            "id": "which",
            "type": "choice",
            "prompt": "Which?",
            "x-color": "kept",
            "options": [
                {"id": "a", "grants": [{"with": "w/c", "can": CRUD, "lifetime": 120}]},
                {"id": "b", "grants": [{"with": "w/d/", "can": WRITE}]},
                {"id": "none"},
            ],
        }
    ],
    "twins": [
        {
            "id": "many",
            "type": "checkboxes",
            "prompt": "Which?",
            "options": [
                {"id": "long", "grants": [{"with": "w/e", "can": READ, "lifetime": 600}]},
                {"id": "short", "grants": [{"with": "w/e", "can": READ, "lifetime": 5}]},
                {"id": "other", "grants": [{"with": "w/f", "can": CRUD, "nb": {"odd": 1}}]},
            ],
        },
        {"id": "why", "type": "text", "prompt": "Why?", "comment": True},
    ],
    "token": [
        {
            "id": "sign",
            "type": "token",
            "prompt": "Sign?",
            "required": True,
            "token": {"caps": [{"with": "w/g", "can": READ}]},
        },
        {
            "id": "ok",
            "type": "approval",
            "prompt": "OK?",
            "grants": [{"with": "w/h", "can": READ, "lifetime": 90 * DAY}],
        },
    ],
}

VALUES: Mapping[str, Sequence[Any]] = {
    "ok": (True, True, True, False, None, "true", 1),
    "which": ("a", "b", "none", "a", None, "c", ["a"]),
    "many": (["long", "short"], ["short"], ["long", "other"], [], None, ["long", "long"], "long"),
    "why": ("", "because", None, "because", "", 5, ["no"]),
}
"""Answers by ask id. The last two of each are no answers."""

TOKENS = ("good", "good", "good", "good", "other audience", "other signer", "ended", "garbage")
"""What is given as an answer to a token ask."""

NARROW: Mapping[str, Mapping[str, Any]] = {
    "path": {"with": "below"},
    "can": {"can": READ},
    "soon": {"exp": 3},
    "wider path": {"with": "w"},
    "wider can": {"can": "*"},
    "longer": {"exp": 91 * DAY},
    "past": {"exp": 0},
    "nothing": {},
    "odd": {"nb": {}},
}
"""How an echo is narrowed: by a path below the offer, an ability, an end in so many seconds. The last six are
no narrowing."""


@dataclass(frozen=True)
class Offered:
    """An offer with the ask and, on an option, the choice that triggers it."""

    ask: str
    option: str | None
    raw: Mapping[str, Any]

    @property
    def key(self) -> tuple[str, str]:
        """What an echo repeats."""
        return self.raw["with"], self.raw["can"]

    def ends(self, now: int) -> int:
        """When a grant of it ends, in unix seconds (D10)."""
        return int(now + self.raw.get("lifetime", 7 * DAY))

    def triggered(self, answers: Mapping[str, Any]) -> bool:
        """Whether its choice was made."""
        given = answers.get(self.ask)
        if self.option is None:
            return given is True
        return given == self.option or (isinstance(given, list) and self.option in given)


def offers(shape: str) -> list[Offered]:
    """Every offer of a shape."""
    found = []
    for ask in SHAPES[shape]:
        found += [Offered(ask["id"], None, raw) for raw in ask.get("grants", ())]
        for option in ask.get("options", ()):
            found += [Offered(ask["id"], option["id"], raw) for raw in option.get("grants", ())]
    return found


@dataclass(frozen=True)
class Granted:
    """What an echo comes to: as the record says it, and as the token does."""

    said: Mapping[str, Any]
    resource: str
    can: str
    nb: Mapping[str, Any] | None
    exp: int

    def entry(self) -> dict[str, Any]:
        """The capability as it stands in the token and in the ledger."""
        entry: dict[str, Any] = {"with": self.resource, "can": self.can}
        return entry if self.nb is None else {**entry, "nb": self.nb}


def granted(
    shape: str, answers: Mapping[str, Any], echoes: Sequence[Mapping[str, Any]], owner: str, now: int
) -> list[Granted] | None:
    """What these echoes confer, or None when one of them refuses the answer. `now` in unix seconds."""
    triggered = [offer for offer in offers(shape) if offer.triggered(answers)]
    found: dict[tuple[str, str], Granted] = {}
    for echo in echoes:
        twins = [offer for offer in triggered if offer.key == (echo["with"], echo["can"])]
        if not any(echo.keys() - {"narrow"} <= offer.raw.keys() for offer in twins):
            return None
        grant = _narrowed(min(twins, key=lambda offer: offer.ends(now)), echo.get("narrow"), owner, now)
        if grant is None or found.setdefault(grant_key(echo), grant) != grant:
            return None
    return list(found.values())


def grant_key(echo: Mapping[str, Any]) -> tuple[str, str]:
    """What two echoes of one offer have in common."""
    return echo["with"], echo["can"]


def _narrowed(offer: Offered, narrow: Mapping[str, Any] | None, owner: str, now: int) -> Granted | None:
    path, can = offer.key
    path, end, raw = f"{owner}/{path.removeprefix('/')}", offer.ends(now), dict(offer.raw)
    if narrow is None:
        return Granted(raw, path, can, offer.raw.get("nb"), end)
    if not narrow or "nb" in narrow:
        return None
    part = f"{owner}/{narrow['with']}" if "with" in narrow else path
    inside = part.rstrip("/") == path.rstrip("/") or part.startswith(f"{path.rstrip('/')}/")
    may = narrow.get("can", can)
    covered = may == can or may.startswith(f"{can}/")
    ends = narrow.get("exp", end)
    if not inside or not covered or not now < ends <= end:
        return None
    return Granted({**raw, "narrow": dict(narrow)}, part, may, offer.raw.get("nb"), ends)


def well_formed(shape: str, answers: Mapping[str, Any]) -> bool:
    """Whether answers have the form that the asks want; what a token says is another matter."""
    asks = {ask["id"]: ask for ask in SHAPES[shape]}
    if answers.keys() - asks.keys():
        return False
    for name, ask in asks.items():
        value = answers.get(name)
        if value is None:
            if ask.get("required"):
                return False
        elif not _fits(ask, value):
            return False
    return True


def _fits(ask: Mapping[str, Any], value: Any) -> bool:
    options = [option["id"] for option in ask.get("options", ())]
    match ask["type"]:
        case "approval":
            return isinstance(value, bool)
        case "choice":
            return isinstance(value, str) and value in options
        case "checkboxes":
            return isinstance(value, list) and set(value) <= {*options} and len({*value}) == len(value)
    return isinstance(value, str)
