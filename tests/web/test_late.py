"""Nothing that comes late, is lost on the way or is pressed twice makes the page send something else."""

from playwright.sync_api import Route, expect

from .person import Person, claims
from .test_inbox import OFFER
from .test_truth import WHY, only_answers


def test_only_what_is_shown_decoded_can_be_sent(ada: Person) -> None:
    """A signature that comes late, after another tick or after the form was opened again, is for nothing."""
    caps = [{"with": "w/a", "can": "crud/read"}, {"with": "w/", "can": "*"}]
    spec = {"caps": caps, "lifetime": 3_600}
    request_id = ada.asked(asks=[{"id": "t", "type": "token", "prompt": "Sign?", "token": spec}])
    page = ada.page
    page.evaluate(
        """() => {
             const sign = crypto.subtle.sign.bind(crypto.subtle);
             crypto.subtle.sign = async (...given) => {
               await new Promise((done) => setTimeout(done, 1_000));
               return sign(...given);
             };
           }"""
    )
    first, second = page.get_by_label("I sign this").first, page.get_by_label("I sign this").nth(1)
    second.check()
    page.get_by_role("button", name="Sign the token").click()
    second.uncheck()
    first.check()
    page.get_by_role("button", name="Sign the token").click()
    expect(page.locator(".signed")).to_contain_text("crud/read on")
    expect(page.locator(".signed")).not_to_contain_text("* on")
    page.get_by_role("button", name="Sign the token").click()
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    expect(page.locator("article")).to_have_count(0)
    ada.read(request_id)
    expect(page.locator(".signed")).to_be_empty()
    page.wait_for_timeout(1_500)
    expect(page.locator(".summary")).to_have_text("You have answered nothing.")
    page.locator("button.send").click()
    expect(page.locator(".outcome.answered")).to_be_visible()
    assert "tokens" not in ada.output(request_id)


def test_an_answer_that_something_in_between_lost_is_not_said_to_be_refused(ada: Person) -> None:
    """A proxy's 504 after the venue took it says nothing: the page goes on until it knows."""
    request_id = ada.asked(asks=[WHY])
    page = ada.page
    page.get_by_label("Your answer").fill("once")

    def lose(route: Route) -> None:
        route.fetch()
        route.fulfill(status=504, body="gateway")

    page.route("**/api/v1/run", only_answers(lose))
    page.locator("button.send").click()
    expect(page.locator(".letter")).to_contain_text("it is not known whether this arrived")
    page.get_by_role("button", name="Stop trying").click()
    expect(page.locator(".outcome.answered")).to_contain_text("This was answered by you,")
    expect(page.locator(".card-state")).to_contain_text("It may have been your answer that did it.")
    assert ada.output(request_id)["answers"] == {"why": "once"}


def test_the_nearest_end_of_equal_offers_is_the_one_that_is_shown(ada: Person) -> None:
    """Two choices offer the same for different times: the shorter is granted, and said."""
    options = [
        {"id": "long", "grants": [{**OFFER, "lifetime": 86_400}]},
        {"id": "short", "grants": [{**OFFER, "lifetime": 600}]},
    ]
    request_id = ada.asked(asks=[{"id": "o", "type": "checkboxes", "prompt": "?", "options": options}])
    page = ada.page
    for number in range(2):
        page.locator(".choice input").nth(number).check()
    page.locator("button.send").scroll_into_view_if_needed()
    page.get_by_label("I grant this").first.check()
    said = page.evaluate(
        "text => Date.parse(/until (.*?):$/m.exec(text)[1])", page.locator(".summary").inner_text()
    )
    page.locator("button.send").click()
    expect(page.locator(".live-grant")).to_be_visible()
    assert abs(claims(ada.output(request_id)["token"])["exp"] - said / 1_000) < 30


def test_a_held_key_presses_one_button(ada: Person) -> None:
    """Enter held down on Send does not press Undo, and Send again."""
    ada.asked(asks=[WHY])
    page = ada.page
    page.get_by_label("Your answer").fill("held")
    page.locator("button.send").focus()
    for _ in range(6):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    expect(page.locator(".letter")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()


def test_what_is_asked_for_one_address_is_not_shown_at_another(ada: Person) -> None:
    """A reading that comes late, or fails late, leaves alone what is open by then."""
    slow, other = ada.agent.ask(title="Slow"), ada.agent.ask(title="Other", asks=[WHY])
    page = ada.page
    held: list[Route] = []
    page.route(f"**/values/read?path=h%2F{slow}*", lambda route: held.append(route))  # noqa: PLW0108 - a method of C takes no marks
    page.locator(f'li[data-id="{slow}"] a').click()
    ada.read(other)
    page.get_by_label("Your answer").fill("typing")
    for route in held:
        route.abort()
    page.wait_for_timeout(500)
    expect(page.get_by_label("Your answer")).to_have_value("typing")
