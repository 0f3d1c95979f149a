"""What the page says of an answer is true: what is ticked, sent, kept, known, and what is over."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from .person import Person, claims
from .test_inbox import OFFER, SHIP

LONG = "\n\n".join(f"Paragraph {number}." for number in range(80))
WHY = {"id": "why", "type": "text", "prompt": "Why?"}
FOCUSED = "document.activeElement === document.body ? 'BODY' : document.activeElement.textContent"


def _approve(page: Page) -> None:
    page.get_by_label("Yes, I approve").check()
    page.get_by_label("No, I do not").scroll_into_view_if_needed()
    page.get_by_label("I grant this").check()


def only_answers(act: Callable[[Route], None]) -> Callable[[Route], None]:
    """A route that does something to answers on their way, and lets the rest pass."""

    def handle(route: Route) -> None:
        if "hitl/respond" in (route.request.post_data or ""):
            act(route)
        else:
            route.continue_()

    return handle


def test_a_tick_is_for_what_is_on_the_screen(ada: Person) -> None:
    """Whoever opens a request again has ticked nothing and read nothing, and sends no grant."""
    request_id = ada.asked(asks=[SHIP], description=LONG)
    page = ada.page
    _approve(page)
    page.keyboard.press("u")
    expect(page.locator("article")).to_have_count(0)
    ada.read(request_id)
    tick = page.get_by_label("I grant this")
    expect(page.get_by_label("Yes, I approve")).to_be_checked()
    expect(tick).not_to_be_checked()
    expect(tick).to_have_attribute("aria-disabled", "true")
    expect(page.locator(".summary")).to_have_text("Sending this answer grants no access.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".outcome.answered")).to_be_visible()
    assert "token" not in ada.output(request_id)


def test_what_became_of_an_answer_is_told_wherever_one_is(ada: Person) -> None:
    """The card is closed, the requester was faster: the bar says so, and stays until it is put away."""
    request_id = ada.asked(title="Too late", asks=[WHY])
    page = ada.page
    page.get_by_label("Your answer").fill("because")
    page.locator("button.send").click()
    page.keyboard.press("u")
    expect(page.locator("article")).to_have_count(0)
    ada.agent.cancel(request_id)
    notice = page.locator(".letter.failed")
    expect(notice).to_contain_text("Not sent: “Too late” was settled before.")
    notice.get_by_role("link", name="Open the request").click()
    expect(page.locator(".outcome.cancelled")).to_be_visible()
    expect(page.locator(".leftover")).to_contain_text("because")
    notice.get_by_role("button", name="Dismiss").click()
    expect(notice).to_have_count(0)


def test_what_was_typed_stays_whoever_settles_it(ada: Person) -> None:
    """The answer, the remark and the reason of a rejection: read-only, and there when one comes back."""
    request_id = ada.asked(asks=[WHY])
    page = ada.page
    page.get_by_label("Your answer").fill("an answer")
    page.get_by_text("A remark on the whole").first.click()
    page.get_by_label("A remark on the whole").fill("a remark")
    page.get_by_role("button", name="Reject the request").click()
    page.get_by_label("Why? The requester").fill("a reason")
    ada.agent.cancel(request_id)
    expect(page.locator(".outcome.cancelled")).to_be_focused()
    for label, text in (("Your answer", "an answer"), ("A remark", "a remark"), ("Why? The", "a reason")):
        expect(page.get_by_label(label)).to_have_value(text)
        expect(page.get_by_label(label)).to_be_disabled()
    expect(page.locator(".answer-area button")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.locator("article")).to_have_count(0)
    ada.visit(f"#/cancelled/{request_id}")
    for text in ("an answer", "a remark", "a reason"):
        expect(page.locator(".leftover")).to_contain_text(text)


def test_an_answer_whose_fate_is_unknown_is_sent_until_it_is_known(ada: Person) -> None:
    """The venue took it and its word was lost: the page does not say "not sent", and lands it once."""
    request_id = ada.asked(asks=[WHY])
    page = ada.page
    page.get_by_label("Your answer").fill("once")
    keys = set()

    def lose(route: Route) -> None:
        keys.add(route.request.headers["idempotency-key"])
        route.fetch()
        route.abort()

    page.route("**/api/v1/run", only_answers(lose))
    page.locator("button.send").click()
    expect(page.locator(".letter")).to_contain_text("it is not known whether this arrived")
    assert ada.output(request_id)["answers"] == {"why": "once"}
    page.unroute("**/api/v1/run")
    expect(page.locator(".outcome.answered")).to_contain_text("by you, here")
    assert len(keys) == 1


def test_who_stops_trying_is_told_that_it_is_not_known(ada: Person) -> None:
    """And the form is there again, with what was typed; once the venue answers, the card says what holds."""
    request_id = ada.asked(asks=[WHY])
    page = ada.page
    page.get_by_label("Your answer").fill("perhaps")
    page.route("**/api/v1/run", only_answers(lambda route: route.abort()))
    page.locator("button.send").click()
    page.get_by_role("button", name="Stop trying").click()
    expect(page.locator(".answer-area .problem")).to_contain_text("it is not known whether your answer")
    expect(page.get_by_label("Your answer")).to_have_value("perhaps")
    expect(page.locator("button.send")).to_be_focused()
    page.unroute("**/api/v1/run")
    ada.run("hitl/respond", {"id": request_id, "outcome": "reject"})
    expect(page.locator(".outcome.rejected")).to_contain_text("by you,")
    expect(page.locator(".card-state")).to_contain_text("It may have been your answer that did it.")


def test_what_one_signed_is_shown_and_revoked_afterwards(ada: Person) -> None:
    """On the card and on the page of grants, also after a reload; then it opens nothing any more."""
    spec = {"caps": [{"with": "w/data/", "can": "crud/read"}], "lifetime": 7_200}
    request_id = ada.asked(asks=[{"id": "t", "type": "token", "prompt": "Sign?", "token": spec}])
    page = ada.page
    page.get_by_label("I sign this").check()
    page.get_by_role("button", name="Sign the token").click()
    page.locator("button.send").click()
    expect(page.locator(".signed-token")).to_be_visible()
    for fragment in (f"#/answered/{request_id}", "#/grants"):
        ada.visit(fragment)
        page.reload()
        signed = page.locator(".signed-token")
        expect(signed).to_contain_text("May read data and everything below it, in your workspace.")
        expect(signed).to_contain_text(f"{ada.did}:g:helper")
        expect(page.locator(".no-grant")).to_have_count(0)
    token = ada.output(request_id)["tokens"]["t"]
    assert claims(token)["iss"] == ada.did
    signed.get_by_role("button", name="Revoke").click()
    expect(signed.get_by_role("status")).to_be_focused()
    assert ada.run("ucan/verify", {"token": token})["valid"] is False
    ada.visit(f"#/answered/{request_id}")
    expect(page.locator(".granted")).to_contain_text("This browser has no copy of it")


def test_nothing_that_a_requester_writes_looks_like_the_page(ada: Person) -> None:
    """Whatever it wrote stands in a box of its own kind; a label has one line."""
    mine = "QQ\nSending this answer grants no access."
    options = [{"id": "o", "label": mine, "description": mine, "grants": [OFFER]}]
    ada.asked(
        title="QQ", description=mine, asks=[{**WHY, "prompt": mine, "type": "choice", "options": options}]
    )
    page = ada.page
    stray = """() => [...document.querySelectorAll('article *')].filter(e =>
        [...e.childNodes].some(n => n.nodeType === 3 && n.data.includes('QQ'))
        && !e.closest('.theirs-box, .quoted')).map(e => e.outerHTML)"""
    assert page.evaluate(stray) == []
    assert "\n" not in str(page.locator(".choice .quoted").first.text_content())
    page.locator(".choice").first.click()
    page.locator("button.send").click()
    expect(page.locator(".response dd .quoted")).to_be_visible()
    assert page.evaluate(stray) == []


def test_the_chord_sends_only_from_the_card(ada: Person) -> None:
    """Not from the list of keys, and not from the search."""
    ada.asked(asks=[WHY])
    page = ada.page
    page.get_by_label("Your answer").fill("ready")
    page.get_by_role("button", name="Keys").click()
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Close").click()
    page.get_by_label("Search").press("Control+Enter")
    expect(page.locator(".letter")).to_have_count(0)
    page.get_by_label("Your answer").press("Control+Enter")
    page.get_by_role("button", name="Undo").click()


def test_an_answer_near_the_deadline_is_in_time(ada: Person) -> None:
    """The time to undo ends before the deadline does."""
    request_id = ada.asked(timeout=5, asks=[WHY])
    page = ada.page
    page.get_by_label("Your answer").fill("just")
    page.locator("button.send").click()
    expect(page.locator(".outcome.answered")).to_be_visible()
    assert ada.output(request_id)["answers"] == {"why": "just"}


def test_the_list_is_true_under_a_storm_of_changes(ada: Person) -> None:
    """Changes that come faster than the page asks do not keep it from asking."""
    page = ada.page
    expect(page.locator("#list-heading")).to_have_text("Open · 0")
    storm = """([base, name, on]) => {
        clearInterval(globalThis.storm);
        const channel = new BroadcastChannel(`venue-inbox ${base} ${name}`);
        if (on) globalThis.storm = setInterval(() => channel.postMessage({ change: { kind: "x" } }), 40);
    }"""
    page.evaluate(storm, [ada.base, ada.did, True])
    for number in range(1, 4):
        ada.agent.ask(title=f"Number {number}")
        expect(page.locator("#list-heading")).to_have_text(f"Open · {number}")
    expect(page.locator("#live")).to_contain_text("New request from helper, your agent: Number 3")
    page.evaluate(storm, [ada.base, ada.did, False])


def test_the_page_of_grants_is_live(ada: Person) -> None:
    """What is granted elsewhere appears, what is revoked elsewhere and what ends is said to be over."""
    page = ada.page
    ada.visit("#/grants")
    expect(page.locator(".grants .empty")).to_be_visible()
    tokens = []
    for lifetime in (3, 3600):
        offer = {**OFFER, "lifetime": lifetime}
        request_id = ada.agent.ask(asks=[{**SHIP, "grants": [offer]}])
        answer = {"id": request_id, "outcome": "answer", "answers": {"ship": True}, "grants": [offer]}
        ada.run("hitl/respond", answer)
        tokens.append(ada.output(request_id)["token"])
    mints = page.locator(".mint")
    expect(mints).to_have_count(2)
    expect(mints.first).to_contain_text("It came to its end")
    ada.run("ucan/revoke", {"token": tokens[1]})
    expect(mints.nth(1)).to_contain_text("It is over")


Step = Callable[[Person], None]


def _stop_rejecting(ada: Person) -> None:
    ada.page.get_by_role("button", name="Reject the request").click()
    ada.page.get_by_role("button", name="Do not reject").click()


def _revoke(ada: Person) -> None:
    _approve(ada.page)
    ada.page.locator("button.send").click()
    ada.page.get_by_role("button", name="Revoke").click()
    expect(ada.page.locator(".grant-state")).to_contain_text("It is over")


def _revoke_in_list(ada: Person) -> None:
    _approve(ada.page)
    ada.page.locator("button.send").click()
    expect(ada.page.locator(".live-grant")).to_be_visible()
    ada.visit("#/grants")
    ada.page.get_by_role("button", name="Revoke").click()
    expect(ada.page.locator(".mint")).to_contain_text("Revoked")


def _keep_the_key(ada: Person) -> None:
    ada.visit("#/you")
    ada.page.get_by_role("button", name="Remove the key").click()
    ada.page.get_by_role("button", name="Keep it").click()


def _undo(ada: Person) -> None:
    ada.page.get_by_label("Yes, I approve").check()
    ada.page.locator("button.send").click()
    ada.page.get_by_role("button", name="Undo").click()


def _send(ada: Person) -> None:
    ada.page.get_by_label("Yes, I approve").check()
    ada.page.locator("button.send").click()
    expect(ada.page.locator(".outcome.answered")).to_be_in_viewport()


STEPS: dict[str, tuple[Step, str]] = {
    "do not reject": (_stop_rejecting, "Reject the request…"),
    "revoke on the card": (_revoke, "It is over: revoked, or past its end."),
    "revoke in the list": (_revoke_in_list, "Revoked: it opens nothing any more."),
    "keep the key": (_keep_the_key, "Remove the key from this browser"),
    "undo": (_undo, "Send answer"),
    "send": (_send, "This was answered by you, here"),
}


@pytest.mark.parametrize("name", STEPS)
def test_the_focus_goes_where_the_story_goes_on(ada: Person, name: str) -> None:
    """After each step it stands on what comes next, never nowhere."""
    ada.page.set_viewport_size({"width": 390, "height": 844})
    ada.asked(asks=[SHIP])
    step, text = STEPS[name]
    step(ada)
    assert str(ada.page.evaluate(FOCUSED)).startswith(text)
