"""The verifier with one fault put in, again and again: the compact suite notices each.

A copy of the package is mutated by exact text, so a change of the code that moves a mutation's place fails
here and asks for the mutation to be written anew.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "ucan"

MUTANTS = {
    "only the leaf is looked at for attenuation": (
        "authority.py",
        "if not token.prf:",
        "if token is not leaf:",
    ),
    "attenuation is not looked at": ("authority.py", "    check_attenuation(leaf, climb.held)\n", ""),
    "any capability of the proof will do": (
        "authority.py",
        "in index.get(resource, ())",
        "in range(len(parent.att))",
    ),
    "any root will do": ("authority.py", 'if word == "refused":', "if not word:"),
    "a venue may attest for anybody": ("authority.py", "attested and self._hosts(owner)", "attested"),
    "anybody may present it": ("authority.py", "if leaf.aud != presenter:", "if not presenter:"),
    "abilities are not compared": (
        "authority.py",
        '(held.can == "*" or inside(can, held.can))',
        "held.can != can * 2",
    ),
    "caveats are not looked at": ("authority.py", "and capability.nb and", "and not capability.can and"),
    "names are compared by prefix": (
        "capability.py",
        'below.startswith(above) and (len(below) == len(above) or below[len(above)] == "/")',
        "below.startswith(above)",
    ),
    "the key is the one that kid names": (
        "chain.py",
        "keys_of(token.iss, resolve)",
        "keys_of('did:key:' + token.header.get('kid', token.iss[8:]), resolve)",
    ),
    "only the leaf is live": (
        "chain.py",
        "_check_now(token, now, revoked)\n            found",
        "link or _check_now(token, now, revoked)\n            found",
    ),
    "the links need not fit": ("chain.py", "if parent.aud != token.iss:", "if not parent.aud:"),
    "at its expiry it is still live": ("chain.py", "now >= exp", "now > exp"),
    "nbf is not looked at": ("chain.py", "now < nbf", "now < 0"),
    "revocation is not looked at": ("chain.py", "if revoked(token.hash):", "if revoked(token.nnc or ''):"),
    "the signature is not looked at": (
        "jwt.py",
        "if not any(verify(key, jws.signature, jws.signing_input) for key in fitting):",
        "if not fitting:",
    ),
    "the signature is over the header alone": (
        "jwt.py",
        "verify(key, jws.signature, jws.signing_input)",
        "(len(jws.signature) == 64)",
    ),
    "any typ will do": ("jwt.py", 'if jws.typ != "JWT":', "if not jws.typ:"),
    "critical extensions are ignored": (
        "jwt.py",
        'if "crit" in header or "b64" in header:',
        'if "b64" in header:',
    ),
    "base64 may be respelled": ("jwt.py", "if _to_base64url(data) != segment:", "if not data:"),
    "a key may stand twice": ("strict.py", "if len(value) != len(pairs):", "if len(value) > len(pairs):"),
    "points of small order are keys": ("did.py", "and raw not in SMALL_ORDER", "and raw"),
    "a credential may give": ("bearer.py", "if token.att or token.unread:", "if token.unread:"),
    "a credential may live for long": ("bearer.py", "token.exp - now > MAX_IDENTITY_LIFE", "token.exp < now"),
    "a bearer may name anybody": ("bearer.py", "if subject != issuer and", "if not subject and"),
}


def run(package: Path) -> subprocess.CompletedProcess[str]:
    """The compact suite against the copy in `package`."""
    path = os.pathsep.join([str(package), str(HERE)])
    environment = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    run = [sys.executable, str(HERE / "ucan_suite.py")]
    return subprocess.run(run, env=environment, capture_output=True, text=True, timeout=60)


def test_the_suite_passes_without_a_mutation(tmp_path: Path) -> None:
    """Otherwise it would catch every mutant and prove nothing."""
    shutil.copytree(PACKAGE, tmp_path / "ucan", ignore=shutil.ignore_patterns("__pycache__"))
    result = run(tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_is_caught(name: str, tmp_path: Path) -> None:
    """The suite names at least one case that came out wrong; a crash would not count."""
    module, old, new = MUTANTS[name]
    shutil.copytree(PACKAGE, tmp_path / "ucan", ignore=shutil.ignore_patterns("__pycache__"))
    source = (tmp_path / "ucan" / module).read_text(encoding="utf-8")
    assert old in source, "the mutation has lost its place"
    (tmp_path / "ucan" / module).write_text(source.replace(old, new), encoding="utf-8")
    result = run(tmp_path)
    assert result.returncode == 1
    assert result.stderr.strip(), "the mutant survived"
    assert "Traceback" not in result.stderr
