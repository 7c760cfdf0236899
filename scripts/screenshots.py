"""Takes the pictures of docs/tour.md: the demo vendor in a real browser, nothing retouched.

    python scripts/screenshots.py [--out docs/pictures]

For each of 1280 and 390 px, light and dark, and once in Chinese: in mid-thought, at work, after
the answer, and after a reload in the middle of a second thought; some looks also show the panels
around the conversation. Starts a server of its own on a free port, with data and a workspace of
its own, and ends it.
"""

import argparse
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
SILU = Path(sys.executable).with_name("silu")
SIZES = {1280: 800, 390: 844}
URL = re.compile(r"http://\S+")
PATIENCE = 60_000
"""Milliseconds one turn of the demo may take."""

WORKSPACE = {
    "README.md": "# Corner bakery\n\nRecipes, the week's orders and the shopping list.\n",
    "orders/monday.csv": "what,how many\nrye,12\nbrioche,20\n",
    "recipes/rye.md": "# Rye\n\nSourdough 300 g, rye flour 700 g, salt 18 g. Rest overnight.\n",
    "recipes/brioche.md": "# Brioche\n\nButter 250 g, eggs 6, flour 500 g.\n",
}


class Words(NamedTuple):
    """What is said to the page, and how its parts are called in one language."""

    look: str
    think: str
    thinking: str
    stop: str
    search: str
    inspector: str
    usage: str
    settings: str
    models: str


WORDS = {
    "en": Words(
        "What is in this folder?",
        "Think about stairs.",
        "Thinking…",
        "Stop",
        "stairs",
        "Inspector",
        "Usage",
        "Settings",
        "Models and keys",
    ),
    "zh-CN": Words(
        "这个文件夹里有什么？",
        "想一想楼梯。",
        "思考中…",
        "停止",
        "楼梯",
        "检查器",
        "用量",
        "设置",
        "模型与密钥",
    ),
}


TURN = ("thinking", "working", "answer", "reloaded")


class Look(NamedTuple):
    """How the page is seen; `name` ends the pictures' file names, `shots` are those to keep."""

    width: int
    scheme: str
    language: str = "en"
    shots: tuple[str, ...] = TURN

    @property
    def name(self) -> str:
        return f"{self.width}-{self.scheme}{'' if self.language == 'en' else '-zh'}"


LOOKS = (
    Look(1280, "light", shots=(*TURN, "search", "inspector")),
    Look(1280, "dark", shots=(*TURN, "palette", "usage")),
    Look(390, "light"),
    Look(390, "dark"),
    Look(1280, "light", "zh-CN", shots=("working", "settings")),
)


class Server(NamedTuple):
    link: str
    token: str

    def call(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        request = urllib.request.Request(
            self.link.partition("/#")[0] + "/api/v1" + path,
            method=method,
            data=json.dumps(body).encode(),
            headers={
                "authorization": f"Bearer {self.token}",
                "content-type": "application/json",
            },
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


@contextmanager
def server(home: Path) -> Iterator[Server]:
    """A workspace with fresh data; its link works once."""
    token = secrets.token_urlsafe(16)
    process = subprocess.Popen(
        [SILU, "serve", "--no-open", "--port", "0"],
        cwd=home,
        env={**os.environ, "SILU_HOME": str(home), "HOME": str(home), "SILU_TOKEN": token},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        found = next((m for line in process.stdout if (m := URL.search(line))), None)
        if found is None:
            sys.exit("silu serve ended before it printed its URL")
        yield Server(found[0], token)
    finally:
        process.terminate()
        process.wait(timeout=20)


def session_with_files(at: Server, home: Path) -> str:
    """The page of a session whose workspace is a small folder with something in it."""
    folder = home / "bakery"
    for name, text in WORKSPACE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    at.call("PATCH", "/settings", {"workspace_roots": [str(folder)]})
    made = at.call("POST", "/sessions", {"workspace": str(folder)})
    return f"{at.link.partition('/#')[0]}/s/{made['id']}"


def take(page: Page, look: Look, out: Path) -> None:
    """Two turns of the demo, with a picture at four moments, and the panels."""
    words = WORDS[look.language]

    def shoot(moment: str) -> None:
        if moment in look.shots:
            page.screenshot(path=out / f"{moment}-{look.name}.png")
            print(f"{moment}-{look.name}.png", flush=True)

    def shoot_panel(name: str) -> None:
        page.get_by_role("dialog").wait_for()
        page.wait_for_timeout(600)
        shoot(name)
        page.keyboard.press("Escape")

    ask(page, words.look)
    wait_for_thought(page, words)
    shoot("thinking")
    page.get_by_text(re.compile(r"^1/3 ")).first.wait_for()
    page.wait_for_timeout(900)
    shoot("working")
    wait_until_done(page, words)
    shoot("answer")
    ask(page, words.think)
    wait_for_thought(page, words)
    page.reload()
    wait_for_thought(page, words)
    shoot("reloaded")
    if set(look.shots) <= set(TURN):
        return
    wait_until_done(page, words)
    page.get_by_role("searchbox").fill(words.search)
    page.locator(".hit mark").first.wait_for()
    shoot("search")
    page.get_by_role("searchbox").fill("")
    page.keyboard.press("Control+k")
    shoot_panel("palette")
    page.get_by_role("button", name=words.inspector).click()
    shoot_panel("inspector")
    page.get_by_role("button", name=words.usage, exact=True).click()
    shoot_panel("usage")
    page.get_by_role("button", name=words.settings, exact=True).click()
    page.get_by_role("button", name=words.models, exact=True).click()
    shoot_panel("settings")


def open_page(browser: Browser, at: Server, home: Path, look: Look) -> Page:
    """A page signed in with the link, showing the session with files."""
    context = browser.new_context(
        viewport={"width": look.width, "height": SIZES[look.width]},
        color_scheme="dark" if look.scheme == "dark" else "light",
        locale=look.language,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(at.link)
    page.get_by_role("textbox").last.wait_for()
    page.goto(session_with_files(at, home))
    page.get_by_role("textbox").last.wait_for()
    return page


def ask(page: Page, text: str) -> None:
    box = page.get_by_role("textbox").last
    box.fill(text)
    box.press("Enter")


def wait_for_thought(page: Page, words: Words) -> None:
    """A thought is open and has had time to fill a few lines."""
    expect(page.get_by_text(words.thinking).last).to_be_visible(timeout=PATIENCE)
    page.wait_for_timeout(1800)


def wait_until_done(page: Page, words: Words) -> None:
    """The stop button is there while a run is on."""
    stop = page.get_by_role("button", name=words.stop)
    expect(stop).to_have_count(0, timeout=PATIENCE)
    page.wait_for_timeout(800)


def main() -> None:
    parser = argparse.ArgumentParser(description="Pictures for docs/tour.md.")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("no Chromium here; on Debian: apt-get install chromium")
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        for look in LOOKS:
            home = Path(folder, look.name)
            home.mkdir()
            with server(home) as at:
                page = open_page(browser, at, home, look)
                take(page, look, chosen.out)
                page.context.close()
        browser.close()


if __name__ == "__main__":
    main()
