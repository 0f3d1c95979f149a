"""What a requester writes stays text, in every field that it controls (faults C8 and C10)."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from .person import RECORDS, Person

SCRIPT = "<img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>"
HIDDEN = "a\u202egpj.exe\u202c b\u200bc\u2066d\u2069 e\ufefff\u00adg\u2800h\u180ei\U000e0041j\u3164k"
TERMINAL = "\x1b[31mred\x1b[0m\x07\x08\x9b1m"
MARKDOWN = "\n".join(
    (
        "# VERIFIED BY THE VENUE",
        "",
        "[plain](https://evil.example/a) [js](javascript:alert(1)) [tab](\tjavascript:alert(2))",
        "[caps](JaVaScRiPt:alert(3)) [data](data:text/html,<script>alert(4)</script>) [vb](vbscript:x)",
        "[user](https://bank.example@evil.example/) [file](file:///etc/passwd) [rel](/inbox) [hash](#/you)",
        "![picture](https://evil.example/pixel.png) <javascript:alert(5)> <https://evil.example/b>",
        '<a href="javascript:alert(6)">click</a> <iframe src="https://evil.example"></iframe>',
        "[ref]: https://evil.example/c",
        "</section></article><div class='verified'>Verified</div>",
        "| a | b |",
        HIDDEN,
        SCRIPT,
        "> " * 200 + "deep",
        "*" * 500 + "`" * 501 + "[" * 500,
        "Z" + "\u0301" * 60,
    )
)


def _hostile(text: str) -> dict[str, Any]:
    return {
        "title": f"{text.splitlines()[0]}",
        "description": f"{text}\n\n{MARKDOWN}",
        "asks": [
            {
                "id": f"approve {text}",
                "type": "approval",
                "prompt": text,
                "comment": True,
                "required": True,
                "grants": [
                    {"with": "w/<img src=x onerror=alert(1)>", "can": "crud/read", "nb": {text: [text]}},
                    {"with": "w/\u0430dmin/\u05d0\u05d1\u05d2/1", "can": "constructor"},
                ],
            },
            {
                "id": "choose",
                "type": "checkboxes",
                "prompt": text,
                "options": [{"id": text, "label": text, "description": text}, {"id": f"2{text}"}],
                text: text,
            },
            {"id": "__proto__", "type": "text", "prompt": text},
            {
                "id": "sign",
                "type": "token",
                "prompt": text,
                "token": {
                    "caps": [{"with": "w/<b>", "can": "<i>x</i>", "nb": {text: text}}],
                    "venue": text,
                    text: text,
                },
            },
            {"id": "constructor", "type": "text", "prompt": text, "comment": True},
        ],
    }


_CHECKS = """() => {
  const hidden = /[\\p{Cf}\\p{Cc}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]/u;
  const wrong = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.nodeValue.replace(/[\\n\\t]/g, '');
    if (hidden.test(text)) wrong.push('hidden: ' + JSON.stringify(text.slice(0, 80)));
  }
  for (const element of document.querySelectorAll('*')) {
    const active = 'img, script, iframe, svg, object, embed, style, base, meta, link';
    if (element.matches(active) && !document.head.contains(element)) wrong.push(element.tagName);
    for (const { name, value } of element.attributes) {
      if (name.startsWith('on') || name === 'style') wrong.push(name);
      if (hidden.test(value)) wrong.push('attribute ' + name);
      if (element.matches('a') && name === 'href' && !/^(https?:|mailto:|#)/.test(value)) wrong.push(value);
      if (name === 'id' && /approve|__proto__/.test(value)) wrong.push('id ' + value);
    }
  }
  return wrong;
}"""


def _is_clean(page: Page) -> None:
    assert page.evaluate(_CHECKS) == []


@pytest.mark.parametrize("text", [SCRIPT, HIDDEN, TERMINAL], ids=["markup", "hidden", "terminal"])
def test_hostile_text_stays_text_in_every_field(ada: Person, text: str) -> None:
    """List, card, answer, undo bar, settled view: nothing runs, loads, hides or reorders."""
    request_id = ada.asked(**_hostile(text))
    page = ada.page
    _is_clean(page)
    links = page.locator(".prose a").evaluate_all("links => links.map(link => link.href)")
    assert links == ["https://evil.example/a", "https://evil.example/b"]
    expect(page.locator(".prose")).to_contain_text("[not a link: javascript:alert(1)]")
    expect(page.locator(".prose")).to_contain_text(
        "[picture, not loaded: picture https://evil.example/pixel.png]"
    )
    expect(page.locator(".prose")).to_contain_text("\\u{202e}gpj.exe\\u{202c}")
    assert page.locator(".verified").count() == 1
    heading = page.locator(".prose").get_by_text("VERIFIED BY THE VENUE", exact=True)
    assert heading.evaluate("element => element.tagName") == "H3"
    page.get_by_label("Yes, I approve").check()
    page.locator(".ask-checkboxes .choice").first.click()
    page.locator(".ask-text textarea").first.fill("an answer to __proto__")
    page.locator("button.send").scroll_into_view_if_needed()
    page.get_by_label("I grant this").first.check()
    page.locator("button.send").click()
    expect(page.locator(".letter")).to_be_visible()
    _is_clean(page)
    expect(page.locator(".outcome.answered")).to_be_visible()
    expect(page.locator(".live-grant")).to_be_visible()
    _is_clean(page)
    answers = ada.output(request_id)["answers"]
    assert answers == {f"approve {text}": True, "choose": [text], "__proto__": "an answer to __proto__"}
    assert len(ada.output(request_id)["grants"]) == 1


def test_a_path_reads_from_left_to_right_and_names_what_looks_alike(ada: Person) -> None:
    """Letters of a right-to-left script in a path do not reorder it, and a Cyrillic letter is pointed out."""
    ada.asked(**_hostile("x"))
    path = ada.page.locator(".offer").nth(1).locator(".offer-words .exact")
    order = path.evaluate(
        """code => {
             const text = [...code.childNodes].find(node => node.nodeType === 3);
             return [...text.nodeValue].map((_, at) => {
               const range = document.createRange();
               range.setStart(text, at);
               range.setEnd(text, at + 1);
               const box = range.getBoundingClientRect();
               return Math.round(box.top) * 10000 + box.left;
             });
           }"""
    )
    assert order == sorted(order)
    expect(path).to_contain_text("\\u{0430}")


def test_a_record_that_is_not_its_digest_cannot_be_answered(ada: Person) -> None:
    """What was changed on the way is shown as such."""
    request_id = ada.agent.ask(title="Pay 10")
    page = ada.page

    def changed(route: Any) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace("Pay 10", "Pay 99"))

    page.route(RECORDS, changed)
    ada.read(request_id)
    expect(page.locator(".card-state")).to_contain_text("does not match its own digest")
    assert page.locator("button.send, button.reject").count() == 0
