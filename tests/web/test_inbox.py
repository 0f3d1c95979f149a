"""Getting in, the list, the card and the answer, as a person does it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.conftest import ROOT
from tests.harness.actors import Actor
from tests.harness.served import Served
from venue.routes.web import POLICY, assets

from .person import PHONE, Person, claims

OFFER = {"with": "w/releases/", "can": "crud/write", "lifetime": 3600}
SHIP = {"id": "ship", "type": "approval", "prompt": "Ship it?", "required": True, "grants": [OFFER]}


def test_the_page_carries_its_own_policy_and_nothing_else_may_be_loaded(site: Served) -> None:
    """Every file has the policy, once; a name that is no file is 404; the page names nothing foreign."""
    for path in ("/inbox", *(f"/inbox/{name}" for name in assets() if name != "index.html")):
        answer = site.http.get(path)
        assert answer.status_code == 200, path
        assert answer.headers.get_list("content-security-policy") == [POLICY]
        assert answer.headers.get_list("x-content-type-options") == ["nosniff"]
        assert "//" not in re.sub(r"https?://www\.w3\.org/\S+", "", answer.text) or path.endswith(".js")
    for path in ("/inbox/nothing.js", "/inbox/..%2fapp.py", "/inbox/index.html", "/inbox/__init__.py"):
        assert site.http.get(path).status_code == 404, path
    page = site.http.get("/inbox")
    assert "<script>" not in page.text
    assert "style=" not in page.text
    tag = page.headers["etag"]
    assert site.http.get("/inbox", headers={"If-None-Match": tag}).status_code == 304


def test_no_module_can_make_html_out_of_text() -> None:
    """The sinks of trusted types stand in no module, not even unused."""
    sinks = (
        r"innerHTML|outerHTML|insertAdjacent|document\.write|srcdoc|DOMParser|\beval\b|new Function|\.style\b"
    )
    for name, asset in assets().items():
        if name.endswith(".js"):
            assert not re.search(sinks, asset.body.decode()), name


def test_first_visit_makes_a_key_that_nobody_can_take_out(browser: Browser, site: Served) -> None:
    """A click makes it; the DID is shown; the key is stored, not extractable, and signs us in next time."""
    with Person(browser, site) as ada:
        ada.arrive()
        assert ada.did.startswith("did:key:z6Mk")
        expect(ada.page.locator(".empty")).to_have_text("Nothing waits for you.")
        expect(ada.page.locator(".list-note")).to_contain_text("Checked")
        extractable = ada.page.evaluate(
            """async (base) => {
                 const { identity } = await (await import(base + 'inbox/keys.js')).load(new URL(base));
                 return [identity.did, identity.key.extractable, identity.key.type];
               }""",
            ada.base,
        )
        assert extractable == [ada.did, False, "private"]
        ada.page.reload()
        expect(ada.page.locator(".connection")).to_have_text("Live")


def test_a_key_that_is_gone_is_said_to_be_gone(ada: Person) -> None:
    """The browser forgot the key but not whose it was: the page says so, and makes no new one by itself."""
    ada.page.evaluate("base => indexedDB.deleteDatabase('venue-inbox:' + new URL(base).pathname)", ada.base)
    ada.visit()
    ada.page.reload()
    expect(ada.page.get_by_role("heading", name="The key is gone from this browser")).to_be_visible()
    expect(ada.page.locator(".exact")).to_have_text(ada.did)


def test_without_a_secure_context_there_is_no_key(browser: Browser, tmp_path: Path) -> None:
    """Plain http on a network: the page says why, and asks for nothing."""
    with Served(tmp_path / "lan", "--host", "0.0.0.0", "--insecure-http") as lan:
        page = browser.new_page()
        page.goto(f"http://lan.test:{lan.port}/inbox")
        expect(page.get_by_role("heading")).to_have_text("This connection is not secure")
        page.close()


def test_who_is_not_admitted_sees_what_to_tell_the_operator(browser: Browser, tmp_path: Path) -> None:
    """The DID and the command; once the operator has run it, the inbox opens by itself."""
    closed = {"VENUE_USERS__AUTO_CREATE": "false"}
    with Served(tmp_path / "d", environ=closed) as site, Person(browser, site) as eve:
        eve.visit()
        eve.page.get_by_role("button", name="Make my key").click()
        eve.page.get_by_role("button", name="Open my inbox").click()
        expect(eve.page.get_by_role("heading", name="You are not admitted yet")).to_be_visible()
        did = str(eve.page.locator(".copyable .exact").text_content())
        expect(eve.page.locator("pre")).to_have_text(f"venue user add {did}")
        operator = [sys.executable, "-m", "venue", "user", "add", did, "--data", str(site.data)]
        subprocess.run(operator, check=True, capture_output=True, cwd=ROOT, timeout=60)
        expect(eve.page.locator(".connection")).to_have_text("Live", timeout=20_000)


def test_the_list_is_live_sorted_and_counted(ada: Person) -> None:
    """The nearest deadline first; the count is the list's; what others settle leaves it without a reload."""
    later = ada.agent.ask(title="Later", timeout=7200)
    never = ada.agent.ask(title="Never")
    soon = ada.agent.ask(title="Soon", timeout=600)
    rows = ada.page.locator(".rows li")
    expect(rows).to_have_count(3)
    order = [row.get_attribute("data-id") for row in rows.all()]
    assert order == [soon, later, never]
    expect(ada.page.locator("#list-heading")).to_have_text("Open · 3")
    expect(ada.page.locator(".tab-count").first).to_have_text("3")
    expect(rows.first).to_contain_text("9 minutes")
    ada.agent.cancel(later)
    expect(rows).to_have_count(2)
    expect(ada.page.locator("#list-heading")).to_have_text("Open · 2")
    ada.page.get_by_role("link", name="Cancelled").click()
    expect(ada.page.locator("#list-heading")).to_have_text("Cancelled · 1")
    ada.page.locator(".rows a").click()
    expect(ada.page.locator(".outcome")).to_contain_text("The requester withdrew this")


