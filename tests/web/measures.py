"""How the page holds while much streams into it; `make measures` prints all of it.

An answer comes from `silu wire replay` through a real workspace into a real browser, and the page
is watched from within: how long its frames and tasks were, and which nodes were thrown away.
"""

import contextlib
import gzip
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Page, sync_playwright

from silu.config import Endpoint
from tests.gateway.house import Workspace, ended
from tests.web.chromium import launch
from tests.web.looking import PATIENCE, Visitor, composer, say, serious_findings
from tests.web.texts import TEXTS, long_session, write_answer

STATIC = Path(__file__).resolve().parents[2] / "src/silu/gateway/static"
RATE = 200
"""Deltas a second."""
SLOW_FRAME_MS = 33
SLOW_FRAMES, LONG_TASK_MS, REMOVED, FIRST_PAINT_MS, ENTRY_KB = 2.0, 100, 100, 1_000, 230
"""The goals of the page, as the issue about it sets them: at most so much of each."""

_WATCH = """() => {
  const seen = { frames: [], tasks: [0], removed: 0, on: true }
  window.__seen = seen
  new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map((e) => e.duration)))
    .observe({ type: 'longtask' })
  let last = performance.now()
  const frame = (now) => {
    seen.frames.push(now - last)
    last = now
    if (seen.on) requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
  const count = (node) => 1 + (node.querySelectorAll?.('*').length ?? 0)
  new MutationObserver((records) => {
    for (const { target, removedNodes } of records) {
      if (target.nodeType !== 1 || target.closest('.turn .text') === null) continue
      for (const node of removedNodes) if (node.nodeType === 1) seen.removed += count(node)
    }
  }).observe(document.querySelector('main'), { childList: true, subtree: true })
}"""

_STOP = "() => { window.__seen.on = false; return window.__seen }"

_DRAWN = """(node) => {
  const copy = node.cloneNode(true)
  for (const code of copy.querySelectorAll('pre code')) code.textContent = code.textContent
  return copy.innerHTML
}"""

_FIRST_PAINT = """() => {
  const look = () => {
    if (document.querySelector('.turn .text')) {
      requestAnimationFrame(() => { window.__painted = performance.now() })
    } else requestAnimationFrame(look)
  }
  look()
}"""

_SCROLL = """async () => {
  const log = document.querySelector('.log')
  for (let step = 0; step < 120; step += 1) {
    log.scrollBy(0, -120)
    await new Promise((done) => requestAnimationFrame(done))
  }
}"""


class Seen(NamedTuple):
    """`slow_frames` in percent of all frames, `longest_task` in milliseconds."""

    slow_frames: float
    longest_task: float
    removed: int


def watch(page: Page) -> None:
    page.evaluate(_WATCH)


def seen(page: Page) -> Seen:
    found: dict[str, Any] = page.evaluate(_STOP)
    frames = found["frames"][1:]
    slow = sum(1 for frame in frames if frame > SLOW_FRAME_MS + 1)
    return Seen(100 * slow / max(len(frames), 1), max(found["tasks"]), found["removed"])


