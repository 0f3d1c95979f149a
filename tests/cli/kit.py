"""The command line as its users run it: real processes, with an environment and a home of their own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat
from typer.testing import CliRunner

from tests.harness.actors import Actor
from tests.harness.served import ROOT, Served
from ucan.keys import Ed25519Signer
from venue.cli import app

PASSPHRASE = "correct horse"
QUICK = BestAvailableEncryption(PASSPHRASE.encode())
"""As other programs encrypt: a guess costs less, and so does each of the many commands of these tests."""

_PATIENCE = 60.0


class Done:
    """What a command came to."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status = status
        self.out = out
        self.err = err

    @property
    def json(self) -> Any:
        """Its output as JSON."""
        return json.loads(self.out)

    def ok(self) -> "Done":
        """The same, which must have been well."""
        assert self.status == 0, (self.status, self.out, self.err)
        return self


class Person:
    """Somebody at a shell, who has a key file and calls one venue; `actor` is the same person over HTTP."""

    def __init__(self, served: Served, home: Path, *, token: str | None = None) -> None:
        self.home = home
        self.served = served
        key = Ed25519PrivateKey.generate()
        self.signer = Ed25519Signer(key)
        self.did = self.signer.did
        self.environ = {"VENUE_URL": served.url}
        if token is None:
            file = home / f"{self.did[-8:]}.pem"
            file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, QUICK))
            self.environ |= {"VENUE_KEY": str(file), "VENUE_PASSPHRASE": PASSPHRASE}
        else:
            self.environ |= {"VENUE_TOKEN": token}

    @property
    def actor(self) -> Actor:
        """The same person over plain HTTP."""
        return self.served.owner(self.signer)

    def run(self, *words: str, given: str = "", environ: Mapping[str, str | None] | None = None) -> Done:
        """Run `venue …` to its end, through pipes."""
        return Running(self, words, environ, given).done()

    def call(self, *words: str, environ: Mapping[str, str | None] | None = None) -> Done:
        """The same in this process, which is quicker: for the many cases of one kind."""
        said = {"XDG_CONFIG_HOME": str(self.home), **self.environ, **(environ or {})}
        result = CliRunner().invoke(app, list(words), env=said)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Done(result.exit_code, result.stdout, result.stderr)

    def start(self, *words: str) -> "Running":
        """Run `venue …` in the background."""
        return Running(self, words, None, "")

    def environment(self, more: Mapping[str, str | None] | None = None) -> dict[str, str]:
        """The environment of a command: nothing of ours that a venue reads, and the home of this person."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith("VENUE_")}
        said = {
            **clean,
            "PYTHONPATH": str(ROOT),
            "XDG_CONFIG_HOME": str(self.home),
            **self.environ,
            **(more or {}),
        }
        return {key: value for key, value in said.items() if value is not None}


class Running:
    """A command under way."""

    def __init__(
        self, person: Person, words: tuple[str, ...], environ: Mapping[str, str | None] | None, given: str
    ) -> None:
        self._given = given
        self.process = subprocess.Popen(
            [sys.executable, "-m", "venue", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=person.environment(environ),
            cwd=person.home,
        )

    def done(self) -> Done:
        """Wait for its end."""
        out, err = self.process.communicate(self._given, timeout=_PATIENCE)
        return Done(self.process.returncode, out, err)