def test_the_card_sets_the_verified_apart_and_shows_each_offer_exactly(ada: Person) -> None:
    """Who asks stands above what they wrote; the offer says ability, resource, end and audience in full."""
    ada.asked(title="Ship 1.4.0?", description="All **green**.", asks=[SHIP])
    page = ada.page
    verified = page.locator(".verified")
    expect(verified).to_contain_text("Agent helper")
    expect(verified).to_contain_text(f"{ada.did}:g:helper")
    boxes = [page.locator(selector).bounding_box() for selector in (".verified", ".theirs-box", ".asks")]
    assert [box["y"] for box in boxes if box] == sorted(box["y"] for box in boxes if box)
    offer = page.locator(".offer")
    expect(offer).to_contain_text("May write releases and everything below it, in your workspace.")
    for exactly in (
        "crud/write",
        f"{ada.did}/w/releases/",
        "helper, your agent, who asks this",
        "1 hour after you approve",
    ):
        expect(offer).to_contain_text(exactly)
    assert page.locator(".broad-mark").count() == 0
    expect(page.locator(".title")).to_be_focused()
    page.locator(".times summary").click()
    expect(page.locator(".times dd").first).to_contain_text("Z)")


@pytest.mark.parametrize(
    ("offer", "mark"),
    [
        ({"with": "w/a", "can": "*"}, "every ability"),
        ({"with": "w/", "can": "crud/read"}, "the whole namespace w/"),
        ({"with": "DID", "can": "crud/read"}, "everything you own here"),
        ({"with": "w/a", "can": "grant/crud/read"}, "may be passed on"),
    ],
)
def test_broad_offers_are_marked(ada: Person, offer: dict[str, str], mark: str) -> None:
    """`*`, a whole namespace, a DID alone, and what may be passed on."""
    grant = {**offer, "with": ada.did if offer["with"] == "DID" else offer["with"]}
    ada.asked(asks=[{**SHIP, "grants": [grant]}])
    expect(ada.page.locator(".broad-mark")).to_contain_text(mark)


def _send(page: Page) -> None:
    page.locator("button.send").click()
    expect(page.locator(".letter")).to_be_visible()


