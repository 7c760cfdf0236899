"""A real workspace on the demo vendor and a real browser that looks at it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.gateway.house import Workspace, ended
from tests.web import chromium
from tests.web.looking import Visitor

ROOT = Path(__file__).resolve().parents[2]

BRISK = "180"
"""Deltas a second: quicker than a model, slow enough to catch a thought while it streams."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium. Ended with the module: while it lives, no other test may use asyncio."""
    if chromium.found() is None:
        pytest.skip("chromium is not installed (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        launched = chromium.launch(playwright)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A running workspace with nothing but the demo, and the page built into it."""
    if not (ROOT / "src/silu/gateway/static/index.html").is_file():
        pytest.skip("the web app has not been built (`make web`)")
    made = Workspace(tmp_path_factory.mktemp("web"), env={"SILU_DEMO_RATE": BRISK})
    with ended(made.start()):
        yield made


@pytest.fixture(scope="module")
def instant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A workspace whose demo answers at once, for what comes after an answer."""
    made = Workspace(tmp_path_factory.mktemp("instant"), env={"SILU_DEMO_RATE": "0"})
    with ended(made.start()):
        yield made


@pytest.fixture
def visit(browser: Browser, workspace: Workspace) -> Iterator[Visitor]:
    """Opens pages, each signed in; at the end no page may have complained or looked outside."""
    visitor = Visitor(browser, workspace)
    yield visitor
    visitor.close()
