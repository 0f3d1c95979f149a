"""Consent with one fault put in, again and again: the compact suite notices each.

The packages are copied and mutated by exact text, so a change that moves a mutation's place fails here and
asks for the mutation to be written anew.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUITE = ("inbox/support.py", "inbox/test_asks.py", "inbox/test_consent.py", "ops/test_granting.py")
CONSENT, ASKS, GRANTING = "inbox/consent.py", "inbox/asks.py", "ops/granting.py"

MUTANTS: dict[str, tuple[str, str, str]] = {
    "an echo need not have been triggered": (
        CONSENT,
        "list(triggered_offers(asks, reply.answers))",
        "[offer for _, offer in __import__('inbox.asks').asks.all_offers(asks)]",
    ),
    "what was triggered is granted without an echo": (
        CONSENT,
        "enumerate(reply.echoes)",
        "enumerate(reply.echoes or [offer.claim() for offer in triggered])",
    ),
    "an unknown key of an echo is ignored": (
        CONSENT,
        'strange = sorted(echo.keys() - _REPEATABLE - {"narrow"})',
        'strange = []; echo = {key: echo[key] for key in echo if key in _REPEATABLE or key == "narrow"}',
    ),
    "a narrower ability is taken for the offer": (
        CONSENT,
        "name in offered and _same(value, offered[name])",
        "name in offered and (_same(value, offered[name]) or str(value).startswith(str(offered[name])))",
    ),
    "an echo may say what the offer does not": (CONSENT, "name in offered and", "name not in offered or"),
    "types are not compared": (CONSENT, "if type(one) is not type(other):", "if False:"),
    "the first of equal offers is granted": (
        CONSENT,
        "return min(equal, key=",
        "return next(iter(equal)) or min(equal, key=",
    ),
    "the later end is chosen": (CONSENT, "return min(equal, key=", "return max(equal, key="),
    "a token ends with the last of its grants": (CONSENT, "return min((grant.exp", "return max((grant.exp"),
    "the default lifetime is for ever": (CONSENT, "else policy.default_lifetime)", "else 10**9)"),
    "the ceiling does not bind an answer": (
        CONSENT,
        "        check_offer(offer, place, owner, now, policy)\n",
        "",
    ),
    "a part may lie outside the whole": (CONSENT, "if not whole.covers(part):", "if not part:"),
    "a narrowed end may be later": (CONSENT, "(end is not None and exp > end)", "False"),
    "an approval of 1 is true": (
        ASKS,
        'ask.type == "approval" and answer is True',
        'ask.type == "approval" and answer',
    ),
    "an approval triggers whatever was said": (
        ASKS,
        'ask.type == "approval" and answer is True',
        'ask.type == "approval" and answer is not None',
    ),
    "every option triggers": (ASKS, "if option.id in chosen:", "if option.id:"),
    "a number is taken for yes": (
        ASKS,
        "if not isinstance(answer, bool):",
        "if not isinstance(answer, int):",
    ),
    "a required ask may be left out": (ASKS, "elif ask.required:", "elif ask.required is None:"),
    "the ceiling does not bind a lifetime": (
        ASKS,
        "        _check_ceiling(offer.lifetime,",
        "        _check_ceiling(0,",
    ),
    "an end that has passed is good": (ASKS, "elif exp <= now:", "elif exp < 0:"),
    "caveats of equal offers may differ": (ASKS, "if twin.nb != offer.nb:", "if twin is None:"),
    "nobody asks whose it is": (
        GRANTING,
        "        relied_on += _authority(call, grant, exp)\n",
        "        pass\n",
    ),
    "only the first grant is looked at": (
        GRANTING,
        "    for grant in grants:\n",
        "    for grant in grants[:1]:\n",
    ),
    "any right over it is a granting right": (GRANTING, 'f"grant/{grant.can}"', "grant.can"),
    "a grant may outlive the right to give it": (GRANTING, "exp > min(ends)", "exp > max(ends) * 2"),
    "a venue signs for everybody": (
        GRANTING,
        "    if not managed:\n        raise NotGrantable(",
        "    if False:\n        raise NotGrantable(",
    ),
    "attest is not looked at": (GRANTING, 'grants.attest == "managed"', 'grants.attest == "nobody"'),
}


def copied(place: Path) -> None:
    """The packages, and as much of the tests as the compact suite needs."""
    ignored = shutil.ignore_patterns("__pycache__", "web")
    for package in ("ucan", "inbox", "ops", "venue"):
        shutil.copytree(ROOT / package, place / package, ignore=ignored)
    for name in SUITE:
        target = place / "tests" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (target.parent / "__init__.py").touch()
        shutil.copy(ROOT / "tests" / name, target)
    (place / "tests/__init__.py").touch()
    (place / "pytest.ini").touch()


def run(place: Path, package: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of one of the copied packages."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
        "tests",
    ]
    environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=120, env=environ)


def _rewrite(path: Path, text: str) -> None:
    """Write a module and forget its compiled form, which a write within the same second would not."""
    path.write_text(text, encoding="utf-8")
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
        compiled.unlink()


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy on which the suite passes."""
    place = tmp_path_factory.mktemp("mutants")
    copied(place)
    for package in ("inbox", "ops"):
        passed = run(place, package)
        assert passed.returncode == 0, passed.stdout
    return place


@pytest.mark.parametrize("fault", MUTANTS)
def test_the_suite_notices(copy: Path, fault: str) -> None:
    """A mutant that survives is a rule that nothing tests."""
    module, old, new = MUTANTS[fault]
    path = copy / module
    good = path.read_text(encoding="utf-8")
    assert good.count(old) == 1, f"{module}: {old!r} stands {good.count(old)} times"
    _rewrite(path, good.replace(old, new))
    try:
        done = run(copy, module.partition("/")[0])
    finally:
        _rewrite(path, good)
    assert done.returncode == 1, done.stdout
    assert "error" not in done.stdout.splitlines()[-1], done.stdout
