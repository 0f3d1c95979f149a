"""Keys on disk: mode 0600, never overwritten, an owner's under a passphrase, the secret never printed."""

import base64
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from typer.testing import CliRunner, Result

from ucan.did import did_key
from venue import keyfile
from venue.cli import app

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
DID = did_key(KEY.public_key().public_bytes_raw())


def venue_key(*words: str, passphrase: str | None = None, given: str = "") -> Result:
    """Run `venue key` in this process, with what a person types."""
    environ = {"VENUE_PASSPHRASE": passphrase}
    return CliRunner().invoke(app, ["key", *words], input=given, env=environ)


def mode(path: Path) -> int:
    """The permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("passphrase", [None, b"correct horse", "\u00fcml\u00e4ut".encode()])
def test_a_key_reads_back_under_its_passphrase(tmp_path: Path, passphrase: bytes | None) -> None:
    """The same key; mode 0600 whatever the umask."""
    path, umask = tmp_path / "key", os.umask(0)
    try:
        keyfile.write(path, KEY, passphrase)
    finally:
        os.umask(umask)
    assert keyfile.read(path, passphrase).private_bytes_raw() == KEY.private_bytes_raw()
    assert mode(path) == 0o600
    assert (b"ENCRYPTED" in path.read_bytes()) == (passphrase is not None)


def test_a_guess_at_a_passphrase_is_dear(tmp_path: Path) -> None:
    """600,000 rounds, a salt of its own for each file; a file with fewer is read, too."""
    files = [tmp_path / name for name in ("one", "two")]
    for path in files:
        keyfile.write(path, KEY, b"secret words")
    one, two = (base64.b64decode("".join(path.read_text().splitlines()[1:-1])) for path in files)
    rounds = b"\x02\x03" + (600_000).to_bytes(3, "big")
    assert rounds in one
    assert one[: one.index(rounds)] != two[: two.index(rounds)]
    older = tmp_path / "older"
    quick = BestAvailableEncryption(b"secret words")
    older.write_bytes(KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, quick))
    assert keyfile.read(older, b"secret words").private_bytes_raw() == KEY.private_bytes_raw()


@pytest.mark.parametrize(
    ("written", "given"), [(b"right", b"wrong"), (b"right", None), (None, b"any"), (b"right", b"")]
)
def test_another_passphrase_is_refused(tmp_path: Path, written: bytes | None, given: bytes | None) -> None:
    """Wrong, missing, or one too many."""
    path = tmp_path / "key"
    keyfile.write(path, KEY, written)
    with pytest.raises(keyfile.KeyFileError):
        keyfile.read(path, given)


def test_a_key_is_never_overwritten(tmp_path: Path) -> None:
    """Not by another key, not through a link, not where there is no directory."""
    path = tmp_path / "key"
    keyfile.write(path, KEY, None)
    before = path.read_bytes()
    (tmp_path / "link").symlink_to(path)
    for target in (path, tmp_path / "link", tmp_path, tmp_path / "none" / "key"):
        with pytest.raises(keyfile.KeyFileError):
            keyfile.write(target, Ed25519PrivateKey.generate(), None)
    assert path.read_bytes() == before


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    """Missing, a directory, no PEM, and a key of another kind."""
    other = generate_private_key(SECP256R1()).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    for name, content in (("empty", b""), ("text", b"hello"), ("bytes", b"\xff" * 99), ("curve", other)):
        (tmp_path / name).write_bytes(content)
    for name in ("none", "empty", "text", "bytes", "curve", "."):
        with pytest.raises(keyfile.KeyFileError):
            keyfile.read(tmp_path / name, None)


def test_the_venue_makes_its_key_once(tmp_path: Path) -> None:
    """On the first start, mode 0600, and the same ever after."""
    seed = keyfile.venue_seed(tmp_path)
    assert keyfile.venue_seed(tmp_path) == seed
    assert mode(tmp_path / keyfile.VENUE_KEY) == 0o600


def process(verb: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Run `venue key` as a process of its own."""
    environ = {**os.environ, "VENUE_PASSPHRASE": "secret words"}
    command = [sys.executable, "-m", "venue", "key", verb, str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, env=environ)


def test_key_new_and_show_agree_and_never_print_the_secret(tmp_path: Path) -> None:
    """Both print the DID and nothing else; the file is encrypted under the passphrase of the environment."""
    path = tmp_path / "ada.key"
    made = process("new", path)
    assert (made.returncode, made.stderr) == (0, "")
    key = keyfile.read(path, b"secret words")
    assert made.stdout == did_key(key.public_key().public_bytes_raw()) + "\n"
    assert mode(path) == 0o600
    shown = process("show", path)
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, made.stdout, "")
    for said in (made, shown):
        assert key.private_bytes_raw().hex() not in said.stdout + said.stderr
        assert "PRIVATE" not in said.stdout + said.stderr


def test_key_new_asks_twice_and_show_once(tmp_path: Path) -> None:
    """Without the variable it asks; two different words make no key."""
    path = tmp_path / "ada.key"
    assert venue_key("new", str(path), given="one\ntwo\n").exit_code != 0
    assert not path.exists()
    assert venue_key("new", str(path), given="one\none\n").exit_code == 0
    shown = venue_key("show", str(path), given="one\n")
    assert shown.stdout.strip() == did_key(keyfile.read(path, b"one").public_key().public_bytes_raw())
    assert venue_key("show", str(path), given="two\n").exit_code == 1


def test_key_new_without_a_passphrase_must_be_said(tmp_path: Path) -> None:
    """For agents; an empty answer is not taken for it."""
    path = tmp_path / "agent.key"
    assert venue_key("new", str(path), given="\n\n").exit_code != 0
    assert not path.exists()
    for passphrase in ("", "a" * 1024):
        said = venue_key("new", str(path), passphrase=passphrase)
        assert (said.exit_code, said.stderr.partition(": ")[0]) == (1, "venue key")
        assert not path.exists()
    assert venue_key("new", "--no-passphrase", str(path)).exit_code == 0
    assert venue_key("show", str(path)).exit_code == 0


def test_key_refusals_have_status_1_and_change_nothing(tmp_path: Path) -> None:
    """A file that is there, one that is not, and another passphrase."""
    path = tmp_path / "ada.key"
    keyfile.write(path, KEY, b"secret words")
    before = path.read_bytes()
    for said in (
        venue_key("new", str(path), passphrase="other"),
        venue_key("show", str(path), passphrase="other"),
        venue_key("show", str(tmp_path / "none"), passphrase="other"),
    ):
        assert (said.exit_code, said.stdout) == (1, "")
        assert said.stderr.startswith("venue key: ")
        assert "Traceback" not in said.stderr
    assert path.read_bytes() == before
    assert venue_key("show", str(path), passphrase="secret words").stdout == DID + "\n"
