"""`list_files`: what is in the workspace."""

import asyncio
import itertools
import re

from silu.tools.base import (
    Args,
    Tool,
    ToolContext,
    ToolOutput,
    describe,
    object_schema,
    stop_if_cancelled,
)
from silu.tools.ignore import glob_regex
from silu.tools.paths import inside
from silu.tools.walk import Entry, Walk, walk
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError

MAX_ENTRIES = 1_000
_MAX_SEEN = 200_000
"""A workspace that large is narrowed by the model, not listed by us."""


async def _run(args: Args, context: ToolContext) -> ToolOutput:
    return ToolOutput(text=await asyncio.to_thread(_list, args, context))


def _list(args: Args, context: ToolContext) -> str:
    base = inside(context.workspace, str(args.get("path", ".")))
    root = context.workspace.resolve()
    if not (root / base).is_dir():
        raise ToolError(f"{base.as_posix()} is not a folder of the workspace")
    glob = args.get("glob")
    how = Walk(
        max_depth=int(args.get("depth", 100 if glob else 3)),
        with_ignored=bool(args.get("include_ignored", False)),
        stop=lambda: stop_if_cancelled(context),
    )
    entries = itertools.islice(walk(root, base, how), _MAX_SEEN)
    found = [entry for entry in entries if _wanted(entry, glob, base.as_posix())]
    return _render(found, int(args.get("skip", 0)), base.as_posix())


def _wanted(entry: Entry, glob: str | None, base: str) -> bool:
    if glob is None:
        return True
    return entry.kind != "folder" and glob_matches(glob, entry.path, base)


def glob_matches(glob: str, path: str, base: str) -> bool:
    """A glob without a slash matches the name, one with a slash the path (from `base` or top)."""
    if "/" not in glob:
        return re.fullmatch(glob_regex(glob), path.rpartition("/")[2]) is not None
    pattern = glob_regex(glob.removeprefix("./").lstrip("/"))
    inner = path.removeprefix(f"{base}/") if base != "." else path
    return any(re.fullmatch(pattern, candidate) for candidate in (path, inner))


def _render(found: list[Entry], skip: int, base: str) -> str:
    shown = found[skip : skip + MAX_ENTRIES]
    if not shown:
        return f"{base}: nothing found" if not found else f"only {len(found)} entries in all"
    lines = [_line(entry) for entry in shown]
    rest = len(found) - skip - len(shown)
    if rest > 0:
        lines.append(f"[{rest} more entries; go on with skip {skip + len(shown)}, or narrow]")
    return "\n".join(lines)


def _line(entry: Entry) -> str:
    match entry.kind:
        case "folder":
            return f"{entry.path}/"
        case "link":
            return f"{entry.path} (link)"
        case _:
            return entry.path if entry.size is None else f"{entry.path} ({_size(entry.size)})"


def _size(count: int) -> str:
    if count < 1_000:
        return f"{count} B"
    if count < 1_000_000:
        return f"{count / 1_000:.1f} kB"
    return f"{count / 1_000_000:.1f} MB"


LIST_FILES = Tool(
    spec=ToolSpec(
        name="list_files",
        description=describe(__file__),
        parameters=object_schema(
            {
                "path": {"type": "string", "description": "Folder to start in; `.` is the top."},
                "glob": {"type": "string", "description": "Only files that match."},
                "depth": {"type": "integer", "minimum": 1, "maximum": 100},
                "include_ignored": {"type": "boolean"},
                "skip": {"type": "integer", "minimum": 0},
            }
        ),
    ),
    effects=frozenset({"read"}),
    run=_run,
    idempotent=True,
)
