"""`read_file`: numbered lines of a text file, or of a kept tool result."""

import asyncio
import itertools
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from typing import BinaryIO

from silu.tools.base import Args, Tool, ToolContext, ToolOutput, describe, object_schema
from silu.tools.base import stop_if_cancelled as check_stop
from silu.tools.paths import inside, open_inside
from silu.tools.results import MAX_CHARS, RESULT_PREFIX, cut_line
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError

MAX_LINES = 2_000
_SNIFF = 8_192
_PIECE = 65_536
_MAX_WIDE = 20_000_000
"""UTF-16 files are decoded whole, in memory: up to this many bytes."""

_MARK = b"\xef\xbb\xbf"
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
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
        shown = f"{self.total:>6}\t{cut_line(line, length=length)}"
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


@dataclass(frozen=True, slots=True)
class _Piece:
    """The part of one long line that is asked for: from its `char`th character on."""

    line: int
    char: int

    def render(self, name: str, text: str | None) -> str:
        """`text` is the line as far as it is read at all, `None` when there is none."""
        if text is None:
            raise ToolError(f"{name} has no line {self.line}")
        if self.char > len(text):
            raise ToolError(f"line {self.line} of {name} has {len(text)} characters")
        shown = text[self.char - 1 : self.char - 1 + MAX_CHARS]
        last = self.char + len(shown) - 1
        head = f"{name}, line {self.line}, characters {self.char}-{last} of {len(text)}"
        if last == len(text):
            return f"{head}\n{shown}"
        return f"{head}\n{shown}\n[read on with start_line {self.line}, start_char {last + 1}]"


async def _run(args: Args, context: ToolContext) -> ToolOutput:
    if "start_char" in args:
        return ToolOutput(text=await _long_line(args, context), whole=True)
    path = str(args["path"])
    page = _Page(int(args.get("start_line", 1)), int(args.get("max_lines", MAX_LINES)), [])
    if path.startswith(RESULT_PREFIX):
        for line in (await _kept(path, context)).split("\n"):
            page.offer(line, len(line))
        return ToolOutput(text=page.render(path), whole=True)
    relative = await asyncio.to_thread(inside, context.workspace, path)
    await asyncio.to_thread(_fill, page, context, open_path=relative.as_posix())
    return ToolOutput(text=page.render(relative.as_posix()), whole=True)


async def _long_line(args: Args, context: ToolContext) -> str:
    path = str(args["path"])
    piece = _Piece(int(args.get("start_line", 1)), int(args["start_char"]))
    if path.startswith(RESULT_PREFIX):
        lines = (await _kept(path, context)).split("\n")
        return piece.render(path, lines[piece.line - 1] if piece.line <= len(lines) else None)
    relative = await asyncio.to_thread(inside, context.workspace, path)
    name = relative.as_posix()
    return piece.render(name, await asyncio.to_thread(_line, context, name, piece.line))


async def _kept(path: str, context: ToolContext) -> str:
    text = await context.read_result(path.removeprefix(RESULT_PREFIX))
    if text is None:
        raise ToolError(f"there is no kept result {path!r} in this session")
    return text


def _line(context: ToolContext, path: str, wanted: int) -> str | None:
    """One line of a file, at most `_MAX_WIDE` bytes of it."""
    relative = inside(context.workspace, path)
    with os.fdopen(open_inside(context.workspace, relative), "rb") as file:
        head = _text_head(file, path)
        if head.startswith(_WIDE_MARKS):
            lines = (line for line, _ in _wide(file, path))
            return next(itertools.islice(lines, wanted - 1, None), None)
        file.seek(3 if head.startswith(_MARK) else 0)
        number = 1
        while number < wanted and (skipped := file.readline(_PIECE)):
            number += skipped.endswith(b"\n")
            if number % 4_096 == 0:
                check_stop(context)
        found = file.readline(_MAX_WIDE)
        return _text(found) if found else None


def _fill(page: _Page, context: ToolContext, *, open_path: str) -> None:
    relative = inside(context.workspace, open_path)
    with os.fdopen(open_inside(context.workspace, relative), "rb") as file:
        for line, length in _lines(file, relative.as_posix()):
            page.offer(line, length)
            if page.total % 4_096 == 0:
                check_stop(context)


def _lines(file: BufferedReader | BinaryIO, name: str) -> Iterable[tuple[str, int]]:
    head = _text_head(file, name)
    if head.startswith(_WIDE_MARKS):
        return _wide(file, name)
    return _narrow(file, skip=3 if head.startswith(_MARK) else 0)


def _text_head(file: BufferedReader | BinaryIO, name: str) -> bytes:
    """The first bytes of a text file; `ToolError` names what any other is."""
    head = file.read(_SNIFF)
    wide = head.startswith(_WIDE_MARKS)
    if (b"\0" in head and not wide) or head.startswith(b"%PDF-"):
        size = file.seek(0, os.SEEK_END)
        kind = next((kind for magic, kind in _MAGIC if head.startswith(magic)), "binary file")
        raise ToolError(f"{name} is not text: {kind}, {size} bytes{_HINTS.get(kind, '')}")
    file.seek(0)
    return head


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
                "start_char": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "Show only the line start_line, from this character on.",
                },
            },
            required=("path",),
        ),
    ),
    effects=frozenset({"read"}),
    run=_run,
    idempotent=True,
)