def test_an_approval_without_a_tick_grants_nothing(ada: Person) -> None:
    """The tick opens with the choice and falls with it; without a tick nothing is minted."""
    request_id = ada.asked(asks=[SHIP])
    page = ada.page
    tick = page.get_by_label("I grant this")
    expect(tick).to_have_attribute("aria-disabled", "true")
    tick.click(force=True)
    expect(tick).not_to_be_checked()
    page.get_by_label("Yes, I approve").check()
    expect(tick).to_have_attribute("aria-disabled", "false")
    tick.check()
    expect(page.locator(".summary")).to_contain_text("Sending this answer grants")
    page.get_by_label("No, I do not").check()
    expect(tick).not_to_be_checked()
    page.get_by_label("Yes, I approve").check()
    expect(tick).not_to_be_checked()
    expect(page.locator(".summary")).to_have_text("Sending this answer grants no access.")
    _send(page)
    expect(page.locator(".outcome.answered")).to_contain_text("by you, here")
    output = ada.output(request_id)
    assert output["answers"] == {"ship": True}
    assert "token" not in output
    assert "grants" not in output


def test_a_ticked_offer_is_granted_shown_and_revoked(ada: Person) -> None:
    """The token carries exactly what was shown; afterwards it can be revoked from the card."""
    request_id = ada.asked(asks=[SHIP])
    page = ada.page
    page.get_by_label("Yes, I approve").check()
    page.get_by_label("No, I do not").scroll_into_view_if_needed()
    page.get_by_label("I grant this").check()
    expect(page.locator("button.send")).to_have_text("Send answer and grant this access")
    _send(page)
    expect(page.locator(".live-grant")).to_contain_text("Good until")
    output = ada.output(request_id)
    told = claims(output["token"])
    assert told["att"] == [{"with": f"{ada.did}/w/releases/", "can": "crud/write"}]
    assert told["aud"] == f"{ada.did}:g:helper"
    assert output["grants"] == [OFFER]
    page.get_by_role("button", name="Revoke").click()
    expect(page.locator(".grant-state")).to_contain_text("It is over")
    verdict = ada.run("ucan/verify", {"token": output["token"]})
    assert verdict["valid"] is False


def test_undo_sends_nothing(ada: Person) -> None:
    """Within five seconds nothing has left; after undo the form is as it was."""
    request_id = ada.asked(asks=[SHIP, {"id": "why", "type": "text", "prompt": "Why?"}])
    page = ada.page
    page.get_by_label("Yes, I approve").check()
    page.get_by_label("Your answer").fill("because")
    _send(page)
    expect(page.locator(".asks fieldset.bare")).to_have_attribute("disabled", "")
    page.wait_for_timeout(1500)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".letter")).to_have_count(0)
    expect(page.locator("button.send")).to_be_focused()
    expect(page.get_by_label("Your answer")).to_have_value("because")
    page.wait_for_timeout(4500)
    assert ada.agent.job(request_id).ok()["status"] == "INPUT_REQUIRED"


def test_required_asks_guide(ada: Person) -> None:
    """What is missing is named where it is missing, gets the focus, and nothing is sent."""
    request_id = ada.asked(
        asks=[
            {"id": "a", "type": "text", "prompt": "Anything?"},
            {
                "id": "b",
                "type": "checkboxes",
                "prompt": "Which?",
                "required": True,
                "options": [{"id": "r", "label": "Red"}, {"id": "g"}],
            },
        ]
    )
    page = ada.page
    page.locator("button.send").click()
    expect(page.locator(".ask-checkboxes .ask-problem")).to_contain_text("This needs an answer")
    expect(page.get_by_label("Red")).to_be_focused()
    expect(page.locator(".letter")).to_have_count(0)
    page.get_by_label("None of these").check()
    expect(page.locator(".ask-checkboxes .ask-problem")).to_be_hidden()
    page.get_by_label("Red").check()
    expect(page.get_by_label("None of these")).not_to_be_checked()
    page.get_by_label("g", exact=True).check()
    _send(page)
    expect(page.locator(".outcome.answered")).to_be_visible()
    assert ada.output(request_id)["answers"] == {"b": ["r", "g"]}


def test_a_rejection_reaches_the_agent_word_for_word(ada: Person) -> None:
    """Reason and all, after the same five seconds."""
    request_id = ada.asked(asks=[SHIP])
    page = ada.page
    page.get_by_role("button", name="Reject the request").click()
    page.get_by_label("Why?").fill("Not before “Monday” \u2014 see <b>#12</b>")
    page.get_by_role("button", name="Reject it").click()
    expect(page.locator(".outcome.rejected")).to_contain_text("This was rejected by you, here")
    job = ada.agent.job(request_id).ok()
    assert job["status"] == "FAILED"
    assert job["error"] == "HITL request rejected: Not before “Monday” \u2014 see <b>#12</b>"


