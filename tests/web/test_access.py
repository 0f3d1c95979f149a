"""The page for everybody: axe finds nothing in either theme, and the keyboard is enough for all of it."""

import re
import time
from importlib.resources import files

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.harness.actors import Actor
from tests.harness.served import Served

from .person import PHONE, Person, claims
from .test_inbox import OFFER, SHIP

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_RUN = """async (rules) => (await axe.run(document, { runOnly: rules })).violations
  .map(v => v.id + ': ' + v.nodes.map(n => n.target.join(' ') + ' ' + n.failureSummary).join(' | '))"""


def faults_of_axe(page: Page) -> list[str]:
    """What axe has against the page as it stands, in both themes."""
    faults: list[str] = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        page.evaluate(AXE)
        faults += [f"{scheme}: {fault}" for fault in page.evaluate(_RUN, _RULES)]
    return faults


def check_with_axe(page: Page) -> None:
    """Axe finds nothing."""
    assert faults_of_axe(page) == []


@pytest.mark.parametrize("size", ["laptop", "phone"])
def test_axe_finds_nothing_in_the_inbox(ada: Person, size: str) -> None:
    """Empty, the list, a request with everything in it, the same settled, You, the keys."""
    page = ada.page
    if size == "phone":
        page.set_viewport_size(PHONE)
    check_with_axe(page)
    everything = [
        {**SHIP, "grants": [OFFER, {"with": "w/", "can": "*"}], "comment": True},
        {"id": "t", "type": "text", "prompt": "Say \u202esomething"},
        {
            "id": "c",
            "type": "choice",
            "prompt": "One",
            "options": [{"id": "x"}, {"id": "y", "grants": [{"with": "w/y", "can": "crud/read"}]}],
        },
        {"id": "b", "type": "checkboxes", "prompt": "Some", "required": True, "options": [{"id": "x"}]},
    ]
    request_id = ada.agent.ask(
        title="Everything",
        description="# A\n\n- b `c`\n\n> d [e](https://x.example)",
        timeout=200,
        asks=everything,
    )
    expect(page.locator(".rows li")).to_have_count(1)
    check_with_axe(page)
    ada.read(request_id)
    check_with_axe(page)
    page.get_by_role("button", name="Reject the request").click()
    page.locator("button.send").click()
    expect(page.locator(".ask-approval .ask-problem")).to_be_visible()
    check_with_axe(page)
    page.get_by_label("Yes, I approve").check()
    page.get_by_label("None of these").check()
    page.get_by_label("I grant this").first.check()
    check_with_axe(page)
    page.locator("button.send").click()
    expect(page.locator(".letter")).to_be_visible()
    check_with_axe(page)
    expect(page.locator(".live-grant")).to_be_visible()
    check_with_axe(page)
    if size == "phone":
        page.get_by_role("link", name="Back to the list").click()
    page.get_by_role("link", name="You", exact=True).click()
    expect(page.locator(".you")).to_be_visible()
    check_with_axe(page)
    page.get_by_role("button", name="Keys").click()
    check_with_axe(page)


_EDGES = """() => {
  const { top, bottom } = document.activeElement.getBoundingClientRect();
  return [top, bottom, innerHeight];
}"""


