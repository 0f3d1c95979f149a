"""A copy of the key: saved once, read by the command line, brought back into a browser."""

import base64
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from playwright.sync_api import Browser, expect

from tests.harness.commands import venue as command
from tests.harness.served import Served

from .person import Person

PASSPHRASE = "correct horse battery"
SECRET = {"VENUE_PASSPHRASE": PASSPHRASE}


def _save(ada: Person, file: Path) -> None:
    """On the screen after the key was made."""
    ada.page.get_by_label("Passphrase, at least 12 characters").fill(PASSPHRASE)
    ada.page.get_by_label("The same again").fill(PASSPHRASE)
    with ada.page.expect_download() as saving:
        ada.page.get_by_role("button", name="Save an encrypted copy").click()
    saving.value.save_as(file)
    expect(ada.page.get_by_role("status").filter(has_text="Handed to your browser")).to_be_visible()


def bring_back(person: Person, file: Path, passphrase: str = PASSPHRASE) -> None:
    """Choose the file of a key, and type its passphrase."""
    person.page.get_by_label("The file").set_input_files(file)
    person.page.get_by_label("Its passphrase").fill(passphrase)
    person.page.get_by_role("button", name="Use this key").click()


def test_a_copy_is_saved_once_and_brings_the_inbox_back(
    browser: Browser, site: Served, tmp_path: Path
) -> None:
    """The command line reads it; another browser that reads it is the same person; each then keeps the key
    where nobody can take it out.
    """
    file = tmp_path / "copy.pem"
    with Person(browser, site) as ada:
        ada.visit()
        ada.page.get_by_role("button", name="Make my key").click()
        _save(ada, file)
        ada.did = str(ada.page.locator(".copyable .exact").text_content())
        assert PASSPHRASE not in file.read_text(encoding="ascii")
        ada.page.get_by_role("button", name="Open my inbox").click()
        expect(ada.page.locator(".connection")).to_have_text("Live")
        expect(ada.page.get_by_role("button", name="Save an encrypted copy")).to_have_count(0)
        assert _extractable(ada) == [ada.did, False]
        request = ada.enrol().ask()
        ada.read(request)

        assert command("key", "show", str(file), environ=SECRET).ok() == ada.did
        listed = command("inbox", "ls", "--key", str(file), "--url", site.url, environ=SECRET)
        assert request[:8] in listed.ok()

    with Person(browser, site) as elsewhere:
        elsewhere.visit()
        elsewhere.page.get_by_role("button", name="I have a copy of my key").click()
        bring_back(elsewhere, file, "correct horse batterx")
        expect(elsewhere.page.get_by_role("alert")).to_contain_text("The passphrase is another")
        bring_back(elsewhere, file)
        expect(elsewhere.page.locator(".connection")).to_have_text("Live")
        expect(elsewhere.page.locator(f'li[data-id="{request}"]')).to_be_visible()
        assert _extractable(elsewhere) == [ada.did, False]


def test_whoever_goes_on_at_once_still_gets_a_copy_that_opens(
    browser: Browser, site: Served, tmp_path: Path
) -> None:
    """The key is wiped from the page only once it was encrypted."""
    file = tmp_path / "copy.pem"
    with Person(browser, site) as ada:
        ada.visit()
        ada.page.get_by_role("button", name="Make my key").click()
        did = str(ada.page.locator(".copyable .exact").text_content())
        ada.page.get_by_label("Passphrase, at least 12 characters").fill(PASSPHRASE)
        ada.page.get_by_label("The same again").fill(PASSPHRASE)
        with ada.page.expect_download() as saving:
            ada.page.get_by_role("button", name="Save an encrypted copy").click()
            ada.page.get_by_role("button", name="Open my inbox").click()
        saving.value.save_as(file)
        expect(ada.page.locator(".connection")).to_have_text("Live")
    assert command("key", "show", str(file), environ=SECRET).ok() == did


