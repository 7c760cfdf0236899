"""`read_document`: PDF, Word, Excel and CSV files of the workspace as text."""

import asyncio
import os
from pathlib import Path

from silu.tools.base import Args, Tool, ToolContext, ToolOutput, describe, object_schema
from silu.tools.documents import Order, extract
from silu.tools.documents.kinds import kind_of
from silu.tools.documents.order import Kind
from silu.tools.documents.reader import MAX_BYTES
from silu.tools.documents.telling import footer, heading
from silu.tools.paths import inside, open_inside
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError

_OLD_OFFICE = b"\xd0\xcf\x11\xe0"


async def _run(args: Args, context: ToolContext) -> ToolOutput:
    relative, data = await asyncio.to_thread(_read, context.workspace, str(args["path"]))
    name = relative.as_posix()
    order = Order(
        kind=_kind(name, data),
        name=name,
        start=int(args.get("start", 1)),
        count=int(args["count"]) if "count" in args else None,
        sheet=args.get("sheet"),
        charset=args.get("encoding"),
    )
    try:
        found = await extract(data, order)
    except ToolError as error:
        raise ToolError(f"{name} was not read: {error}") from error
    how = f"read on with start {found.last + 1}"
    lines = [heading(found, name), found.text, footer(found, how=how)]
    return ToolOutput(text="\n".join(line for line in lines if line))


def _read(workspace: Path, path: str) -> tuple[Path, bytes]:
    relative = inside(workspace, path)
    with os.fdopen(open_inside(workspace, relative), "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ToolError(f"{relative.as_posix()} has more than the {MAX_BYTES} bytes that are read")
    return relative, data


def _kind(name: str, data: bytes) -> Kind:
    kind = kind_of(data, name=name)
    if kind in {"pdf", "docx", "xlsx", "csv"}:
        return kind
    if kind is not None:
        raise ToolError(f"{name} is plain text; read it with read_file")
    if data.startswith(_OLD_OFFICE):
        raise ToolError(f"{name} is of an old Office format; save it as docx or xlsx first")
    raise ToolError(f"{name} is no PDF, docx, xlsx or CSV file")


READ_DOCUMENT = Tool(
    spec=ToolSpec(
        name="read_document",
        description=describe(__file__),
        parameters=object_schema(
            {
                "path": {"type": "string", "description": "Path relative to the workspace."},
                "start": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "First page, paragraph or row; 1 when left out.",
                },
                "count": {"type": "integer", "minimum": 1, "description": "How many of them."},
                "sheet": {"type": "string", "description": "A workbook's sheet by its name."},
                "encoding": {"type": "string", "description": "Of a CSV file that is not UTF-8."},
            },
            required=("path",),
        ),
    ),
    effects=frozenset({"read"}),
    run=_run,
    idempotent=True,
)
