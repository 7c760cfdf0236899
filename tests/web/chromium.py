"""Debian's Chromium, quiet and asking nobody but us."""

import os
import shutil

from playwright.sync_api import Browser, Playwright

_QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def found() -> str | None:
    return shutil.which("chromium")


def launch(playwright: Playwright) -> Browser:
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    return playwright.chromium.launch(executable_path=found(), args=[*_QUIET, *as_root])