def test_a_passphrase_is_long_and_typed_twice_alike(browser: Browser, site: Served) -> None:
    """Otherwise nothing is saved, and it says why."""
    with Person(browser, site) as ada:
        ada.visit()
        ada.page.get_by_role("button", name="Make my key").click()
        saved: list[Any] = []
        ada.page.on("download", lambda download: saved.append(download))  # noqa: PLW0108 - a method of C takes no marks
        for first, second, why in (
            ("", "", "at least 12"),
            ("short", "short", "at least 12"),
            (PASSPHRASE, PASSPHRASE[:-1], "not the same"),
        ):
            ada.page.get_by_label("Passphrase, at least 12 characters").fill(first)
            ada.page.get_by_label("The same again").fill(second)
            ada.page.get_by_role("button", name="Save an encrypted copy").click()
            expect(ada.page.get_by_role("alert")).to_contain_text(why)
        assert saved == []


def test_a_key_of_the_command_line_opens_the_inbox(browser: Browser, site: Served, tmp_path: Path) -> None:
    """Also where a key was lost: there the same person is back."""
    file = tmp_path / "ada.pem"
    did = command("key", "new", str(file), environ=SECRET).ok()
    with Person(browser, site) as ada:
        ada.arrive()
        lost = ada.did
        ada.page.evaluate(
            "base => indexedDB.deleteDatabase('venue-inbox:' + new URL(base).pathname)", ada.base
        )
        ada.page.reload()
        expect(ada.page.get_by_role("heading", name="The key is gone from this browser")).to_be_visible()
        ada.page.get_by_role("button", name="I have a copy of my key").click()
        bring_back(ada, file)
        expect(ada.page.locator(".connection")).to_have_text("Live")
        assert _extractable(ada) == [did, False]
        assert did != lost


def _extractable(person: Person) -> object:
    """The DID of the key that the browser holds, and whether it could be taken out."""
    return person.page.evaluate(
        """async (base) => {
             const { identity } = await (await import(base + 'inbox/keys.js')).load(new URL(base));
             return [identity.did, identity.key.extractable];
           }""",
        person.base,
    )


def _pem(data: bytes) -> str:
    text = base64.encodebytes(data).decode()
    return f"-----BEGIN ENCRYPTED PRIVATE KEY-----\n{text}-----END ENCRYPTED PRIVATE KEY-----\n"


def _file(key: Any = None, *, encrypted: bool = True) -> str:
    how = BestAvailableEncryption(PASSPHRASE.encode()) if encrypted else NoEncryption()
    made = key or Ed25519PrivateKey.generate()
    return str(made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, how).decode())


GOOD = _file()
DATA = base64.b64decode("".join(GOOD.splitlines()[1:-1]))
ROUNDS, SHA_256, AES_256 = b"\x02\x02\x08\x00", bytes.fromhex("0209"), bytes.fromhex("650304012a")

NO_KEY_FILE = {
    "not encrypted": _file(encrypted=False),
    "empty": "",
    "no base64": GOOD.replace("M", "!", 1),
    "cut off": _pem(DATA[:-1]),
    "with more behind": _pem(DATA + b"\x05\x00"),
    "no rounds": _pem(DATA.replace(ROUNDS, b"\x02\x02\x00\x00")),
    "another hash": _pem(DATA.replace(b"\x0d" + SHA_256, b"\x0d\x02\x07")),
    "another cipher": _pem(DATA.replace(AES_256, AES_256[:-1] + b"\x02")),
    "a longer length": _pem(DATA[:1] + b"\x84" + DATA[2:]),
}


def test_a_file_with_one_thing_wrong_is_refused(ada: Person) -> None:
    """With a sentence, and nothing is stored; the good one is read."""
    read = """async ([base, text, passphrase]) => {
        const { restored } = await import(base + 'inbox/keys.js');
        return restored(text, passphrase).then(
          ({ did }) => did,
          (error) => `${error.constructor.name} ${error.message}`,
        );
    }"""

    def told(text: str, passphrase: str = PASSPHRASE) -> str:
        return str(ada.page.evaluate(read, [ada.base, text, passphrase]))

    assert told(GOOD).startswith("did:key:z6Mk")
    for name, text in NO_KEY_FILE.items():
        assert text != GOOD
        assert told(text).startswith("KeyFileError This is no key file"), name
    assert told(GOOD, "another").startswith("KeyFileError The passphrase is another")
    assert told(_pem(DATA[:-1] + bytes([DATA[-1] ^ 1]))).startswith("KeyFileError")
    for other in (generate_private_key(SECP256R1()), X25519PrivateKey.generate()):
        assert told(_file(other)).startswith("KeyFileError The file holds another kind of key")
