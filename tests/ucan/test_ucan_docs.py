"""docs/ucan.md does what it says: the ten lines run, and the numbers in it are the code's."""

import re
import time
from pathlib import Path
from typing import Any

import pytest
from ucan_kit import ALICE, BOB, DAVE, RESOURCE

from ucan import Capability, issue
from ucan.bearer import MAX_AHEAD, MAX_BEARER_LIFE, MAX_IDENTITY_LIFE
from ucan.chain import MAX_LINKS, MAX_PROOFS
from ucan.errors import UcanError
from ucan.jwt import MAX_BYTES, VERSION

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "ucan.md").read_text(encoding="utf-8")


def test_the_ten_lines_run(capsys: pytest.CaptureFixture[str]) -> None:
    """A third party lets the right caller in, keeps the wrong one out, and can say why."""
    code = re.search(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert code is not None
    assert len([line for line in code[1].splitlines() if line.strip()]) <= 10
    names: dict[str, Any] = {}
    exec(code[1], names)
    now = int(time.time())
    grant = [Capability(f"{ALICE.did}/w/", "crud/read")]
    token = issue(ALICE, audience=DAVE.did, capabilities=grant, expires=now + 60, now=now, nonce="n")
    assert names["may_read"](token, DAVE.did, RESOURCE)
    assert not names["may_read"](token, BOB.did, RESOURCE)
    assert capsys.readouterr().out == "refused by V12 at link 0: The token was given to somebody else.\n"


def test_the_limits_are_the_codes() -> None:
    """Each limit stands in the document as it stands in the code."""
    assert f"at most {MAX_BYTES // 1024} KiB" in TEXT
    assert f"at most {MAX_LINKS} links, and {MAX_PROOFS} distinct proofs" in TEXT
    assert (MAX_IDENTITY_LIFE, MAX_BEARER_LIFE, MAX_AHEAD) == (3600, 15 * 60, 30)
    assert "one hour, a bearer 15 minutes, issued at most 30 seconds ahead" in TEXT
    assert f'exactly `"{VERSION}"`' in TEXT


def test_every_code_is_in_the_table() -> None:
    """Codes of the table and codes of the error tree."""
    rows = re.findall(r"^\| V\d+ \|.*\| (`.*`) \|$", TEXT, re.MULTILINE)
    listed = {code for leaf in UcanError.__subclasses__() for code in leaf.codes}
    assert {code.strip(" `") for row in rows for code in row.split(",")} == listed