def test_two_tabs_race_and_the_loser_keeps_what_was_typed(ada: Person) -> None:
    """One settles; the other learns who, what and when without a reload, and its form is read-only."""
    request_id = ada.asked(asks=[SHIP, {"id": "why", "type": "text", "prompt": "Why?"}])
    other = ada.open_page()
    ada.visit(f"#/open/{request_id}", other)
    expect(other.locator(".connection")).to_have_text("Live")
    other.get_by_label("Your answer").fill("half a sentence")
    other.get_by_label("No, I do not").check()
    page = ada.page
    page.get_by_label("Yes, I approve").check()
    _send(page)
    _send(other)  # still in its five seconds when the first one lands
    expect(page.locator(".outcome.answered")).to_contain_text("by you, here")
    expect(other.locator(".outcome.answered")).to_contain_text("by you, somewhere else: in a browser")
    expect(other.locator(".letter")).to_have_count(0)
    expect(other.get_by_label("Your answer")).to_have_value("half a sentence")
    expect(other.get_by_label("Your answer")).to_be_disabled()
    expect(other.locator("button.send")).to_have_count(0)
    expect(other.locator(".rows li")).to_have_count(0)
    assert ada.output(request_id)["answers"] == {"ship": True}


def test_a_lost_race_on_the_wire_names_the_winner(ada: Person) -> None:
    """The stream says nothing in time: the venue's 409 does."""
    request_id = ada.asked(asks=[SHIP])
    page = ada.page
    page.route("**/api/v1/values/read?path=h*", lambda route: route.abort())
    page.get_by_label("Yes, I approve").check()
    _send(page)
    ada.agent.cancel(request_id)
    page.wait_for_timeout(3000)
    page.unroute("**/api/v1/values/read?path=h*")
    expect(page.locator(".outcome.cancelled")).to_contain_text("The requester withdrew this")


def test_expiry_while_the_form_is_open(ada: Person) -> None:
    """At the deadline the form closes by itself, and keeps what was typed."""
    request_id = ada.asked(timeout=6, asks=[{"id": "why", "type": "text", "prompt": "Why?"}])
    page = ada.page
    page.get_by_label("Your answer").fill("too slow")
    expect(page.locator(".outcome.expired")).to_contain_text("The deadline passed, and nobody answered")
    expect(page.get_by_label("Your answer")).to_have_value("too slow")
    expect(page.get_by_label("Your answer")).to_be_disabled()
    assert ada.agent.job(request_id).ok()["error"] == "HITL request expired"


def test_a_server_that_restarts_under_the_page(browser: Browser, own_site: Served) -> None:
    """Not reachable is not empty; what was typed stays; when it is back, the answer goes out."""
    with Person(browser, own_site) as ada:
        ada.arrive()
        request_id = ada.asked(asks=[{"id": "why", "type": "text", "prompt": "Why?"}])
        page = ada.page
        page.get_by_label("Your answer").fill("still here")
        own_site.kill()
        expect(page.locator(".banner")).to_contain_text("The venue does not answer.")
        expect(page.locator(".banner")).to_contain_text("may be out of date")
        expect(page.locator(".rows li")).to_have_count(1)
        other = ada.open_page()
        own_site.start()
        ada.agent = Actor(own_site.http, own_site.did, token=ada.agent.token)
        expect(page.locator(".connection")).to_have_text("Live", timeout=30_000)
        expect(page.locator(".banner")).to_be_hidden()
        expect(page.get_by_label("Your answer")).to_have_value("still here")
        _send(page)
        expect(page.locator(".outcome.answered")).to_be_visible()
        assert ada.output(request_id)["answers"] == {"why": "still here"}
        own_site.kill()
        other.close()


