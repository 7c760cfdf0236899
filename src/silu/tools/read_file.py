"""`read_file`: numbered lines of a text file, or of a kept tool result."""

import asyncio
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from typing import BinaryIO

from silu.tools.base import Args, Tool, ToolContext, ToolOutput, describe, object_schema
from silu.tools.base import stop_if_cancelled as check_stop
from silu.tools.paths import inside, open_inside
from silu.tools.results import MAX_CHARS, MAX_LINE, RESULT_PREFIX
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError

MAX_LINES = 2_000
_SNIFF = 8_192
_PIECE = 65_536
_MAX_WIDE = 20_000_000
"""UTF-16 files are decoded whole, in memory: up to this many bytes."""

_PDF = "PDF document"
_ZIP = "ZIP archive or Office document"
_HINTS = {
    _PDF: "; read_document reads it",
    _ZIP: "; read_document reads docx and xlsx files",
}
_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", _PDF),
    (b"\x89PNG", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"PK\x03\x04", _ZIP),
    (b"\x1f\x8b", "gzip archive"),
    (b"\x7fELF", "program"),
    (b"SQLite format 3", "SQLite database"),
)


@dataclass(slots=True)
class _Page:
    """Lines `start…` of a text, as far as the limits let them in."""

    start: int
    max_lines: int
    lines: list[str]
    size: int = 0
    total: int = 0

    def offer(self, line: str, length: int) -> None:
        """Count a line of `length` characters, and keep it when it is in range and fits."""
        self.total += 1
        if self.total < self.start or self.full or len(self.lines) >= self.max_lines:
            return
        mark = "" if length <= MAX_LINE else f"… (line of {length} characters, cut)"
        shown = f"{self.total:>6}\t{line[:MAX_LINE]}{mark}"
        if self.lines and self.size + len(shown) > MAX_CHARS:
            self.size = MAX_CHARS + 1
            return
        self.lines.append(shown)
        self.size += len(shown) + 1

    @property
    def full(self) -> bool:
        return self.size > MAX_CHARS

    def render(self, name: str) -> str:
        if self.total == 0:
            return f"{name} is empty"
        if self.start > self.total:
            raise ToolError(f"{name} has {self.total} lines, start_line {self.start} is past them")
        last = self.start + len(self.lines) - 1
        head = f"{name}, lines {self.start}-{last} of {self.total}"
        if last == self.total:
            return "\n".join([head, *self.lines])
        rest = f"[{self.total - last} more lines; read on with start_line {last + 1}]"
        return "\n".join([head, *self.lines, rest])


async def _run(args: Args, context: ToolContext) -> ToolOutput:
    path = str(args["path"])
    page = _Page(int(args.get("start_line", 1)), int(args.get("max_lines", MAX_LINES)), [])
    if path.startswith(RESULT_PREFIX):
        text = await context.read_result(path.removeprefix(RESULT_PREFIX))
        if text is None:
            raise ToolError(f"there is no kept result {path!r} in this session")
        for line in text.split("\n"):
            page.offer(line, len(line))
        return ToolOutput(text=page.render(path), whole=True)
    relative = await asyncio.to_thread(inside, context.workspace, path)
    await asyncio.to_thread(_fill, page, context, open_path=relative.as_posix())
    return ToolOutput(text=page.render(relative.as_posix()), whole=True)


def _fill(page: _Page, context: ToolContext, *, open_path: str) -> None:
    relative = inside(context.workspace, open_path)
    with os.fdopen(open_inside(context.workspace, relative), "rb") as file:
        for line, length in _lines(file, relative.as_posix()):
            page.offer(line, length)
            if page.total % 4_096 == 0:
                check_stop(context)


def _lines(file: BufferedReader | BinaryIO, name: str) -> Iterable[tuple[str, int]]:
    head = file.read(_SNIFF)
    file.seek(0)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _wide(file, name)
    if b"\0" in head:
        size = file.seek(0, os.SEEK_END)
        kind = next((kind for magic, kind in _MAGIC if head.startswith(magic)), "binary file")
        raise ToolError(f"{name} is not text: {kind}, {size} bytes{_HINTS.get(kind, '')}")
    if head.startswith(b"%PDF-"):
        size = file.seek(0, os.SEEK_END)
        raise ToolError(f"{name} is not text: {_PDF}, {size} bytes{_HINTS[_PDF]}")
    return _narrow(file, skip=3 if head.startswith(b"\xef\xbb\xbf") else 0)


def _wide(file: BufferedReader | BinaryIO, name: str) -> Iterator[tuple[str, int]]:
    size = file.seek(0, os.SEEK_END)
    if size > _MAX_WIDE:
        raise ToolError(f"{name} is UTF-16 text of {size} bytes, more than can be read here")
    file.seek(0)
    for line in file.read().decode("utf-16", errors="replace").splitlines():
        yield line, len(line)


def _narrow(file: BufferedReader | BinaryIO, *, skip: int) -> Iterator[tuple[str, int]]:
    """Lines of UTF-8 text without ever holding more than a piece of a long one."""
    file.seek(skip)
    while piece := file.readline(_PIECE):
        line, last = _text(piece), piece
        length = len(line)
        while not last.endswith(b"\n") and (last := file.readline(_PIECE)):
            length += len(_text(last))
        yield line, length


def _text(piece: bytes) -> str:
    return piece.decode("utf-8", errors="replace").rstrip("\r\n")


READ_FILE = Tool(
    spec=ToolSpec(
        name="read_file",
        description=describe(__file__),
        parameters=object_schema(
            {
                "path": {"type": "string", "description": "Path relative to the workspace."},
                "start_line": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "First line to show; 1 when left out.",
                },
                "max_lines": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_LINES,
                    "description": "How many lines to show; 2000 when left out.",
                },
            },
            required=("path",),
        ),
    ),
    effects=frozenset({"read"}),
    run=_run,
    idempotent=True,
)
