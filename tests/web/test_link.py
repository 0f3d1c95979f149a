"""A managed user gets in by a link that works once, after a click, within 15 minutes (D35)."""

import sqlite3
import subprocess
import sys

import pytest
from playwright.sync_api import Browser, expect

from tests.conftest import ROOT
from tests.harness.served import Served

from .person import Person


def _operator(site: Served, *words: str) -> str:
    command = [sys.executable, "-m", "venue", "user", *words, "--data", str(site.data)]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=ROOT, timeout=60
    ).stdout.strip()


def _link(site: Served, name: str) -> str:
    return _operator(site, "link", name, "--base", site.url)


def test_a_link_shows_whose_it_is_and_binds_once(browser: Browser, site: Served) -> None:
    """Scanners and a first look use nothing up; the click does; a second use says so."""
    _operator(site, "add", "grace")
    link = _link(site, "grace")
    for _ in range(3):  # a scanner: the fragment never leaves it, and a GET does nothing
        assert site.http.get(link).status_code == 200
    with Person(browser, site) as looker:
        looker.page.goto(link)
        expect(looker.page.locator(".name-plate")).to_have_text("grace")
        assert "#" not in looker.page.url  # the code does not stay in the address
    with Person(browser, site) as grace:
        page = grace.page
        page.goto(link)
        page.get_by_role("button", name="Yes, that is me").click()
        expect(page.locator(".connection")).to_have_text("Live")
        page.get_by_role("link", name="You", exact=True).click()
        expect(page.locator(".you .exact").first).to_have_text(f"{site.did}:u:grace")
        grace.enrol()
        page.get_by_role("link", name="Open").first.click()
        request_id = grace.asked()
        page.get_by_label("Yes, I approve").check()
        page.locator("button.send").click()
        expect(page.locator(".outcome.answered")).to_be_visible()
        assert grace.output(request_id)["answers"] == {"ok": True}
        page.goto("about:blank")
        page.goto(link)
        page.get_by_role("button", name="Yes, that is me").click()
        expect(page.get_by_role("heading", name="This link does not work")).to_be_visible()
        expect(page.locator("main")).to_contain_text("This link was used already; ask for a new one")
        page.get_by_role("button", name="Go on without it").click()
        expect(page.locator(".connection")).to_have_text("Live")
    log = subprocess.run(
        [sys.executable, "-m", "venue", "audit", "tail", f"{site.did}:u:grace", "--data", str(site.data)],
        check=True, capture_output=True, text=True, cwd=ROOT, timeout=60,
    ).stdout  # fmt: skip
    code = link.rpartition(".")[2]
    assert "link.made" in log
    assert "key.bound" in log
    assert code not in log + site.log
    assert code.encode() not in (site.data / "venue.db").read_bytes()


def test_an_old_link_says_so(browser: Browser, site: Served) -> None:
    """After 15 minutes it is expired, and no key was bound."""
    _operator(site, "add", "heidi")
    link = _link(site, "heidi")
    with sqlite3.connect(site.data / "venue.db") as db:
        db.execute("UPDATE link SET exp = exp - 901000 WHERE did LIKE '%:u:heidi'")
    db.close()
    with Person(browser, site) as heidi:
        heidi.page.goto(link)
        heidi.page.get_by_role("button", name="Yes, that is me").click()
        expect(heidi.page.locator("main")).to_contain_text("This link has expired; ask for a new one")
        heidi.page.get_by_role("button", name="Go on without it").click()
        expect(heidi.page.get_by_role("heading", name="Your inbox")).to_be_visible()
    assert _operator(site, "keys", "heidi") == ""


@pytest.mark.parametrize("spoil", ["name", "code"])
def test_a_link_is_for_one_user(browser: Browser, site: Served, spoil: str) -> None:
    """Another name, or another code, binds nothing."""
    for name in ("ivan", "judy"):
        _operator(site, "add", name)
    link = _link(site, "ivan")
    wrong = (
        link.replace("=ivan.", "=judy.") if spoil == "name" else link[:-1] + ("0" if link[-1] != "0" else "1")
    )
    with Person(browser, site) as mallory:
        mallory.page.goto(wrong)
        mallory.page.get_by_role("button", name="Yes, that is me").click()
        expect(mallory.page.get_by_role("heading", name="This link does not work")).to_be_visible()
    assert _operator(site, "keys", "judy") == ""
    assert _operator(site, "keys", "ivan") == ""


def test_a_revoked_key_is_told_that_it_is_not_signed_in(browser: Browser, site: Served) -> None:
    """The open page notices by itself: not an empty inbox, and not one that cannot be reached."""
    _operator(site, "add", "lee")
    with Person(browser, site) as lee:
        lee.page.goto(_link(site, "lee"))
        lee.page.get_by_role("button", name="Yes, that is me").click()
        expect(lee.page.locator(".connection")).to_have_text("Live")
        key = _operator(site, "keys", "lee")
        _operator(site, "keys", "lee", "--revoke", key)
        heading = lee.page.get_by_role("heading", name="You are not signed in")
        expect(heading).to_be_visible(timeout=30_000)
        expect(lee.page.locator("main")).to_contain_text(key)
