"""`write_file` and `edit_file`: changes to text files, each shown as a diff."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

from silu.tools.base import Args, Tool, ToolContext, ToolOutput, describe, object_schema
from silu.tools.changes import diff, read_text, write_text
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError

_PATH = {"type": "string", "description": "Path relative to the workspace."}


def editing_tools() -> list[Tool]:
    """`write_file` and `edit_file`, which take turns: two edits of one file do not get lost."""
    lock = threading.Lock()
    return [_tool("write_file", _WRITE, written, lock), _tool("edit_file", _EDIT, edited, lock)]


Change = Callable[[Path, Args], tuple[Path, str | None, str]]
"""(workspace, arguments) → path, old text, new text."""


def _tool(name: str, schema: Args, change: Change, lock: threading.Lock) -> Tool:
    def work(args: Args, workspace: Path) -> str:
        with lock:
            relative, old, new = change(workspace, args)
            if old != new:
                write_text(workspace, relative, new)
        return _told(relative.as_posix(), old, new)

    async def run(args: Args, context: ToolContext) -> ToolOutput:
        return ToolOutput(text=await asyncio.to_thread(work, args, context.workspace))

    async def preview(args: Args, context: ToolContext) -> str:
        relative, old, new = await asyncio.to_thread(change, context.workspace, args)
        return diff(old, new, relative.as_posix())

    return Tool(
        spec=ToolSpec(
            name=name,
            description=describe(str(Path(__file__).with_name(f"{name}.py"))),
            parameters=schema,
        ),
        effects=frozenset({"write"}),
        run=run,
        preview=preview,
    )


def _told(name: str, old: str | None, new: str) -> str:
    if old == new:
        return f"{name} already reads so; nothing changed"
    verb = "created" if old is None else "changed"
    return f"{verb} {name}\n{diff(old, new, name)}".rstrip()


def written(workspace: Path, args: Args) -> tuple[Path, str | None, str]:
    """What `write_file` would make of the file."""
    relative, old = read_text(workspace, str(args["path"]))
    return relative, old, str(args["content"])


def edited(workspace: Path, args: Args) -> tuple[Path, str | None, str]:
    """What `edit_file` would make of the file; `ToolError` when the place is not clear."""
    relative, text = read_text(workspace, str(args["path"]))
    name = relative.as_posix()
    if text is None:
        raise ToolError(f"there is no file {name}; write_file makes one")
    old, new = str(args["old"]), str(args["new"])
    if old not in text and "\r\n" in text:
        # Models write line feeds whatever the file has.
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    count = text.count(old)
    if count == 0:
        raise ToolError(f"`old` does not stand in {name}; nothing changed. {_near(text, old)}")
    if count > 1 and not args.get("all", False):
        places = ", ".join(str(line) for line in _lines_of(text, old)[:8])
        raise ToolError(
            f"`old` stands in {name} {count} times (lines {places}); nothing changed. "
            "Give more lines around the place you mean, or set all"
        )
    return relative, text, text.replace(old, new)


def _lines_of(text: str, piece: str) -> list[int]:
    lines: list[int] = []
    at = text.find(piece)
    while at >= 0:
        lines.append(text.count("\n", 0, at) + 1)
        at = text.find(piece, at + len(piece))
    return lines


def _near(text: str, old: str) -> str:
    """Where the first line of `old` stands but for its white space, to help the next try."""
    first = next((line.strip() for line in old.splitlines() if line.strip()), "")
    for number, line in enumerate(text.splitlines(), start=1):
        if first and line.strip() == first:
            return f"Line {number} is like its first line: read the file there and copy exactly."
    return "Read the file again and copy the text exactly."


_WRITE = object_schema(
    {"path": _PATH, "content": {"type": "string", "description": "The whole text of the file."}},
    required=("path", "content"),
)
_EDIT = object_schema(
    {
        "path": _PATH,
        "old": {"type": "string", "minLength": 1, "description": "The text to replace."},
        "new": {"type": "string", "description": "The text to put in its place."},
        "all": {"type": "boolean", "description": "Replace every place, not just the only one."},
    },
    required=("path", "old", "new"),
)