def test_a_long_text_is_read_to_its_end_before_a_grant(ada: Person) -> None:
    """The tick stays shut until the end of the request was on the screen."""
    ada.asked(asks=[SHIP], description="\n\n".join(f"Paragraph {number}." for number in range(80)))
    page = ada.page
    page.get_by_label("Yes, I approve").evaluate("box => box.click()")
    tick = page.get_by_label("I grant this")
    expect(tick).to_have_attribute("aria-disabled", "true")
    expect(page.locator(".why")).to_contain_text("Read on first")
    page.mouse.move(800, 400)
    page.mouse.wheel(0, 20_000)
    expect(tick).to_have_attribute("aria-disabled", "false")


def test_nothing_is_wider_than_a_small_phone(ada: Person) -> None:
    """320 px: no sideways scroll in the list and in the card, whatever words are in them."""
    long = "x" * 200
    request_id = ada.agent.ask(
        title=long,
        description=f"`{long}` {long}\n\n```\n{long}\n```",
        asks=[{**SHIP, "prompt": long, "grants": [{**OFFER, "with": f"w/{long}"}]}],
    )
    page = ada.page
    page.set_viewport_size(PHONE)
    width = "document.documentElement.scrollWidth"
    expect(page.locator(".rows li")).to_have_count(1)
    assert page.evaluate(width) == 320
    ada.read(request_id)
    assert page.evaluate(width) == 320
    small = page.evaluate(
        "[...document.querySelectorAll('button, .tab, .choice, .tick, summary, .back, textarea')]"
        ".filter(e => e.offsetParent && (e.offsetHeight < 44 || e.offsetWidth < 44)).map(e => e.outerHTML)"
    )
    assert small == []


def test_search_and_requester_narrow_the_list(ada: Person) -> None:
    """By words of the title, and by who asked; the count of the whole stays."""
    first = ada.agent.ask(title="Ship the web part")
    second = ada.agent.ask(title="Ship the rest")
    third = ada.enrol("other").ask(title="Pay the web host")
    page = ada.page
    rows = page.locator(".rows li")
    expect(rows).to_have_count(3)
    page.keyboard.press("/")
    page.keyboard.type("WEB the")
    expect(rows).to_have_count(2)
    assert [row.get_attribute("data-id") for row in rows.all()] == [first, third]
    expect(page.locator(".filters .note")).to_have_text("2 of 3 shown.")
    page.get_by_label("From").select_option(label="other, your agent")
    expect(rows).to_have_count(1)
    page.get_by_label("Search").fill("")
    page.get_by_label("From").select_option(label="helper, your agent")
    assert [row.get_attribute("data-id") for row in rows.all()] == [first, second]
    expect(page.locator("#list-heading")).to_have_text("Open · 3")


def test_history_comes_newest_first_and_page_by_page(ada: Person) -> None:
    """What was settled last is on the first page; every record is reached, and once."""
    ids = []
    for number in range(120):
        ids.append(ada.agent.ask(title=f"Number {number}"))
        ada.agent.cancel(ids[-1])
    page = ada.page
    page.get_by_role("link", name="Cancelled").click()
    rows = page.locator(".rows li")
    expect(page.locator("#list-heading")).to_have_text("Cancelled · 120")
    expect(rows).to_have_count(100)
    expect(rows.first).to_contain_text("Number 119")
    page.get_by_role("button", name="Load older ones").click()
    expect(rows).to_have_count(120)
    assert [row.get_attribute("data-id") for row in rows.all()] == ids[::-1]
    page.get_by_label("Search").fill("number 7")
    expect(rows).to_have_count(21)


def test_it_works_below_a_path_prefix(browser: Browser, site: Served) -> None:
    """Behind a proxy that strips a prefix, every file and call goes below that prefix."""
    with Person(browser, site) as ada:
        prefix, outside = f"{site.url}/below/here/", []

        def stripped(route: Route) -> None:
            url = route.request.url
            if not url.startswith(prefix):
                outside.append(url)
            route.continue_(url=url.replace(prefix, f"{site.url}/"))

        ada.context.route("**/*", stripped)
        ada.base = prefix
        ada.arrive()
        request_id = ada.asked()
        ada.page.get_by_label("Yes, I approve").check()
        _send(ada.page)
        expect(ada.page.locator(".outcome.answered")).to_be_visible()
        assert ada.output(request_id)["answers"] == {"ok": True}
        assert outside == []
    slash = site.http.get("/inbox/", follow_redirects=False)
    assert (slash.status_code, slash.headers["location"]) == (307, "../inbox")
