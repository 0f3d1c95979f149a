"""Keys on disk: Ed25519 as PKCS 8 PEM, mode 0600, an owner's under a passphrase (D1, D33)."""

import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

VENUE_KEY = "venue.key"
_LONGEST_PASSPHRASE = 1023


class KeyFileError(Exception):
    """A key file cannot be read or written; the message says which and why."""


def write(path: Path, key: Ed25519PrivateKey, passphrase: bytes | None) -> None:
    """Write a new key file, mode 0600.

    Raises KeyFileError when there is one already (a key is never overwritten), or for an empty passphrase.
    """
    encryption: KeySerializationEncryption = NoEncryption()
    if passphrase is not None:
        if not 0 < len(passphrase) <= _LONGEST_PASSPHRASE:
            raise KeyFileError(f"a passphrase has 1 to {_LONGEST_PASSPHRASE} bytes")
        encryption = BestAvailableEncryption(passphrase)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise KeyFileError(f"{path} exists already, and a key is never overwritten") from None
    except OSError as error:
        raise KeyFileError(f"{path}: {error.strerror}") from None
    with os.fdopen(handle, "wb") as file:
        file.write(pem)
        file.flush()
        os.fsync(file.fileno())


def read(path: Path, passphrase: bytes | None) -> Ed25519PrivateKey:
    """The key of a file.

    Raises KeyFileError for a file that is not there, is none, or wants another passphrase.
    """
    try:
        key = load_pem_private_key(path.read_bytes(), passphrase)
    except OSError as error:
        raise KeyFileError(f"{path}: {error.strerror}") from None
    except TypeError:
        wanted = (
            "is encrypted: give its passphrase"
            if passphrase is None
            else "is not encrypted: give no passphrase"
        )
        raise KeyFileError(f"{path} {wanted}") from None
    except ValueError:
        raise KeyFileError(f"{path} is no key file, or the passphrase is another") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(f"{path} does not hold an Ed25519 key")
    return key


def venue_seed(directory: Path) -> bytes:
    """The seed of the venue's own key, made on the first start. Raises KeyFileError."""
    path = directory / VENUE_KEY
    if not path.exists():
        write(path, Ed25519PrivateKey.generate(), None)
    return read(path, None).private_bytes_raw()
