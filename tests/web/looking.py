"""What a test does with the page, in a person's words."""

import json
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Locator, Page, Request, expect

from tests.gateway.house import TOKEN, Workspace

PATIENCE = 30_000
"""Milliseconds a turn of the demo may take on a busy machine."""

LOOK = "What is in this folder?"
THINK = "Think about stairs."
AXE = Path(__file__).resolve().parents[2] / "web/node_modules/axe-core/axe.min.js"


class Visitor:
    """A person with a browser; every page is watched."""

    def __init__(self, browser: Browser, workspace: Workspace) -> None:
        self.browser = browser
        self.workspace = workspace
        self.contexts: list[BrowserContext] = []
        self.complaints: list[str] = []
        self.outside: list[str] = []
        self.expect_trouble = False

    def context(self, *, width: int = 1280, height: int = 800, **more: Any) -> BrowserContext:
        """A browser of its own (cookies, storage), signed in."""
        more.setdefault("locale", "en-US")
        context = self.browser.new_context(viewport={"width": width, "height": height}, **more)
        context.set_default_timeout(PATIENCE)
        self.contexts.append(context)
        page = self.watched(context)
        page.goto(f"{self.workspace.url}#token={TOKEN}")
        composer(page).wait_for()
        page.close()
        return context

    def watched(self, context: BrowserContext) -> Page:
        page = context.new_page()
        page.on("console", lambda m: self.complaints.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._note_request)
        return page

    def page(self, path: str = "", *, context: BrowserContext | None = None, **more: Any) -> Page:
        page = self.watched(context or self.context(**more))
        page.goto(self.workspace.url.rstrip("/") + "/" + path.lstrip("/"))
        composer(page).wait_for()
        return page

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The HTTP interface, as a program would use it; bytes go as they are."""
        request = urllib.request.Request(
            self.workspace.url.rstrip("/") + "/api/v1" + path,
            method=method,
            data=body if body is None or isinstance(body, bytes) else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {TOKEN}", "content-type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def new_session(self, **body: Any) -> str:
        """The path of a fresh session's page."""
        return f"s/{self.call('POST', '/sessions', body)['id']}"

    def _note_request(self, request: Request) -> None:
        ours = (self.workspace.url, self.workspace.ws_url, "data:", "blob:")
        if not request.url.startswith(ours):
            self.outside.append(request.url)

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        assert self.outside == [], "the page asked other hosts"
        if not self.expect_trouble:
            assert self.complaints == [], "the page complained"


def composer(page: Page) -> Locator:
    return page.locator("#composer-field")


def say(page: Page, text: str) -> None:
    composer(page).fill(text)
    composer(page).press("Enter")


def live_thought(page: Page) -> Locator:
    """The thought that is streaming."""
    return page.locator(".think[data-state=live]")


def stop_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Stop", exact=True)


def until_done(page: Page) -> None:
    """The run has ended and the page shows it so."""
    expect(page.locator("footer.meta").last).to_be_visible(timeout=PATIENCE)
    expect(stop_button(page)).to_have_count(0, timeout=PATIENCE)


def until(check: Callable[[], bool], *, seconds: float = 10) -> None:
    """Wait for something the page does not show."""
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.1)


def shape(page: Page) -> list[str]:
    """What stands in the conversation, in order: kinds and texts that must not change."""
    return page.evaluate(
        """() => [...document.querySelectorAll(
            '.bubble, .by, .think, .tool, .turn .text, footer.meta'
          )].map((node) => {
            const kind = ['bubble', 'by', 'think', 'tool', 'text', 'meta']
              .find((name) => node.classList.contains(name))
            return `${kind}: ${node.textContent.replace(/\\s+/g, ' ').trim()}`
          })"""
    )


def settled(page: Page) -> list[str]:
    """The shape once nothing moves any more: a thought folds a moment after its run has ended."""
    seen = shape(page)

    def still() -> bool:
        nonlocal seen
        time.sleep(0.5)
        before, seen = seen, shape(page)
        return before == seen

    until(still)
    return seen


def serious_findings(page: Page) -> list[str]:
    """What axe calls serious or critical, one line each."""
    # An evaluated script is the browser's own and not held to the page's policy.
    page.evaluate(AXE.read_text())
    found = page.evaluate("async () => (await axe.run(document)).violations")
    return [
        f"{item['id']}: {node['html'][:160]} — {node['failureSummary'][:300]}"
        for item in found
        if item["impact"] in ("serious", "critical")
        for node in item["nodes"]
    ]
