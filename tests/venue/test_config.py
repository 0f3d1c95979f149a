"""Settings: one file and the environment, read once; what is not known or not safe is an error (D30, D32)."""

import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from inbox.model import DAY
from venue.config import ConfigError, Settings, load


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of whoever runs the tests."""
    for name in [name for name in os.environ if name.startswith("VENUE_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A good file."""
    path = tmp_path / "venue.toml"
    path.write_text('name = "ours"\n[limits]\ntitle = 100\n[grants]\nmax_lifetime = 3600\n', encoding="utf-8")
    return path


def test_defaults_are_the_designs() -> None:
    """Loopback, audience required, ninety days, and strangers admitted on a machine of one's own."""
    settings = load()
    assert (settings.host, settings.loopback, settings.auto_create) == ("127.0.0.1", True, True)
    assert settings.auth.audience == "required"
    assert (settings.grants.max_lifetime, settings.ucan.max_lifetime) == (90 * DAY, 365 * DAY)
    assert (settings.limits.body, settings.limits.depth, settings.limits.title) == (1024 * 1024, 32, 280)
    assert settings.request_limits().open_per_requester == 100


def test_the_environment_overrides_the_file_and_the_command_line_both(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each layer changes what it names and leaves the rest."""
    monkeypatch.setenv("VENUE_LIMITS__TITLE", "50")
    monkeypatch.setenv("VENUE_PORT", "1")
    monkeypatch.setenv("VENUE_CORS_ORIGINS", "https://a.example, https://b.example")
    settings = load(file, port=2, host=None)
    assert (settings.name, settings.limits.title, settings.grants.max_lifetime) == ("ours", 50, 3600)
    assert (settings.port, settings.cors_origins) == (2, ("https://a.example", "https://b.example"))


@pytest.mark.parametrize(
    "text",
    [
        "nam = 1",
        "[limit]\ntitle = 1",
        "[limits]\ntitel = 1",
        "[grants]\nmax_lifetime = 0",
        "[grants]\nmax_lifetime = -1",
        '[grants]\nmax_lifetime = "for ever"',
        '[grants]\nattest = "some"',
        '[auth]\naudience = "maybe"',
        "[limits]\nbody = 0",
        "limits = 1",
        "port = 65536",
        'port = "http"',
        "public_url = 1",
        "name = [",
        'name = "\\ud800"',
    ],
)
def test_a_file_with_one_thing_wrong(file: Path, text: str) -> None:
    """A misspelt limit must not silently be no limit."""
    load(file)
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError):
        load(file)


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    """It was named, so it is wanted."""
    with pytest.raises(ConfigError):
        load(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError):
        load(tmp_path / "bytes.toml")


@pytest.mark.parametrize(
    "variables",
    [
        {"VENUE_NAM": "x"},
        {"VENUE_": "x"},
        {"VENUE_LIMITS__TITEL": "1"},
        {"VENUE_LIMITS__TITLE": "many"},
        {"VENUE_LIMITS__TITLE__MORE": "1"},
        {"VENUE_LIMITS": "x"},
        {"VENUE_LIMITS": "x", "VENUE_LIMITS__TITLE": "1"},
        {"VENUE_LIMITS__TITLE": "1", "VENUE_LIMITS": "x"},
        {"VENUE_LIMITS__TITLE": "1", "VENUE_LIMITS__TITLE__MORE": "1"},
    ],
)
def test_a_variable_with_one_thing_wrong(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    """Unknown, of the wrong type, or a table and a value at once."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError):
        load()


def test_the_passphrase_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """It belongs to the command line, and is no unknown variable either."""
    monkeypatch.setenv("VENUE_PASSPHRASE", "secret")
    assert "secret" not in repr(load())


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "venue.example", "127.0.0.2", ""])
def test_another_address_needs_tls_in_front_or_a_word(host: str) -> None:
    """Tokens must not travel in the clear by accident (D32)."""
    with pytest.raises(ConfigError):
        load(host=host)
    assert load(host=host, insecure_http=True).host == host
    assert load(host=host, public_url="https://venue.example").host == host
    assert not load(host=host, insecure_http=True).auto_create


@pytest.mark.parametrize(
    "url",
    [
        "http://venue.example",
        "venue.example",
        "https://",
        "https://user@venue.example",
        "https://venue.example/?x=1",
        "https://venue.example/#x",
        "https://venue.example:99999",
        "https://venue.example:0",
        "https://venue.example:http",
        "https://[::1]",
        "https://[",
        "https://my_venue.example",
        "",
    ],
)
def test_a_public_url_with_one_thing_wrong(url: str) -> None:
    """It becomes the venue's DID, so it is judged before anything is made of it."""
    with pytest.raises(ConfigError):
        load(public_url=url)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://venue.example", "venue.example"),
        ("https://venue.example/", "venue.example"),
        ("https://venue.example:8443", "venue.example:8443"),
        ("https://venue.example/inbox", None),
    ],
)
def test_a_public_url_gives_the_host_of_the_did(url: str, host: str | None) -> None:
    """Below a path there is no did:web of its own; strangers are not admitted by themselves."""
    settings = load(public_url=url)
    assert (settings.public_host, settings.auto_create) == (host, False)
    assert load(public_url=url, users={"auto_create": True}).auto_create


@pytest.mark.parametrize("table", ["grants", "ucan"])
@pytest.mark.parametrize(("said", "ceiling"), [("none", None), ("60", 60), (60, 60)])
def test_a_ceiling_may_be_lifted(table: str, said: Any, ceiling: int | None) -> None:
    """`none` lifts it, and nothing else does."""
    settings = load(**{table: {"max_lifetime": said}})
    assert getattr(settings, table).max_lifetime == ceiling


def test_settings_are_frozen() -> None:
    """What the venue started with is what it runs with, tables included."""
    settings = load()
    for change in (lambda: setattr(settings, "port", 1), lambda: setattr(settings.limits, "title", 1)):
        with pytest.raises(ValidationError):
            change()
    assert settings == Settings()
