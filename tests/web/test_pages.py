"""What was granted and can be taken back; who is blocked and can be heard again."""

import time

from playwright.sync_api import expect

from tests.harness.actors import Actor

from .person import Person
from .test_access import check_with_axe
from .test_inbox import OFFER, SHIP


def test_grants_are_listed_from_the_ledger_and_revoked(ada: Person) -> None:
    """Every live token, by whom it may be used, for what, until when; gone once revoked."""
    page = ada.page
    tokens = []
    for offer in (OFFER, {"with": "w/", "can": "*"}):
        request_id = ada.asked(asks=[{**SHIP, "grants": [offer]}])
        ada.run(
            "hitl/respond",
            {"id": request_id, "outcome": "answer", "answers": {"ship": True}, "grants": [offer]},
        )
        tokens.append(ada.output(request_id)["token"])
        page.get_by_role("link", name="Open").first.click()
    page.get_by_role("link", name="Grants").click()
    mints = page.locator(".mint")
    expect(mints).to_have_count(2)
    expect(mints.first).to_contain_text("May write releases and everything below it, in your workspace.")
    expect(mints.first).to_contain_text(f"crud/write on {ada.did}/w/releases/")
    expect(mints.first).to_contain_text(f"{ada.did}:g:helper")
    expect(mints.first).to_contain_text("Good until")
    expect(mints.nth(1)).to_contain_text("Broad: every ability, the whole namespace w/.")
    check_with_axe(page)
    mints.first.get_by_role("button", name="Revoke").click()
    expect(mints.first).to_contain_text("Revoked")
    valid = [ada.run("ucan/verify", {"token": token})["valid"] for token in tokens]
    assert valid == [False, True]
    page.reload()
    expect(mints).to_have_count(1)


def test_a_requester_is_blocked_from_the_card_and_unblocked(ada: Person) -> None:
    """Somebody else's request says whose it is; a block covers them, and can be lifted."""
    bob: Actor = ada.site.owner()
    token = ada.run(
        "ucan/issue",
        {"aud": bob.did, "att": [{"with": "h/", "can": "hitl/request"}], "exp": int(time.time()) + 3600},
    )["token"]
    ask = {"title": "Hello", "user": ada.did, "asks": [{"id": "a", "type": "approval", "prompt": "?"}]}
    request_id = str(bob.invoke("v/ops/hitl/request", ask, [token]).ok()["id"]).removeprefix("0x")
    page = ada.page
    ada.read(request_id)
    expect(page.locator(".verified")).to_contain_text("somebody else")
    expect(page.locator(".verified")).to_contain_text(bob.did)
    page.get_by_role("button", name="Block this requester").click()
    page.get_by_role("button", name="Block", exact=True).click()
    expect(page.locator(".card")).to_contain_text("Blocked. You can lift it")
    assert bob.invoke("v/ops/hitl/request", ask, [token]).status == 403
    page.get_by_role("link", name="Blocked").first.click()
    expect(page.locator(".mint")).to_contain_text(bob.did)
    check_with_axe(page)
    page.get_by_role("button", name="Unblock").click()
    expect(page.locator(".empty")).to_have_text("You have blocked nobody.")
    assert bob.invoke("v/ops/hitl/request", ask, [token]).status == 201
