"""Granting less than was offered, and signing with one's own key."""

import subprocess
import sys
import time

from playwright.sync_api import Browser, expect

from tests.conftest import ROOT
from tests.harness.served import Served

from .person import Person, claims
from .test_access import check_with_axe
from .test_inbox import SHIP


def test_an_offer_is_made_smaller_before_it_is_granted(ada: Person) -> None:
    """Path, ability and end; the token is the smaller one, the record keeps both, and wider is not sent."""
    offer = {"with": "w/reports/", "can": "crud", "lifetime": 86_400}
    request_id = ada.asked(asks=[{**SHIP, "grants": [offer]}])
    page = ada.page
    page.get_by_label("Yes, I approve").check()
    page.get_by_label("No, I do not").scroll_into_view_if_needed()
    page.get_by_label("I grant this").check()
    page.get_by_text("Make it smaller").click()
    for wider in ("w/reports-secret/", "w/", "w/reports/../x", "", "/"):
        page.get_by_label("On", exact=True).fill(wider)
        expect(page.locator(".smaller .problem")).to_be_visible()
    page.locator("button.send").click()
    expect(page.locator(".answer-area .problem")).to_contain_text("Not sent")
    page.get_by_label("On", exact=True).fill("w/reports/march")
    page.get_by_label("May do", exact=True).fill("*")
    expect(page.locator(".smaller .problem")).to_have_text("The ability is not inside what was offered.")
    page.get_by_label("May do", exact=True).fill("crud/read")
    page.get_by_label("Ends after").select_option(label="1 hour")
    expect(page.locator(".smaller-now")).to_contain_text("May read reports/march")
    expect(page.locator(".summary")).to_contain_text("May read reports/march")
    check_with_axe(page)
    before = int(time.time())
    page.locator("button.send").click()
    expect(page.locator(".live-grant")).to_be_visible()
    expect(page.locator(".granted")).to_contain_text("May read reports/march")
    output = ada.output(request_id)
    told = claims(output["token"])
    assert told["att"] == [{"with": f"{ada.did}/w/reports/march", "can": "crud/read"}]
    assert before + 3_500 < told["exp"] < before + 3_650
    assert output["grants"][0] == {
        **offer,
        "narrow": {"with": "w/reports/march", "can": "crud/read", "exp": told["exp"]},
    }


def test_a_token_ask_is_signed_in_the_browser(ada: Person) -> None:
    """Ticked, made smaller, signed by the person's own key, shown decoded, and only then sent."""
    spec = {
        "caps": [{"with": "w/data/", "can": "crud/read"}, {"with": "w/", "can": "*"}],
        "lifetime": 7_200,
        "venue": "https://other.example",
    }
    request_id = ada.asked(
        asks=[{"id": "t", "type": "token", "prompt": "Sign?", "required": True, "token": spec}]
    )
    page = ada.page
    page.locator("button.send").click()
    expect(page.locator(".ask-token .ask-problem")).to_contain_text("needs an answer")
    page.get_by_role("button", name="Sign the token").click()
    expect(page.locator(".ask-token")).to_contain_text("a token that says nothing is none")
    page.get_by_label("I sign this").first.check()
    page.get_by_text("Make it smaller").first.click()
    page.get_by_label("On", exact=True).first.fill("w/data/march")
    page.get_by_role("button", name="Sign the token").click()
    expect(page.locator(".signed")).to_contain_text("Signed, and not sent yet.")
    expect(page.locator(".signed")).to_contain_text(f"crud/read on {ada.did}/w/data/march")
    expect(page.locator(".summary")).to_contain_text("hands over a token that you signed")
    check_with_axe(page)
    page.get_by_label("I sign this").nth(1).check()
    expect(page.locator(".signed")).to_be_empty()  # what was signed is not what is ticked now
    page.get_by_label("I sign this").nth(1).uncheck()
    page.get_by_label("Ends after").select_option(label="1 hour")
    before = int(time.time())
    page.get_by_role("button", name="Sign the token").click()
    expect(page.locator(".signed")).to_contain_text("Signed")
    page.locator("button.send").click()
    expect(page.locator(".outcome.answered")).to_be_visible()
    token = ada.output(request_id)["tokens"]["t"]
    told = claims(token)
    assert told["iss"] == ada.did
    assert told["aud"] == f"{ada.did}:g:helper"
    assert told["att"] == [{"with": f"{ada.did}/w/data/march", "can": "crud/read"}]
    assert before + 3_590 <= told["exp"] <= before + 3_620
    verdict = ada.run("ucan/verify", {"token": token})
    assert verdict["valid"] is True
    assert verdict["att"][0]["rootAuthority"] == "owner"


def test_a_managed_user_is_told_that_they_cannot_sign(browser: Browser, site: Served) -> None:
    """The venue signs for them; the form says so instead of failing afterwards."""
    command = [sys.executable, "-m", "venue", "user"]
    where = ["--data", str(site.data)]
    subprocess.run([*command, "add", "kim", *where], check=True, capture_output=True, cwd=ROOT, timeout=60)
    linked = [*command, "link", "kim", "--base", site.url, *where]
    link = subprocess.run(
        linked, check=True, capture_output=True, text=True, cwd=ROOT, timeout=60
    ).stdout.strip()
    with Person(browser, site) as kim:
        kim.page.goto(link)
        kim.page.get_by_role("button", name="Yes, that is me").click()
        expect(kim.page.locator(".connection")).to_have_text("Live")
        kim.enrol()
        spec = {"caps": [{"with": "w/data/", "can": "crud/read"}]}
        kim.asked(asks=[{"id": "t", "type": "token", "prompt": "Sign?", "token": spec}])
        expect(kim.page.locator(".ask-token")).to_contain_text("a key of your own")
        expect(kim.page.get_by_role("button", name="Sign the token")).to_have_count(0)
