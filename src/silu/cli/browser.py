"""Opening the page in the person's browser, where there is a screen."""

import os
import sys
import threading
import webbrowser


def open_browser(link: str) -> None:
    """Open `link` without waiting; on a machine without a screen nothing happens.

    Without this check `webbrowser` would start a text browser inside the terminal.
    """
    has_screen = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if has_screen and sys.stdout.isatty():
        threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()
