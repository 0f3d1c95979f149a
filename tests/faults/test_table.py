"""The table of reported faults is whole, and every test that it names is there."""

import ast
import json
import re

import pytest

from tests.conftest import ROOT

TABLE = (ROOT / "tests/faults/README.md").read_text(encoding="utf-8")
ROWS = {int(row): answer for row, answer in re.findall(r"^\| (\d+) \|.*\| ([^|]*) \|$", TABLE, re.MULTILINE)}
WANTED = (
    *(1, 3, 5, 6, 7, 8, 10, 11, 12, 14),
    *(16, 17, 19, 21, 22, 24, 25, 27),
    *(28, 30, 31, 32, 34, 36, 38, 39, 40, 41),
    *(42, 43, 45, 47, 48, 49, 52, 53),
    *(54, 56, 58, 59, 60, 61),
    *(63, 64, 66, 67, 68, 70, 72),
    *(73, 74, 75, 77, 79, 80, 82, 84, 86, 87, 89),
    *(90, 92, 93, 94, 96, 98, 100),
    *(101, 103, 105, 106, 107),
    *(108, 109, 112, 114, 115),
    *(116, 117, 119, 121, 122, 123, 125, 127, 128, 129),
    *(131, 132, 133, 134, 136),
)
"""The numbers of C1-C12."""


def test_no_row_is_missing() -> None:
    """Every number of the chapters stands once."""
    assert tuple(ROWS) == WANTED


@pytest.mark.parametrize("row", WANTED)
def test_a_row_names_its_test_or_says_why_it_has_none(row: int) -> None:
    """A test function of that name in that file, a scenario of that id; or a reason."""
    answer = ROWS[row]
    named = re.findall(r"`([^`]+\.py)::(\w+)`", answer)
    assert named or answer.startswith("does not apply"), answer
    for file, function in named:
        tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert function in names, (file, function)
    scenarios = json.loads((ROOT / "tests/data/scenarios.json").read_text(encoding="utf-8"))
    assert set(re.findall(r"\[([A-Z]{2}-\d+)\]", answer)) <= {one["id"] for one in scenarios}
