"""Every screen of the page, for everybody: axe is content in both themes, nothing scrolls sideways at 320 px,
and what one taps is at least 44 px large.
"""

import time
from typing import Any

from playwright.sync_api import Browser, expect

from tests.harness.actors import Actor
from tests.harness.commands import venue as command
from tests.harness.served import Served

from .person import PHONE, Person
from .test_access import faults_of_axe
from .test_inbox import SHIP

TARGETS = "button, a, summary, input, select, textarea, label.choice, label.tick"

_SMALL = """(targets) => {
  const wrong = [];
  const wide = document.documentElement.scrollWidth;
  if (wide > innerWidth) wrong.push(`${wide} px wide`);
  for (const e of document.querySelectorAll(targets)) {
    if (!e.checkVisibility({ visibilityProperty: true }) || e.matches(".skip")) continue;
    if (e.matches("a") && getComputedStyle(e).display === "inline") continue;  // a link in a text
    const tapped = e.matches("[type=checkbox], [type=radio]") ? e.labels[0] : e;
    const { width, height } = tapped.getBoundingClientRect();
    if (Math.round(width) < 44 || Math.round(height) < 44) {
      wrong.push(`${Math.round(width)} x ${Math.round(height)}: ${tapped.outerHTML.slice(0, 120)}`);
    }
  }
  return wrong;
}"""


