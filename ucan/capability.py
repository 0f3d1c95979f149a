"""What a token gives: an ability on a resource, under caveats; and when one lies inside another (D6).

A resource is `<owner DID>/<namespace>/<segments>`. Segments are compared whole, so after the canonical form
(no trailing slash, no segment that could mean another) "inside" is equality or a prefix that ends at a slash.
"""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from .did import is_did
from .errors import Malformed

# A person who reads the path must see what is compared: no controls, and beyond ASCII no line separators, no
# surrogates and none of the marks that reorder text. Most paths are ASCII and never meet the second pattern.
_PATH = re.compile(r"(?:(?!\.{1,2}(?:/|\Z))[^/%\\\x00-\x1f\x7f]+(?:/|\Z))+")
_ABILITY = re.compile(r"\*|(?:[^/*\s\x00-\x1f\x7f]+(?:/(?!\Z)|\Z))+")
_HIDDEN = "[\x80-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_KEYS = frozenset(("with", "can", "nb"))


class Capability(NamedTuple):
    """The ability `can` on the resource `with_` (absolute, spelled as offered), under the caveats `nb`.

    `nb` None is no caveat. Build one with `parse` or `capability` unless its parts are known to be well
    formed.
    """

    with_: str
    can: str
    nb: Mapping[str, Any] | None = None

    @property
    def resource(self) -> str:
        """The resource in the form that is compared."""
        return self.with_.removesuffix("/")

    @property
    def owner(self) -> str:
        """The DID whose resource this is."""
        return self.with_.partition("/")[0]

    def covers(self, other: "Capability") -> bool:
        """Whether `other` lies inside: resource, ability, and no caveat lost. A partial order (D6, D8).

        A caveat counts as kept only if `other` repeats it verbatim.
        """
        return (
            covers_resource(self.with_, other.with_)
            and covers_ability(self.can, other.can)
            and _keeps_caveats(self.nb, other.nb)
        )

    def as_claim(self) -> dict[str, Any]:
        """The entry of `att` that says this."""
        claim: dict[str, Any] = {"with": self.with_, "can": self.can}
        return claim if self.nb is None else claim | {"nb": dict(self.nb)}


def parse(entry: object, owner: str) -> Capability:
    """Read one entry of `att`, or of an agent's caps; a bare `with` is in the namespace of `owner`.

    Exactly `with`, `can` and possibly `nb` (an object): a key that is not known could be a misspelt limit.
    Raises `Malformed`; an empty `with` is malformed too, for in a signed token it means nothing
    (`parse_configured`).
    """
    if not isinstance(entry, dict) or not entry.keys() <= _KEYS:
        raise Malformed(
            "malformed", "A capability is an object of `with`, `can` and perhaps `nb`, and nothing else."
        )
    nb = entry.get("nb")
    if "nb" in entry and not isinstance(nb, dict):
        raise Malformed("malformed", "The caveats `nb` of a capability are not an object.")
    can = entry.get("can")
    if not isinstance(can, str) or not is_ability(can):
        raise Malformed("malformed", "The ability `can` is `*` or names separated by single slashes.")
    resource = entry.get("with")
    if not isinstance(resource, str):
        raise Malformed("malformed", "The resource `with` of a capability is not a text.")
    return Capability(absolute(resource, owner), can, MappingProxyType(nb) if nb else None)


def parse_configured(entry: object, owner: str) -> Capability:
    """Like `parse`, for an agent's configured caps only: an empty `with` is everything of `owner` (D6)."""
    if isinstance(entry, dict) and entry.get("with") == "":
        entry = entry | {"with": owner}
    return parse(entry, owner)


def absolute(path: str, owner: str) -> str:
    """`path` as an absolute resource, spelled as given: a bare path is put below `owner` (D6).

    One leading slash of a bare path is dropped and a trailing slash stays; a DID alone is everything of that
    owner. Raises `Malformed` for an empty path, `.`, `..` and empty segments, `%`, a backslash, control and
    bidi characters, and for a scheme where a DID or a namespace should stand: such a path is refused, not
    normalised.
    """
    if path.startswith("did:"):
        did, _, rest = path.partition("/")
        if (did != owner and not is_did(did)) or (rest and not _is_path(rest)):
            raise _not_a_resource()
        return path
    rest = path.removeprefix("/")
    if not _is_path(rest) or ":" in rest.partition("/")[0]:
        raise _not_a_resource()
    return f"{owner}/{rest}"


def canonical(resource: str, known: str = "") -> str:
    """The compared form of an absolute resource: no trailing slash. Raises `Malformed` as `absolute` does.

    `known` may name a DID that was checked before, to save looking at the same one again.
    """
    if not resource.startswith("did:"):
        raise _not_a_resource()
    return absolute(resource, known).removesuffix("/")


def split(resource: str) -> tuple[str, tuple[str, ...]]:
    """The owner's DID and the segments below it. Raises `Malformed` if it is not absolute and canonical."""
    owner, *segments = canonical(resource).split("/")
    return owner, tuple(segments)


def covers_resource(a: str, b: str) -> bool:
    """Whether the absolute resource `a` is `b` or above it. False if either is malformed."""
    try:
        return inside(canonical(b), canonical(a))
    except Malformed:
        return False


def is_ability(text: str) -> bool:
    """Whether `text` is `*`, or names without white space, controls and `*`, separated by single slashes."""
    return _ABILITY.fullmatch(text) is not None and _shows(text)


def covers_ability(a: str, b: str) -> bool:
    """Whether the ability `a` is `b` or above it; `*` is above all. `grant/x` and `x` are strangers (D6).

    False if either is malformed; `crud/*` is, for elsewhere it means what `crud` means here.
    """
    return is_ability(a) and is_ability(b) and (a == "*" or inside(b, a))


def inside(below: str, above: str) -> bool:
    """Whether `below` is `above` or below it by whole segments. Both must be canonical: it checks nothing."""
    return below.startswith(above) and (len(below) == len(above) or below[len(above)] == "/")


def _is_path(text: str) -> bool:
    return _PATH.fullmatch(text) is not None and _shows(text)


def _shows(text: str) -> bool:
    return text.isascii() or re.search(_HIDDEN, text) is None


def _not_a_resource() -> Malformed:
    return Malformed("malformed", "This is not the canonical form of a resource: a DID, or a path below one.")


def _keeps_caveats(above: Mapping[str, Any] | None, below: Mapping[str, Any] | None) -> bool:
    if not above:
        return True
    kept = below or {}
    return all(name in kept and _spelled(kept[name]) == _spelled(value) for name, value in above.items())


def _spelled(value: Any) -> str:
    # As text, because for Python 1 == True == 1.0.
    return json.dumps(value, sort_keys=True)
