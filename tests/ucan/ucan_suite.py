"""The compact suite that a verifier must pass, run against whatever `ucan` is first on the path.

Run as a program it prints the names of the cases that came out wrong, and fails if there are any. The tests
run it against mutated copies of the package: a mutant that passes is a hole in this suite.
"""

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ucan_kit import (
    ALICE,
    BOB,
    CAROL,
    DAVE,
    HEADER,
    HOUR,
    MALLORY,
    NOW,
    VENUE,
    b64,
    chain,
    claims,
    may,
    write,
)

from ucan import Roots, Verdict, authenticate, self_issued, verify
from ucan.did import did_key

W = f"{ALICE.did}/w"
REPORTS = {"with": f"{W}/reports", "can": "crud/read"}
NOBODY = did_key(bytes([1] + [0] * 31))


def gives(*capabilities: dict[str, Any]) -> dict[str, Any]:
    """A change of `att`."""
    return {"att": list(capabilities)}


def under(**nb: Any) -> dict[str, Any]:
    """A change of `att` to the good capability under caveats."""
    return gives({"with": W, "can": "crud", "nb": nb})


def straight(header: object = HEADER, **changes: Any) -> str:
    """A token from alice straight to dave."""
    return write(ALICE, claims(ALICE, DAVE.did, W, "crud", **changes), header)


def from_venue() -> str:
    """A token from the venue over alice's resource."""
    return write(VENUE, claims(VENUE, DAVE.did, W, "crud"))


def swapped() -> str:
    """A good token whose claims were exchanged after signing."""
    header, _, signature = straight().split(".")
    return f"{header}.{straight(nnc='other').split('.')[1]}.{signature}"


def by_nobody() -> str:
    """Under a key of small order, with R the neutral point and S zero: a signature that needs no secret."""
    unsigned = write(ALICE, claims(ALICE, DAVE.did, f"{NOBODY}/w", "crud", iss=NOBODY)).rpartition(".")[0]
    return f"{unsigned}.{b64(bytes([1] + [0] * 63))}"


def named_twice() -> str:
    """A key of the claims twice, with the same value."""
    text = json.dumps(claims(ALICE, DAVE.did, W, "crud"))
    return write(ALICE, f'{text[:-1]}, "aud": "{DAVE.did}"}}')


def respelled() -> str:
    """The same bytes in a second spelling: a stray bit at the end of the signature's base64."""
    text = straight()
    return text[:-1] + chr(ord(text[-1]) + 1)


def beside() -> str:
    """Bob got something of alice's, who may give it, and something of carol's, which alice may not."""
    root = write(ALICE, claims(ALICE, BOB.did, "", "", **gives({"with": W, "can": "crud"}, carols())))
    return write(BOB, claims(BOB, DAVE.did, "", "", root, **gives(carols())))


def carols() -> dict[str, Any]:
    """Something of carol's."""
    return {"with": f"{CAROL.did}/w", "can": "crud"}


def revoked(link: int) -> Callable[[str], bool]:
    """A revocation list of one link of the good chain."""
    return verify(chain(), now=NOW).chain[link].hash.__eq__


def called(**changes: Any) -> Verdict:
    """Who calls, by alice's identity token with changes."""
    body = claims(ALICE, VENUE.did, "", "", **(gives() | changes))
    return authenticate(write(ALICE, body), venue=[VENUE.did], now=NOW)


def bearer(**changes: Any) -> Verdict:
    """Who calls, by alice's self-issued bearer with changes."""
    body = {"iss": ALICE.did, "sub": ALICE.did, "aud": VENUE.did, "iat": NOW, "exp": NOW + 60} | changes
    return self_issued(write(ALICE, body), venue=[VENUE.did], now=NOW)


def good() -> Iterator[tuple[str, Verdict]]:
    """What must be accepted."""
    yield "chain", may(chain())
    yield "straight", may(straight())
    yield "live until the last second", may(chain(root={"exp": NOW + 1}))
    yield "valid from now", may(chain(middle={"nbf": NOW}))
    yield "kid is a hint", may(straight(HEADER | {"kid": MALLORY.kid}))
    yield "venue", may(from_venue(), roots=Roots(VENUE.did, lambda _: True))
    yield "url met", may(chain(root=under(url="https://a.example/")), destination="https://a.example/c")
    yield "identity", called()
    yield "bearer", bearer()


def bad() -> Iterator[tuple[str, Verdict]]:
    """What must be refused."""
    yield "claims swapped", may(swapped())
    yield "leaf signed by another", may(chain(signers=(ALICE, BOB, MALLORY)))
    yield "middle signed by another", may(chain(signers=(ALICE, MALLORY, CAROL)))
    body = claims(ALICE, DAVE.did, W, "crud")
    yield "signed by whom kid names", may(write(MALLORY, body, HEADER | {"kid": MALLORY.kid}))
    yield "expired now", may(chain(leaf={"exp": NOW}))
    yield "middle expired", may(chain(middle={"exp": NOW - 1}))
    yield "not yet", may(chain(leaf={"nbf": NOW + 1}))
    yield "root not yet", may(chain(root={"nbf": NOW + 1}))
    yield "root given to another", may(chain(root={"aud": MALLORY.did}))
    yield "presented by another", may(chain(), presenter=BOB.did)
    yield "wider, request inside", may(chain(leaf=gives({"with": W, "can": "crud/read"})))
    yield "wider beside", may(chain(leaf=gives(REPORTS, {"with": f"{ALICE.did}/h", "can": "crud/read"})))
    yield "wider ability", may(chain(middle=gives(REPORTS | {"can": "*"})))
    yield "a longer name", may(chain(), resource=f"{W}/reports-secret")
    yield (
        "a longer owner",
        may(straight(**gives({"with": ALICE.did, "can": "*"})), resource=f"{ALICE.did}x/w"),
    )
    yield "a longer ability", may(chain(), ability="crud/reader")
    yield "the parent", may(chain(), resource=W)
    yield (
        "crossed",
        may(straight(**gives({"with": W, "can": "x"}, {"with": f"{ALICE.did}/h", "can": "crud"}))),
    )
    yield "not hers to give", may(beside(), resource=f"{CAROL.did}/w")
    yield "nobody's root", may(write(MALLORY, claims(MALLORY, DAVE.did, W, "crud")))
    yield "a venue that hosts nobody", may(from_venue(), roots=Roots(VENUE.did))
    yield "unknown caveat", may(straight(**under(x=1)))
    yield "dropped caveat", may(chain(root=under(x=1)))
    yield "url beside", may(straight(**under(url="https://a.example/c")), destination="https://a.example/cd")
    yield "leaf revoked", may(chain(), revoked=revoked(0))
    yield "root revoked", may(chain(), revoked=revoked(2))
    yield "another typ", may(straight(HEADER | {"typ": "venue-session+jwt"}))
    yield "critical", may(straight(HEADER | {"crit": ["x"]}))
    yield "a key twice", may(named_twice())
    yield "a second spelling", may(respelled())
    yield "by nobody", may(by_nobody(), resource=f"{NOBODY}/w")
    yield "identity that gives", called(**gives(REPORTS))
    yield "identity for long", called(exp=NOW + HOUR + 1)
    yield "another's bearer", bearer(sub=BOB.did)
    yield "bearer for another venue", bearer(aud=BOB.did)


def wrong() -> list[str]:
    """The names of the cases that came out wrong."""
    return [name for name, verdict in good() if not verdict] + [name for name, verdict in bad() if verdict]


if __name__ == "__main__":
    sys.exit("\n".join(wrong()) or 0)