@contextlib.contextmanager
def replaying(*answers: Path) -> Iterator[Endpoint]:
    """An endpoint that gives these answers, one after the other, at `RATE`."""
    command = [sys.executable, "-m", "silu", "wire", "replay", "--dialect", "openai-chat"]
    process = subprocess.Popen(
        [*command, "--rate", str(RATE), *map(str, answers)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None, "the replay did not start"
        url = found[0].rstrip(".,")
        yield Endpoint(name="replay", url=url, dialect="openai-chat", models=("m",))
    finally:
        process.terminate()
        process.wait(10)


@contextlib.contextmanager
def streaming(folder: Path, text: str, *, deltas: int) -> Iterator[Endpoint]:
    """An endpoint whose answer is this text."""
    answer = folder / "answer.sse"
    write_answer(answer, text, deltas=deltas)
    with replaying(answer) as endpoint:
        yield endpoint


def drawn(page: Page) -> str:
    """The answer's nodes, without the colours of code: those come when a block is first seen."""
    return page.locator(".turn .text").last.evaluate(_DRAWN)


def stream(page: Page) -> tuple[Seen, bool]:
    """Let the answer come; true when it is drawn as it is after a reload, in one go."""
    watch(page)
    say(page, "Go on.")
    # Not `expect`: it walks the whole page each time it looks, which the page would be blamed for.
    page.locator("footer.meta").wait_for(timeout=PATIENCE)
    page.wait_for_timeout(400)
    measured, live = seen(page), drawn(page)
    page.reload()
    composer(page).wait_for()
    page.locator(".turn .text").last.wait_for()
    page.wait_for_timeout(600)
    return measured, drawn(page) == live


def first_paint(page: Page, url: str) -> float:
    """Milliseconds from opening a conversation's address to its first drawn answer."""
    page.add_init_script(f"({_FIRST_PAINT})()")
    page.goto(url)
    page.locator(".turn .text").first.wait_for()
    page.wait_for_timeout(500)
    return page.evaluate("() => window.__painted")


def scroll(page: Page) -> Seen:
    """Fourteen thousand pixels upwards, a step each frame."""
    watch(page)
    page.evaluate(_SCROLL)
    return seen(page)


def entry_kb() -> float:
    """The scripts that the first page loads, in kB as they travel."""
    manifest = json.loads((STATIC / "manifest.json").read_text())
    files: set[str] = set()

    def visit(chunk: dict[str, Any]) -> None:
        if chunk["file"] not in files:
            files.add(chunk["file"])
            for name in chunk.get("imports", ()):
                visit(manifest[name])

    visit(next(chunk for chunk in manifest.values() if chunk.get("isEntry")))
    return sum(len(gzip.compress((STATIC / name).read_bytes())) for name in files) / 1000


# ---------------------------------------------------------------------------- the command


class Table:
    def __init__(self) -> None:
        self.missed = 0

    def row(self, name: str, value: float, unit: str, goal: float) -> None:
        met = value <= goal
        self.missed += not met
        print(
            f"  {name:44}{value:10.1f} {unit:4} goal {goal:6g}  {'met' if met else 'MISSED'}",
            flush=True,
        )

    def smooth(self, name: str, measured: Seen) -> None:
        self.row(f"{name}: frames over 33 ms", measured.slow_frames, "%", SLOW_FRAMES)
        self.row(f"{name}: longest task", measured.longest_task, "ms", LONG_TASK_MS)


def main() -> None:
    """Everything, in some two minutes; ends with 1 where a goal was missed."""
    table = Table()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = launch(playwright)
        for number, (name, text) in enumerate(TEXTS.items()):
            home = Path(folder, str(number))
            home.mkdir()
            with streaming(home, text(24_000), deltas=10 * RATE) as endpoint:
                workspace = Workspace(home)
                workspace.add_endpoint(endpoint)
                with ended(workspace.start()):
                    visitor = Visitor(browser, workspace)
                    page = visitor.page(visitor.new_session(model="replay/m"))
                    measured, same = stream(page)
                    table.smooth(name, measured)
                    table.row(f"{name}: nodes removed", measured.removed, "", REMOVED)
                    table.row(f"{name}: differs from a one-shot drawing", not same, "", 0)
                    visitor.close()
        home = Path(folder, "long")
        home.mkdir()
        with ended(Workspace(home).start()) as workspace:
            visitor = Visitor(browser, workspace)
            made = visitor.call("POST", "/sessions/import", long_session(500))
            page = visitor.watched(visitor.context())
            painted = first_paint(page, f"{workspace.url}s/{made['id']}")
            table.row("1,000 messages: first paint", painted, "ms", FIRST_PAINT_MS)
            table.smooth("1,000 messages, scrolling", scroll(page))
            table.row("axe: serious findings", len(serious_findings(page)), "", 0)
            visitor.close()
        browser.close()
    table.row("entry bundle (gzip)", entry_kb(), "kB", ENTRY_KB)
    sys.exit(1 if table.missed else 0)


if __name__ == "__main__":
    main()
