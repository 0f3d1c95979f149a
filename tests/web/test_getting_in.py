"""Who somebody is in a browser: keys that are kept, several side by side, and what each of them sees."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.harness.commands import venue as command
from tests.harness.served import Served

from .person import Person
from .test_copy import SECRET, bring_back

_SPY = """globalThis.persisted = 0;
navigator.storage.persist = async () => { globalThis.persisted += 1; return true; };"""


def _sign_out(person: Person) -> None:
    person.page.get_by_role("link", name="You", exact=True).click()
    person.page.get_by_role("button", name="Sign out").click()
    expect(person.page.locator("main.choose")).to_be_visible()


def test_several_identities_live_side_by_side(browser: Browser, site: Served) -> None:
    """Each key is kept for good; after signing out nobody is in, another one has another inbox, and the first
    comes back to its own.
    """
    with Person(browser, site) as ada:
        ada.context.add_init_script(_SPY)
        ada.arrive()
        page, first = ada.page, ada.did
        assert page.evaluate("persisted") > 0
        mine = page.locator(f'li[data-id="{ada.agent.ask()}"]')
        expect(mine).to_be_visible()

        _sign_out(ada)
        page.reload()
        expect(page.locator(".who")).to_have_count(1)
        page.get_by_role("button", name="Make another key").click()
        second = str(page.locator(".copyable .exact").text_content())
        page.get_by_role("button", name="Open my inbox").click()
        page.get_by_role("link", name="Open").click()
        expect(page.locator(".empty")).to_be_visible()
        expect(mine).to_have_count(0)
        assert second != first

        _sign_out(ada)
        expect(page.locator(".who")).to_have_count(2)
        page.locator(".who").filter(has_text=first[-8:]).click()
        page.get_by_role("link", name="Open").click()
        expect(mine).to_be_visible()
        ada.visit("#/you")
        expect(page.locator(".you .copyable .exact")).to_have_text(first)


def test_single_keys_can_be_switched_off(ada: Person) -> None:
    """In the list of the keys; a reload changes nothing about it, and they can be switched on again."""
    page = ada.page
    ada.agent.ask()
    row, dialog = page.locator(".rows a"), page.locator("dialog.keys")
    expect(row).to_have_count(1)
    page.keyboard.press("?")
    page.get_by_label("Single keys act").uncheck()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    for _ in range(2):
        for key in "?/j":
            page.keyboard.press(key)
        expect(dialog).to_have_count(0)
        expect(row).not_to_be_focused()
        expect(page.get_by_label("Search")).not_to_be_focused()
        page.reload()
        expect(row).to_have_count(1)
    page.get_by_role("button", name="Keys").click()
    page.get_by_label("Single keys act").check()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("j")
    expect(row).to_be_focused()


def test_what_the_command_line_settled_shows_at_once(browser: Browser, site: Served, tmp_path: Path) -> None:
    """The same person at a shell was first: the open card names the way, without a reload (fault 94)."""
    file = tmp_path / "ada.pem"
    command("key", "new", str(file), environ=SECRET).ok()
    with Person(browser, site) as ada:
        page = ada.page
        ada.visit()
        page.get_by_role("button", name="I have a copy of my key").click()
        bring_back(ada, file)
        expect(page.locator(".connection")).to_have_text("Live")
        ada.enrol()
        request_id = ada.asked()
        page.get_by_label("No, I do not").check()
        words = ("inbox", "answer", request_id, "--set", "ok=true", "--key", str(file), "--url", site.url)
        command(*words, environ=SECRET).ok()
        expect(page.locator(".outcome.answered")).to_contain_text("on the command line")
        expect(page.locator("button.send, button.reject")).to_have_count(0)
        expect(page.get_by_label("No, I do not")).to_be_disabled()
        assert ada.output(request_id)["answers"] == {"ok": True}
        assert ada.sent() == []