class Keyboard:
    """Somebody without a mouse: only keys, and what has the focus."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def to(self, what: str, key: str = "Tab", most: int = 60) -> None:
        """Go on until what has the focus is called like this; the focus must be visible on the screen."""
        for _ in range(most):
            name = self.page.evaluate(
                """() => {
                     const e = document.activeElement;
                     const labels = [...(e.labels ?? [])].map(label => label.textContent).join(' ');
                     return labels || e.getAttribute('aria-label') || e.textContent || '';
                   }"""
            )
            if what in name:
                box = self.page.evaluate(_EDGES)
                assert box[1] > 0, f"{what} has the focus above the screen"
                assert box[0] < box[2], f"{what} has the focus below the screen"
                return
            self.press(key)
        raise AssertionError(f"the keyboard does not come to {what!r}")


def test_by_keyboard_from_the_first_visit_to_a_grant_and_a_token(browser: Browser, site: Served) -> None:
    """No mouse at all; the tokens that come out say exactly what the cards said."""
    with Person(browser, site) as ada:
        _one_clock(ada)
        ada.visit()
        page, keys = ada.page, Keyboard(ada.page)
        expect(page.get_by_role("button", name="Make my key")).to_be_visible()
        keys.to("Make my key")
        keys.press("Enter")
        expect(page.get_by_role("heading", name="This is you")).to_be_visible()
        ada.did = str(page.locator(".copyable .exact").text_content())
        keys.to("Open my inbox")
        keys.press("Space")
        expect(page.locator(".connection")).to_have_text("Live")
        agent: Actor = ada.enrol()
        end = int(time.time()) + 7200
        offers = [{"with": "w/releases/", "can": "crud/write", "exp": end}, {"with": "w/", "can": "*"}]
        request_id = agent.ask(
            title="Ship it?",
            description="Line.\n\n" * 60,
            asks=[{**SHIP, "grants": offers}, {"id": "n", "type": "text", "prompt": "Note?"}],
        )
        expect(page.locator(".rows li")).to_have_count(1)

        for harmless in "aygsn ":  # no single key approves, sends or grants anything
            keys.press(harmless)
        keys.press("j")
        keys.to("Ship it?", most=1)
        keys.press("Enter")
        expect(page.locator(".title")).to_be_focused()
        for harmless in "aygsn":
            keys.press(harmless)
        keys.press("?")
        expect(page.locator("dialog.keys")).to_be_visible()
        keys.press("Escape")
        expect(page.locator("dialog.keys")).to_have_count(0)
        keys.press("e")
        keys.to("Yes, I approve", most=1)
        keys.press("Space")
        keys.to("I grant this")
        keys.press("Space")  # the request was not read to its end yet, or it was: the tick says so
        keys.to("Your answer")
        page.keyboard.type("by keyboard?!jkx/")
        keys.to("I grant this", "Shift+Tab")
        keys.press("Shift+Tab")
        keys.to("I grant this", "Shift+Tab")
        if not page.locator(".offer .tick input").first.is_checked():
            keys.press("Space")
        expect(page.locator(".offer .tick input").first).to_be_checked()
        expect(page.locator(".offer .tick input").nth(1)).not_to_be_checked()
        assert page.locator(".letter").count() == 0
        keys.press("Control+Enter")
        expect(page.locator(".letter")).to_be_visible()
        expect(page.get_by_role("button", name="Undo")).to_be_focused()
        expect(page.locator(".outcome.answered")).to_contain_text("by you, here")
        output = ada.output(request_id)
        assert output["answers"] == {"ship": True, "n": "by keyboard?!jkx/"}
        told = claims(output["token"])
        assert told["att"] == [{"with": f"{ada.did}/w/releases/", "can": "crud/write"}]
        assert told["exp"] == end
        assert told["aud"] == f"{ada.did}:g:helper"
        assert told["iss"] == site.did

        keys.press("u")
        _sign_by_keyboard(ada, keys)


def _one_clock(ada: Person) -> None:
    """The page goes by its own clock, which can be stopped, and hears of no other."""

    def without_time(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={key: part for key, part in answer.json().items() if key != "ts"})

    ada.page.clock.install()
    ada.page.route("**/api/v1/status", without_time)


def _sign_by_keyboard(ada: Person, keys: Keyboard) -> None:
    """A token ask, from the list to the token; the page's clock stands still while it is signed."""
    page = ada.page
    spec = {"caps": [{"with": "w/data/", "can": "crud/read"}, {"with": "w/", "can": "*"}], "lifetime": 7_200}
    request_id = ada.agent.ask(
        title="Sign it?", asks=[{"id": "t", "type": "token", "prompt": "?", "token": spec}]
    )
    expect(page.locator(".rows li")).to_have_text([re.compile(r"Sign it\?")])
    keys.press("j")
    keys.to("Sign it?", most=1)
    keys.press("Enter")
    expect(page.locator(".title")).to_be_focused()
    keys.press("e")
    keys.to("I sign this", most=1)
    keys.press("Space")
    keys.to("Sign the token")
    now = ada.stop_clock()
    keys.press("Enter")
    expect(page.locator(".signed")).to_contain_text("Signed")
    page.clock.resume()
    keys.press("Control+Enter")
    expect(page.locator(".outcome.answered")).to_be_visible()
    told = claims(ada.output(request_id)["tokens"]["t"])
    assert told.pop("nnc")
    assert told == {
        "iss": ada.did,
        "aud": f"{ada.did}:g:helper",
        "ucv": "0.10.0",
        "att": [{"with": f"{ada.did}/w/data/", "can": "crud/read"}],
        "prf": [],
        "exp": now + 7_200,
    }