class Inspector:
    """Looks at one screen after the other; at the end nothing may have been wrong with any of them."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def __call__(self, person: Person, name: str) -> None:
        """The page as it stands now, under a name for whoever reads the failure."""
        found = person.page.evaluate(_SMALL, TARGETS) + faults_of_axe(person.page)
        self.faults += [f"{name}: {fault}" for fault in found]

    def __enter__(self) -> "Inspector":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            assert not self.faults, "\n".join(self.faults)


def _answered_by(person: Person, pattern: str, status: int, **body: Any) -> None:
    person.page.unroute_all()
    person.page.route(pattern, lambda route: route.fulfill(status=status, json=body))
    person.page.reload()


def test_the_screens_of_getting_in(browser: Browser, site: Served) -> None:
    """From the first visit over signing out to a key that is gone."""
    with Inspector() as look, Person(browser, site, viewport=PHONE) as ada:
        page = ada.page
        ada.visit()
        expect(page.locator("main.welcome")).to_be_visible()
        look(ada, "welcome")
        page.get_by_role("button", name="I have a copy of my key").click()
        page.get_by_role("button", name="Use this key").click()
        expect(page.locator("main.restore").get_by_role("alert")).to_be_visible()
        look(ada, "restore")
        page.get_by_role("button", name="Back").click()
        page.get_by_role("button", name="Make my key").click()
        expect(page.locator("main.made")).to_be_visible()
        page.get_by_role("button", name="Save an encrypted copy").click()
        expect(page.locator("main.made").get_by_role("alert")).to_be_visible()
        look(ada, "made")
        page.get_by_role("button", name="Open my inbox").click()
        expect(page.locator(".connection")).to_have_text("Live")
        page.get_by_role("link", name="You", exact=True).click()
        page.get_by_role("button", name="Remove the key").click()
        look(ada, "you")
        page.get_by_role("button", name="Sign out").click()
        expect(page.locator("main.choose")).to_be_visible()
        look(ada, "choose")
        page.locator(".who").click()
        expect(page.locator(".connection")).to_have_text("Live")
        page.evaluate("base => indexedDB.deleteDatabase('venue-inbox:' + new URL(base).pathname)", ada.base)
        page.reload()
        expect(page.locator("main.lost")).to_be_visible()
        look(ada, "lost")


def test_the_screens_of_not_getting_in(browser: Browser, site: Served) -> None:
    """Refused, not admitted, another venue, no venue, and no secure connection."""
    with Inspector() as look, Person(browser, site, viewport=PHONE) as ada:
        page = ada.page
        ada.arrive()
        _answered_by(ada, "**/api/v1/run", 401, error="The key was revoked", code="bad_credentials")
        expect(page.locator("main.refused")).to_be_visible()
        look(ada, "refused")
        _answered_by(ada, "**/api/v1/run", 403, error="Who is that?", code="not_admitted")
        expect(page.locator("main.not-admitted")).to_be_visible()
        look(ada, "not admitted")
        _answered_by(ada, "**/api/v1/status", 200, did="did:key:z6MkotherVenueOtherVenueOtherVenue", name="x")
        expect(page.locator("main.other-venue")).to_be_visible()
        look(ada, "other venue")
        _answered_by(ada, "**/api/v1/status", 502)
        expect(page.locator("main.unreachable")).to_be_visible()
        look(ada, "unreachable")
        page.add_init_script("Object.defineProperty(globalThis, 'isSecureContext', { value: false })")
        page.reload()
        expect(page.locator("main.insecure")).to_be_visible()
        look(ada, "insecure")


def test_the_screens_of_a_link(browser: Browser, site: Served) -> None:
    """Whose it is, and one that is not whole."""
    command("user", "add", "walter", data=site.data).ok()
    link = command("user", "link", "walter", "--base", site.url, data=site.data).ok()
    with Inspector() as look, Person(browser, site, viewport=PHONE) as walter:
        walter.page.goto(link)
        expect(walter.page.locator("main.link")).to_be_visible()
        look(walter, "link")
        walter.page.goto("about:blank")
        walter.page.goto(link[:-1])
        expect(walter.page.locator("main.link-refused")).to_be_visible()
        look(walter, "link refused")


def test_the_screens_of_the_inbox(browser: Browser, site: Served) -> None:
    """A list, cards of every kind, rejected ones too, grants, blocked ones, the keys."""
    with Inspector() as look, Person(browser, site, viewport=PHONE) as ada:
        page = ada.page
        ada.arrive()
        token = {"caps": [{"with": "w/d", "can": "crud/read"}], "audience": site.owner().did}
        asks = [SHIP, {"id": "t", "type": "token", "prompt": "Sign?", "token": token}]
        ada.agent.ask(title="Granted", asks=asks)
        bob: Actor = site.owner()
        may = {"aud": bob.did, "att": [{"with": "h/", "can": "hitl/request"}], "exp": int(time.time()) + 900}
        leave = ada.run("ucan/issue", may)["token"]
        theirs = bob.ask([leave], title="Theirs", user=ada.did, asks=[{**SHIP, "id": "x", "grants": []}])
        expect(page.locator(".rows li")).to_have_count(2)
        look(ada, "list")

        page.get_by_role("link", name="Granted").click()
        expect(page.locator(".verified")).to_be_visible()
        for closed in page.locator("summary").all():
            closed.click()
        look(ada, "card")
        page.get_by_label("Yes, I approve").check()
        page.locator("button.send").scroll_into_view_if_needed()
        page.get_by_label("I grant this").check()
        page.get_by_label("I sign this").check()
        page.get_by_role("button", name="Sign the token").click()
        expect(page.locator(".signed")).to_contain_text("Signed")
        look(ada, "signed")
        ada.send()
        look(ada, "sending")
        expect(page.locator(".live-grant")).to_have_count(2)
        look(ada, "answered")

        page.get_by_role("link", name="Back to the list").click()
        page.locator(".tab[data-status=open]").click()
        ada.read(theirs)
        page.get_by_role("button", name="Block this requester").click()
        look(ada, "blocking")
        page.get_by_role("button", name="Block", exact=True).click()
        page.get_by_role("button", name="Reject the request").click()
        look(ada, "rejecting")
        page.get_by_label("Why?").fill("No")
        page.get_by_role("button", name="Reject it").click()
        expect(page.locator(".outcome.rejected")).to_be_visible()
        look(ada, "rejected")

        for name, entry in (("grants", ".mint"), ("blocked", ".mint"), ("rejected", ".rows li")):
            ada.visit(f"#/{name}")
            expect(page.locator(entry).first).to_be_visible()
            look(ada, name)
        page.get_by_role("button", name="Keys").click()
        expect(page.locator("dialog.keys")).to_be_visible()
        look(ada, "keys")
