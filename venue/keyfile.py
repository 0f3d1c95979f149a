"""Keys on disk: Ed25519 as PKCS 8 PEM, mode 0600, an owner's under a passphrase (D1, D33)."""

import base64
import os
import textwrap
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC
from cryptography.hazmat.primitives.padding import PKCS7
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

VENUE_KEY = "venue.key"
ROUNDS = 600_000
"""How many rounds of PBKDF2-HMAC-SHA-256 a guess at a passphrase costs."""

_LONGEST_PASSPHRASE = 1023
_SEQUENCE, _INTEGER, _OCTETS, _OID = 0x30, 0x02, 0x04, 0x06
_NULL = b"\x05\x00"
_PBES2 = bytes.fromhex("2a864886f70d01050d")
_PBKDF2 = bytes.fromhex("2a864886f70d01050c")
_HMAC_SHA256 = bytes.fromhex("2a864886f70d0209")
_AES_256_CBC = bytes.fromhex("60864801650304012a")


class KeyFileError(Exception):
    """A key file cannot be read or written; the message says which and why."""


def write(path: Path, key: Ed25519PrivateKey, passphrase: bytes | None) -> None:
    """Write a new key file, mode 0600.

    Raises KeyFileError when there is one already (a key is never overwritten), or for an empty passphrase.
    """
    if passphrase is None:
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    elif 0 < len(passphrase) <= _LONGEST_PASSPHRASE:
        pem = _encrypted(key, passphrase)
    else:
        raise KeyFileError(f"a passphrase has 1 to {_LONGEST_PASSPHRASE} bytes")
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


def _encrypted(key: Ed25519PrivateKey, passphrase: bytes) -> bytes:
    """PKCS 8 under PBES2 (RFC 8018), as `cryptography` would write it, but for the rounds: it takes 2,048 and
    lets nobody choose. The web inbox reads and writes the same.
    """
    salt, iv = os.urandom(16), os.urandom(16)
    derived = PBKDF2HMAC(SHA256(), 32, salt, ROUNDS).derive(passphrase)
    padder, cipher = PKCS7(128).padder(), Cipher(AES256(derived), CBC(iv)).encryptor()
    plain = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    data = cipher.update(padder.update(plain) + padder.finalize()) + cipher.finalize()
    hashing = _der(_SEQUENCE, _der(_OID, _HMAC_SHA256), _NULL)
    rounds = _der(_INTEGER, ROUNDS.to_bytes(3, "big"))
    derivation = _der(_SEQUENCE, _der(_OID, _PBKDF2), _der(_SEQUENCE, _der(_OCTETS, salt), rounds, hashing))
    encryption = _der(_SEQUENCE, _der(_OID, _AES_256_CBC), _der(_OCTETS, iv))
    scheme = _der(_SEQUENCE, _der(_OID, _PBES2), _der(_SEQUENCE, derivation, encryption))
    text = base64.b64encode(_der(_SEQUENCE, scheme, _der(_OCTETS, data))).decode()
    label = "ENCRYPTED PRIVATE KEY"
    return f"-----BEGIN {label}-----\n{textwrap.fill(text, 64)}\n-----END {label}-----\n".encode()


def _der(tag: int, *parts: bytes) -> bytes:
    """One element of DER of fewer than 256 bytes."""
    body = b"".join(parts)
    size = bytes([len(body)]) if len(body) < 128 else bytes([0x81, len(body)])
    return bytes([tag]) + size + body
