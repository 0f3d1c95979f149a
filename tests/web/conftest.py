"""A browser, a venue that is served, and somebody who has just opened the inbox in it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.served import Served

from .person import Person

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP lan.test 127.0.0.1",
)


def _chromium() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    given = os.environ.get("CHROMIUM")
    return given or next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="package")
def browser() -> Iterator[playwright.Browser]:
    """Chromium as the system has it. It ends with these tests: while it runs, its event loop is in the way of
    every test in the same process that runs one of its own.
    """
    path = _chromium()
    if path is None:
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    playwright.expect.set_options(timeout=20_000)
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=list(OPTIONS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One venue for all tests that need nothing special: each person in it has an inbox of their own."""
    with Served(tmp_path_factory.mktemp("web") / "data") as served:
        yield served


@pytest.fixture
def own_site(tmp_path: Path) -> Iterator[Served]:
    """A venue of a test's own, which it may stop and start."""
    with Served(tmp_path / "data") as served:
        yield served


@pytest.fixture
def ada(browser: playwright.Browser, site: Served) -> Iterator[Person]:
    """Somebody with a fresh browser, in their inbox, with an agent of their own."""
    with Person(browser, site) as person:
        person.arrive()
        yield person
