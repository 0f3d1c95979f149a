"""Somebody at a browser: what they see, what they click, and what the page did behind their back."""

import base64
import json
import re
from hashlib import sha256
from types import TracebackType
from typing import Any

import rfc8785
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.harness.actors import Actor
from tests.harness.served import Served

PHONE = {"width": 320, "height": 640}
LAPTOP = {"width": 1280, "height": 800}

RECORDS = "**/values/read?path=h*"
"""The addresses of the records of the inbox."""

_RUN = """async ({base, operation, input}) => {
  const keys = await import(base + "inbox/keys.js");
  const { Api } = await import(base + "inbox/api.js");
  const { identity } = await keys.load(new URL(base));
  return await new Api(new URL(base), identity).run(operation, input);
}"""


class Person:
    """A browser profile of its own on a venue. At the end nothing may have gone wrong in any of its pages."""

    def __init__(self, browser: Browser, site: Served, **options: Any) -> None:
        self.site = site
        self.base = f"{site.url}/"
        self.context: BrowserContext = browser.new_context(**{"viewport": LAPTOP, **options})
        self.context.add_init_script(
            "document.addEventListener('securitypolicyviolation',"
            " e => console.error('CSP violation: ' + e.violatedDirective + ' ' + e.blockedURI))"
        )
        self.wrong: list[str] = []
        self.foreign: list[str] = []
        self.ran: list[dict[str, Any]] = []
        self.expected: tuple[str, ...] = ("Failed to load resource",)
        self.page = self.open_page()
        self.did = ""
        self.agent: Actor = site.stranger()

    def __enter__(self) -> "Person":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.context.close()
        if error is None:
            assert not self.wrong, self.wrong
            assert not self.foreign, self.foreign

    def open_page(self) -> Page:
        """Another tab; whatever it does wrong is remembered."""
        page = self.context.new_page()
        page.set_default_timeout(30_000)
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("console", self._heard)
        page.on("dialog", lambda dialog: (self.wrong.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", self._asked)
        return page

    def _heard(self, message: Any) -> None:
        if message.type == "error" and not message.text.startswith(self.expected):
            self.wrong.append(message.text)

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.site.url, "data:", "blob:")):
            self.foreign.append(request.url)
        if request.method == "POST" and request.url.endswith("/api/v1/run"):
            self.ran.append({**request.post_data_json, "key": request.headers.get("idempotency-key")})

    def sent(self, operation: str = "hitl/respond") -> list[dict[str, Any]]:
        """What left the browser for an operation: each call's `input`, and the `key` that it went under."""
        return [call for call in self.ran if call["operation"] == f"v/ops/{operation}"]

    def alter(self, **fields: Any) -> None:
        """From now on the page reads every record with these fields in it, under a digest that fits them."""

        def altered(route: Route) -> None:
            answer = route.fetch()
            body = answer.json()
            record = {**body["value"], **fields}
            covered = {key: record[key] for key in record if key not in ("digest", "status", "response")}
            record["digest"] = f"sha256:{sha256(rfc8785.dumps(covered)).hexdigest()}"
            route.fulfill(response=answer, json={**body, "value": record})

        self.page.route(RECORDS, altered)

    def visit(self, fragment: str = "", page: Page | None = None) -> None:
        """Open the inbox."""
        (page or self.page).goto(f"{self.base}inbox{fragment}")

    def arrive(self) -> None:
        """First visit: make a key, go in, and enrol an agent."""
        self.visit()
        self.page.get_by_role("button", name="Make my key").click()
        expect(self.page.get_by_role("heading", name="This is you")).to_be_visible()
        self.did = str(self.page.locator(".copyable .exact").text_content())
        self.page.get_by_role("button", name="Open my inbox").click()
        expect(self.page.locator(".connection")).to_have_text("Live")
        self.enrol()

    def enrol(self, agent_id: str = "helper") -> Actor:
        """An agent of this person, enrolled with the key that the browser holds."""
        token = self.run("agent/enrol", {"agentId": agent_id})["token"]
        self.agent = Actor(self.site.http, self.site.did, token=token)
        return self.agent

    def run(self, operation: str, data: dict[str, Any]) -> Any:
        """Run an operation as this person, with the page's own modules."""
        return self.page.evaluate(_RUN, {"base": self.base, "operation": operation, "input": data})

    def asked(self, **fields: Any) -> str:
        """A request of the agent, opened in the page."""
        request_id = self.agent.ask(**fields)
        self.read(request_id)
        return request_id

    def read(self, request_id: str, page: Page | None = None) -> None:
        """Open a request that is in the list."""
        page = page or self.page
        page.locator(f'li[data-id="{request_id}"] a').click()
        expect(page.locator(f'article[data-id="{request_id}"] .verified')).to_be_visible()

    def send(self) -> None:
        """Send the answer; it is on its way, and can be undone."""
        self.page.locator("button.send").click()
        expect(self.page.locator(".letter")).to_be_visible()

    def stop_clock(self) -> int:
        """Put the page's clock, once installed, a little ahead and let it stand; the unix seconds there."""
        now = int(self.page.evaluate("Date.now()")) // 1000 + 5
        self.page.clock.pause_at(now)
        return now

    def state(self, request_id: str) -> str:
        """How the agent's job stands."""
        return str(self.agent.job(request_id).ok()["status"])

    def output(self, request_id: str) -> Any:
        """What the agent's job completed with."""
        return self.agent.job(request_id).ok()["output"]


def claims(token: str) -> dict[str, Any]:
    """The claims of a JWT, decoded and not judged."""
    payload = token.split(".")[1]
    decoded = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    assert isinstance(decoded, dict)
    return decoded


def words(page: Page, selector: str) -> str:
    """The text of an element as it is read, spaces evened out."""
    return re.sub(r"\s+", " ", page.locator(selector).inner_text()).strip()
