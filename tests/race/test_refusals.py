"""What a refused answer leaves behind: its line in the audit, whatever it was refused for (D26)."""

import asyncio
import json
from pathlib import Path

import pytest

from inbox.errors import AlreadySettled, BadRequest, Expired, InboxError
from tests.harness.books import Books
from tests.harness.kernel import kernel


@pytest.mark.parametrize(
    ("kind", "code"), [(BadRequest, "invalid_input"), (AlreadySettled, "not_open"), (Expired, "expired")]
)
def test_every_refused_answer_is_audited(tmp_path: Path, kind: type[InboxError], code: str) -> None:
    """One line with the code, on the responder's own chain; late answers are refused answers too."""

    async def refuse() -> tuple[str, str]:
        async with kernel(tmp_path / "venue.db") as venue:
            owner = venue.person(1)
            request = await venue.ask(owner, timeout=10)
            if code == "not_open":
                await venue.respond(owner, request)
            if code == "expired":
                venue.clock.advance(10_000)
            answers = {"answers": {"unheard-of": True}} if code == "invalid_input" else {}
            with pytest.raises(kind):
                await venue.respond(owner, request, **answers)
            return owner.did, request

    owner, request = asyncio.run(refuse())
    books = Books.of(tmp_path / "venue.db")
    books.check()
    (line,) = books.said("hitl:respond.refused")
    assert (line["inbox"], line["by"], line["request"], line["code"]) == (owner, owner, request, code)
    assert json.dumps(line).count("unheard-of") == 0
