"""Our own search, for machines without ripgrep: reads an order on stdin, prints hits.

Exit codes as ripgrep's: 0 for hits, 1 for none, 2 for a bad pattern.
"""

import re
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from silu.tools.list_files import glob_matches
from silu.tools.walk import Walk, walk

_MAX_FILE = 20_000_000
_MAX_COLUMNS = 500


def search(order: dict[str, Any], root: Path) -> Iterator[str]:
    """Lines of output for an order (the tool's arguments); raises `re.error`."""
    text = re.escape(order["pattern"]) if order.get("literal") else order["pattern"]
    pattern = re.compile(text, re.IGNORECASE if order.get("ignore_case") else 0)
    around = 0 if order.get("files_only") else int(order.get("context", 0))
    for name in _files(order, root):
        lines = _read(root / name)
        if lines is None:
            continue
        if order.get("files_only"):
            if any(pattern.search(line) for line in lines):
                yield name
        else:
            yield from _hits(name, lines, pattern, around)


def _files(order: dict[str, Any], root: Path) -> Iterator[str]:
    base = Path(order["path"])
    glob = order.get("glob")
    if (root / base).is_file():
        yield base.as_posix()
        return
    for entry in walk(root, base, Walk(with_ignored=bool(order.get("include_ignored")))):
        fits = entry.kind == "file" and (entry.size or 0) <= _MAX_FILE
        if fits and (glob is None or glob_matches(glob, entry.path, base.as_posix())):
            yield entry.path


def _read(path: Path) -> list[str] | None:
    try:
        data = path.read_bytes()
    except OSError:
        # As ripgrep does under --no-messages: what cannot be read is passed over.
        return None
    if b"\0" in data[:8_192]:
        return None
    return data.decode("utf-8", errors="replace").splitlines()


def _hits(name: str, lines: list[str], pattern: re.Pattern[str], around: int) -> Iterator[str]:
    before: deque[int] = deque(maxlen=around)
    after = 0
    last = -1
    for number, line in enumerate(lines):
        hit = pattern.search(line) is not None
        if not hit and after == 0:
            before.append(number)
            continue
        first = before[0] if before else number
        if around and 0 <= last < first - 1:
            yield "--"
        yield from (_show(name, at, lines[at], "-") for at in before)
        before.clear()
        yield _show(name, number, line, ":" if hit else "-")
        last = number
        after = around if hit else after - 1


def _show(name: str, number: int, line: str, mark: str) -> str:
    cut = line if len(line) <= _MAX_COLUMNS else f"{line[:_MAX_COLUMNS]} [line cut]"
    return f"{name}{mark}{number + 1}{mark}{cut}"


def main() -> int:
    order = msgspec.json.decode(sys.stdin.buffer.read(), type=dict[str, Any])
    code = 1
    try:
        for line in search(order, Path.cwd()):
            sys.stdout.write(f"{line}\n")
            code = 0
    except re.error as error:
        sys.stderr.write(f"bad pattern: {error}")
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main())
