"""What every test shares: the case files of others, and the rule that nothing skips in CI.

`--vectors FILE`, `--scenarios FILE`, `--gates FILE`: given one, exactly that file runs, each case a test by
its id. A test that runs such cases carries the mark `cases("vectors")` (or "scenarios", "gates").
"""

import os
import signal
from pathlib import Path

import pytest

KINDS = ("vectors", "scenarios", "gates")
ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the three options that name a file of cases."""
    for kind in KINDS:
        parser.addoption(f"--{kind}", type=Path, metavar="FILE", help=f"run exactly the {kind} of FILE")


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark that ties a test to a kind of case file; and let the commands that tests start hear
    Ctrl-C, also where whoever started the tests in the background lets them ignore it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "cases(kind): runs each case of the file given with --<kind>")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Given a file of cases, keep its cases and nothing else."""
    chosen = {kind for kind in KINDS if config.getoption(kind) is not None}
    if not chosen:
        return

    def wanted(item: pytest.Item) -> bool:
        return any(mark.args[0] in chosen for mark in item.iter_markers("cases"))

    left_out = [item for item in items if not wanted(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if wanted(item)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    """Under CI=true a skip is a failure: there, everything that can run must run."""
    report = yield
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped under CI: {report.longrepr}"
    return report
