"""What the page asks and shows beside plain questions: tokens to sign, offers without end, the unknown."""

from pathlib import Path

from playwright.sync_api import Browser, Route, expect

from tests.harness.served import Served

from .person import Person, claims
from .test_inbox import SHIP

CAP = {"with": "w/data/", "can": "crud/read"}


def test_a_token_is_signed_only_after_all_was_read(ada: Person) -> None:
    """Not before the end of the question was on the screen; and one that is for somebody else says so."""
    other = ada.site.owner().did
    whom = {"t": other, "u": f"{ada.did}:g:helper"}
    request_id = ada.asked(
        description="\n\n".join(f"Paragraph {number}." for number in range(80)),
        asks=[
            {"id": name, "type": "token", "prompt": "Sign?", "token": {"caps": [CAP], "audience": audience}}
            for name, audience in whom.items()
        ],
    )
    page, ask = ada.page, ada.page.locator(".ask-token").first
    expect(page.locator(".broad-mark")).to_have_count(1)
    expect(ask.locator(".broad-mark")).to_contain_text("Not for the requester")
    expect(ask).to_contain_text(other)
    sign = ask.get_by_role("button", name="Sign the token")
    ask.get_by_label("I sign this").evaluate("box => box.click()")
    sign.evaluate("button => button.click()")  # where it is, without scrolling to it
    expect(ask.get_by_text("Read on first")).to_be_visible()
    expect(ask.locator(".signed")).to_be_empty()
    page.mouse.move(800, 400)
    page.mouse.wheel(0, 20_000)
    expect(ask.get_by_text("Read on first")).to_be_hidden()
    sign.click()
    expect(ask.locator(".signed")).to_contain_text(other)
    ada.send()
    expect(page.locator(".outcome.answered")).to_be_visible()
    told = claims(ada.output(request_id)["tokens"]["t"])
    assert (told["iss"], told["aud"]) == (ada.did, other)


def test_what_has_no_form_is_shown_and_rejected_to_the_end(ada: Person) -> None:
    """An unknown kind of ask, and a token for the venue itself: no way to answer, a way to say no."""
    asks = [
        {"id": "s", "type": "retina-scan", "prompt": "Look here", "required": True, "lens": "left"},
        {"id": "t", "type": "token", "prompt": "Sign?", "token": {"caps": [CAP], "audience": ada.site.did}},
    ]
    ada.alter(asks=asks, origin="https://relay.example")
    request_id = ada.asked()
    page = ada.page
    expect(page.locator(".verified")).to_contain_text("https://relay.example")
    expect(page.locator(".raw")).to_contain_text("retina-scan")
    expect(page.locator(".raw")).to_contain_text("left")
    expect(page.locator(".ask-token .problem").first).to_contain_text("the venue itself")
    expect(page.get_by_role("button", name="Sign the token")).to_have_count(0)
    expect(page.locator("button.send")).to_have_count(0)

    truth = ada.run("covia/read", {"path": f"h/{request_id}"})["value"]["digest"]

    def truly(route: Route) -> None:
        """The venue holds what it was asked, of course: it hears the digest of that."""
        body = route.request.post_data_json
        if "digest" in body["input"]:
            body["input"]["digest"] = truth
        route.continue_(post_data=body)

    page.route("**/api/v1/run", truly)
    page.get_by_role("button", name="Reject the request").click()
    page.get_by_label("Why?").fill("I cannot read this")
    page.get_by_role("button", name="Reject it").click()
    expect(page.locator(".letter")).to_be_visible()
    expect(page.locator(".outcome.rejected")).to_be_visible()
    assert ada.agent.job(request_id).ok()["error"] == "HITL request rejected: I cannot read this"


def test_without_a_ceiling_and_without_the_right_to_attest(browser: Browser, tmp_path: Path) -> None:
    """An offer that never ends is marked; a venue that signs only for its own users says so, and the tick is
    shut.
    """
    rules = {"VENUE_GRANTS__ATTEST": "managed", "VENUE_GRANTS__MAX_LIFETIME": "none"}
    with Served(tmp_path / "data", environ=rules) as site, Person(browser, site) as ada:
        ada.arrive()
        page = ada.page
        request_id = ada.asked(asks=[{**SHIP, "grants": [{**CAP, "exp": None}]}])
        expect(page.locator(".broad-mark")).to_contain_text("never ends")
        expect(page.locator(".offer .exactly")).to_contain_text("for ever")
        page.get_by_label("Yes, I approve").check()
        tick = page.get_by_label("I grant this")
        expect(tick).to_have_attribute("aria-disabled", "true")
        expect(page.locator(".why")).to_contain_text("key of your own")
        tick.click(force=True)
        expect(tick).not_to_be_checked()
        ada.send()
        expect(page.locator(".outcome.answered")).to_be_visible()
        assert "token" not in ada.output(request_id)
