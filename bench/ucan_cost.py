"""What a verdict costs, against the least that any verifier must do. By hand: `python -m bench.ucan_cost`.

The floor of a token: split it, decode three segments of base64, parse two JSON objects, decode the did:key of
the issuer, and let `cryptography` verify one signature. Floor and verdict are measured in turns within one
run, so that a busy machine slows both; the medians of their ratios are what counts.
"""

import base64
import itertools
import json
import os
import statistics
import subprocess
import sys
import timeit
from collections.abc import Callable

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from multiformats import multibase

from ucan import Capability, Ed25519Signer, Roots, Token, authorise, issue, verify

NOW = 1_767_225_600
ROUNDS = 41
Row = tuple[str, Callable[[], None], Callable[[], None], float]
ED25519 = "from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey"


def chain(links: int) -> list[str]:
    """A chain of `links` tokens, the root first."""
    signers = [Ed25519Signer.from_seed(bytes([n]) * 32) for n in range(links + 1)]
    grant = [Capability(f"{signers[0].did}/w/reports/", "crud/read")]
    tokens: list[str] = []
    for signer, audience in itertools.pairwise(signers):
        tokens.append(
            issue(
                signer,
                audience=audience.did,
                capabilities=grant,
                expires=NOW + 3600,
                now=NOW,
                nonce="5f0c9a5e",
                proofs=tokens[-1:],
            )
        )
    return tokens


def _decode(segment: str) -> bytes:
    return base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))


def floor(tokens: list[str]) -> None:
    """The work that no verifier of these tokens can leave out."""
    for text in tokens:
        header, payload, signature = text.split(".")
        json.loads(_decode(header))
        claims = json.loads(_decode(payload))
        key = multibase.decode(claims["iss"][8:])[1][2:]
        Ed25519PublicKey.from_public_bytes(key).verify(_decode(signature), f"{header}.{payload}".encode())


def ratio(work: Callable[[], object], base: Callable[[], object]) -> tuple[float, float, float]:
    """Median ratio of `work` to `base`, and the best time of each in microseconds."""
    number = max(1, int(0.004 / min(timeit.repeat(base, number=3, repeat=3)) * 3))
    repeats = max(1, int(0.004 / min(timeit.repeat(work, number=3, repeat=3)) * 3))
    pairs = [
        (timeit.timeit(work, number=repeats) / repeats, timeit.timeit(base, number=number) / number)
        for _ in range(ROUNDS)
    ]
    median = statistics.median(a / b for a, b in pairs)
    return median, min(a for a, _ in pairs) * 1e6, min(b for _, b in pairs) * 1e6


def imports() -> tuple[float, float, float]:
    """The ratio of the two imports without the interpreter's start, by the best of each, in milliseconds."""
    code = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"

    # With the compiled modules that an installation has.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def once(statement: str) -> float:
        run = [sys.executable, "-c", code.format(statement)]
        return (
            float(subprocess.run(run, env=environment, capture_output=True, check=True, text=True).stdout)
            * 1e3
        )

    pairs = [(once("import ucan"), once(ED25519)) for _ in range(31)]
    ours, theirs = (min(times) for times in zip(*pairs, strict=True))
    return ours / theirs, ours, theirs


def report(name: str, bound: float, unit: str, measured: float, ours: float, theirs: float) -> None:
    """One line: the ratio, what was promised, and the two times."""
    print(f"{name:40} {measured:6.3f}  (bound {bound}; {ours:.1f} {unit} against {theirs:.1f} {unit})")


def main() -> None:
    """Print one line per promise: what was measured, the ratio, the bound."""
    one, three = chain(1), chain(3)
    owner, holder = Ed25519Signer.from_seed(bytes(32)).did, Ed25519Signer.from_seed(bytes([3]) * 32).did
    first = Ed25519Signer.from_seed(bytes([1]) * 32).did
    memo: dict[str, Token] = {}
    roots = Roots()

    def may(text: str, presenter: str, memo: dict[str, Token] | None = None) -> None:
        resource = f"{owner}/w/reports/may"
        verdict = authorise(
            [text],
            presenter=presenter,
            resource=resource,
            ability="crud/read",
            now=NOW,
            roots=roots,
            memo=memo,
        )
        if not verdict:
            raise SystemExit(verdict.reason)

    def sound(text: str, memo: dict[str, Token] | None = None) -> None:
        if not (verdict := verify(text, now=NOW, memo=memo)):
            raise SystemExit(verdict.reason)

    def again(name: str, ask: Callable[[dict[str, Token] | None], None]) -> Row:
        return name, lambda: ask(memo), lambda: ask(None), 0.05

    rows: list[Row] = [
        ("verify, root token / floor", lambda: sound(one[-1]), lambda: floor(one), 1.35),
        ("authorise, root token / floor", lambda: may(one[-1], first), lambda: floor(one), 1.35),
        ("verify, three hops / floor", lambda: sound(three[-1]), lambda: floor(three), 1.45),
        ("authorise, three hops / floor", lambda: may(three[-1], holder), lambda: floor(three), 1.45),
        again("verify again, root / first", lambda memo: sound(one[-1], memo)),
        again("verify again, three hops / first", lambda memo: sound(three[-1], memo)),
        again("authorise again, root / first", lambda memo: may(one[-1], first, memo)),
        again("authorise again, three hops / first", lambda memo: may(three[-1], holder, memo)),
    ]
    for name, work, base, bound in rows:
        report(name, bound, "us", *ratio(work, base))
    report("import ucan / import Ed25519", 1.5, "ms", *imports())


if __name__ == "__main__":
    main()
