"""What leaves the browser when a person answers, and when: the answer, the digest of what was shown, once."""

import re

from playwright.sync_api import Browser, Route, expect

from tests.harness.served import Served

from .person import Person

WHY = {"id": "why", "type": "text", "prompt": "Why?"}


def test_what_was_not_touched_is_not_answered_and_all_is_about_what_was_shown(ada: Person) -> None:
    """No `false` for an approval that was left alone; the digest goes along, also with a rejection."""
    page = ada.page
    answered = ada.asked()
    ada.send()
    expect(page.locator(".outcome.answered")).to_be_visible()
    rejected = ada.asked()
    page.get_by_role("button", name="Reject the request").click()
    page.get_by_role("button", name="Reject it").click()
    expect(page.locator(".outcome.rejected")).to_be_visible()
    digests = [ada.run("covia/read", {"path": f"h/{one}"})["value"]["digest"] for one in (answered, rejected)]
    assert [call["input"] for call in ada.sent()] == [
        {"id": answered, "outcome": "answer", "answers": {}, "digest": digests[0]},
        {"id": rejected, "outcome": "reject", "digest": digests[1]},
    ]
    assert ada.output(answered)["answers"] == {}


def test_an_answer_to_something_else_is_refused_and_kept(ada: Person) -> None:
    """What was shown is not what the venue holds: it says so, nothing lands, and the text stays."""
    ada.alter(title="Pay 99")
    request_id = ada.asked(title="Pay 10", asks=[WHY])
    page = ada.page
    page.get_by_label("Your answer").fill("a long text")
    ada.send()
    expect(page.get_by_role("alert").filter(has_text="not what the venue holds")).to_be_visible()
    expect(page.get_by_label("Your answer")).to_have_value("a long text")
    expect(page.get_by_label("Your answer")).to_be_enabled()
    assert len(ada.sent()) == 1
    assert ada.state(request_id) == "INPUT_REQUIRED"


def test_nothing_leaves_the_browser_for_five_seconds(browser: Browser, site: Served) -> None:
    """On a clock that the test moves: nothing before the end of the fifth second, and one answer after it."""
    with Person(browser, site) as ada:
        clock = ada.page.clock
        clock.install()
        ada.arrive()
        request_id = ada.asked()
        ada.stop_clock()
        ada.send()
        clock.run_for(4_900)
        expect(ada.page.get_by_role("button", name="Undo")).to_be_visible()
        assert ada.state(request_id) == "INPUT_REQUIRED"
        assert ada.sent() == []
        with ada.page.expect_request("**/api/v1/run"):
            clock.run_for(200)
        clock.resume()
        expect(ada.page.locator(".outcome.answered")).to_be_visible()
        assert len(ada.sent()) == 1


def test_an_answer_whose_receipt_was_lost_lands_once(ada: Person) -> None:
    """The venue took it, and the page did not hear: it sends it again under the same key."""
    request_id = ada.asked(asks=[WHY])
    page, heard = ada.page, []

    def deaf(route: Route) -> None:
        if "hitl/respond" not in str(route.request.post_data) or heard:
            route.continue_()
            return
        heard.append(route.fetch().status)
        route.abort()

    page.route("**/api/v1/run", deaf)
    page.get_by_label("Your answer").fill("once")
    ada.send()
    expect(page.locator(".outcome.answered")).to_contain_text("by you, here")
    assert heard == [200]
    first, second = ada.sent()
    assert first == second
    assert first["key"]
    assert ada.output(request_id)["answers"] == {"why": "once"}


def test_without_a_network_and_back(ada: Person) -> None:
    """The page says how old it is, keeps what was typed, and catches up by itself; the answer lands once."""
    page = ada.page
    kept = ada.asked(title="Kept", asks=[WHY])
    page.get_by_label("Your answer").fill("half a sen")
    request_id = ada.asked(title="Sent", asks=[WHY])
    page.get_by_label("Your answer").fill("all of it")
    ada.context.set_offline(True)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")  # whoever comes back to it looks
    banner = page.locator(".banner")
    expect(banner).to_have_text(re.compile(r"out of date"))
    expect(banner).to_have_text(re.compile(r"20\d\d, \d+:\d\d:\d\d"))
    later = ada.agent.ask(title="Meanwhile")
    ada.context.set_offline(False)
    expect(page.locator(f'li[data-id="{later}"]')).to_be_visible(timeout=30_000)
    expect(banner).to_be_hidden()
    ada.context.set_offline(True)
    with page.expect_event("requestfailed", lambda failed: "hitl/respond" in str(failed.post_data)):
        ada.send()
    ada.context.set_offline(False)
    expect(page.locator(".outcome.answered")).to_contain_text("by you, here")
    assert len(ada.sent()) > 1
    assert len({str(call) for call in ada.sent()}) == 1
    assert ada.output(request_id)["answers"] == {"why": "all of it"}
    ada.read(kept)
    expect(page.get_by_label("Your answer")).to_have_value("half a sen")
