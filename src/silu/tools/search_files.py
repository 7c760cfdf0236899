"""`search_files`: a regular expression over the workspace, by ripgrep or our own search.

Both run as a program of their own: a pattern that never ends can be stopped, and cannot hold up
anything else.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from silu.tools.base import Args, Tool, ToolContext, ToolOutput, describe, object_schema
from silu.tools.ignore import ALWAYS
from silu.tools.paths import inside
from silu.tools.process import Bounds, Finished, run_process
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError

_SECONDS = 60.0
_MAX_BYTES = 1_000_000


def search_tool(*, ripgrep: str | None) -> Tool:
    """The tool on this ripgrep program, or on our own search with `None`."""

    async def run(args: Args, context: ToolContext) -> ToolOutput:
        base = inside(context.workspace, str(args.get("path", ".")))
        root = context.workspace.resolve()
        if not (root / base).exists():
            raise ToolError(f"{base.as_posix()} is not in the workspace")
        argv, stdin = (_ripgrep(ripgrep, args, base), None) if ripgrep else _own(args, base)
        done = await run_process(
            argv,
            cwd=root,
            env={"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8"},
            bounds=Bounds(seconds=_SECONDS, stdout=_MAX_BYTES),
            stdin=stdin,
        )
        return ToolOutput(text=_render(done))

    return Tool(spec=_SPEC, effects=frozenset({"read"}), run=run, idempotent=True)


def _render(done: Finished) -> str:
    text = done.stdout.decode("utf-8", errors="replace").rstrip("\n")
    lines = [line.removeprefix("./") for line in text.split("\n")] if text else []
    if done.timed_out:
        lines.append(
            f"[stopped after {_SECONDS:.0f} s; narrow with path, glob or a plainer pattern]"
        )
    elif done.cut:
        lines.append("[stopped: too many hits; narrow with path, glob or a longer pattern]")
    elif done.code > 1 or (done.code < 0 and not lines):
        message = done.stderr.decode("utf-8", errors="replace").strip()
        if not lines:
            raise ToolError(f"the search failed: {message[:500]}")
        lines.append(f"[some files could not be searched: {message[:300]}]")
    return "\n".join(lines) or "no hits"


def _ripgrep(program: str, args: Args, base: Path) -> list[str]:
    argv = [program, "--no-config", "--color=never", "--no-heading", "--with-filename"]
    argv += ["--hidden", "--no-require-git", "--sort=path", "--max-filesize=20M"]
    argv += ["--max-columns=500", "--max-columns-preview", "--line-number", "--no-messages"]
    if args.get("files_only"):
        argv.append("--files-with-matches")
    if args.get("ignore_case"):
        argv.append("--ignore-case")
    if args.get("literal"):
        argv.append("--fixed-strings")
    if args.get("include_ignored"):
        argv.append("--no-ignore")
    if context := args.get("context"):
        argv.append(f"--context={int(context)}")
    if glob := args.get("glob"):
        argv.append(f"--glob={glob}")
    argv += [f"--glob=!**/{name}/**" for name in _left_out(args)]
    # `-e` and `--`: neither a pattern nor a path can be taken for an option.
    return [*argv, "-e", str(args["pattern"]), "--", base.as_posix()]


def _left_out(args: Args) -> Sequence[str]:
    return [".git"] if args.get("include_ignored") else sorted(ALWAYS)


def _own(args: Args, base: Path) -> tuple[list[str], bytes]:
    order = msgspec.json.encode({**args, "path": base.as_posix()})
    return [sys.executable, "-I", "-m", "silu.tools.own_search"], order


_SPEC = ToolSpec(
    name="search_files",
    description=describe(__file__),
    parameters=object_schema(
        {
            "pattern": {"type": "string", "minLength": 1, "maxLength": 2_000},
            "path": {"type": "string", "description": "Folder or file to search; `.` is the top."},
            "glob": {"type": "string"},
            "literal": {"type": "boolean"},
            "ignore_case": {"type": "boolean"},
            "context": {"type": "integer", "minimum": 0, "maximum": 20},
            "files_only": {"type": "boolean"},
            "include_ignored": {"type": "boolean"},
        },
        required=("pattern",),
    ),
)

SEARCH_FILES = search_tool(ripgrep=shutil.which("rg"))
