"""Takes the pictures of docs/tour.md: the demo vendor in a real browser, nothing retouched.

    python scripts/screenshots.py [--out docs/pictures] [--language en]

For each of 1280 and 390 px, light and dark: in mid-thought, after the answer, and after a reload.
Starts a server of its own on a free port with data of its own, and ends it.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
SILU = Path(sys.executable).with_name("silu")
SIZES = {1280: 800, 390: 844}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
QUESTION = {
    "en": "I have two hours and a full inbox. Plan my afternoon.",
    "zh-CN": "我有两个小时和一个塞满的收件箱，帮我安排下午。",
}
URL = re.compile(r"http://\S+")
PATIENCE = 60_000
"""Milliseconds one turn of the demo may take."""


@contextmanager
def server(home: str) -> Iterator[str]:
    """A workspace with fresh data; yields the link it prints."""
    process = subprocess.Popen(
        [SILU, "serve", "--no-open", "--port", "0"],
        cwd=home,
        env={**os.environ, "SILU_HOME": home, "HOME": home},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        found = next((m for line in process.stdout if (m := URL.search(line))), None)
        if found is None:
            sys.exit("silu serve ended before it printed its URL")
        yield found[0]
    finally:
        process.terminate()
        process.wait(timeout=20)


def take(browser: Browser, link: str, out: Path, width: int, scheme: str, language: str) -> None:
    """One turn of the demo, three pictures."""
    context = browser.new_context(
        viewport={"width": width, "height": SIZES[width]},
        color_scheme="dark" if scheme == "dark" else "light",
        locale=language,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(link)
    ask(page, QUESTION[language])
    thought = page.locator("[aria-expanded=true]").first
    expect(thought).to_be_visible(timeout=PATIENCE)
    page.wait_for_timeout(1500)
    shoot(page, out / f"thinking-{width}-{scheme}.png")
    wait_until_done(page)
    shoot(page, out / f"answer-{width}-{scheme}.png")
    page.reload()
    page.wait_for_timeout(1500)
    shoot(page, out / f"reloaded-{width}-{scheme}.png")
    context.close()


def ask(page: Page, text: str) -> None:
    box = page.get_by_role("textbox").last
    box.fill(text)
    box.press("Enter")


def wait_until_done(page: Page) -> None:
    """The stop button is there while a run is on."""
    stop = page.get_by_role("button", name=re.compile("stop|停止", re.IGNORECASE))
    expect(stop).to_have_count(0, timeout=PATIENCE)
    page.wait_for_timeout(800)


def shoot(page: Page, path: Path) -> None:
    page.screenshot(path=path)
    print(path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Pictures for docs/tour.md.")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    parser.add_argument("--language", choices=QUESTION, default="en")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no Chromium here; on Debian: apt-get install chromium")
    with (
        tempfile.TemporaryDirectory() as home,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        for width in SIZES:
            for scheme in SCHEMES:
                # The link in the URL works once: each browser context gets a server of its own.
                folder = Path(home, f"{width}-{scheme}")
                folder.mkdir()
                with server(str(folder)) as link:
                    take(browser, link, chosen.out, width, scheme, chosen.language)
        browser.close()


if __name__ == "__main__":
    main()
