"""A real MCP server for the tests, written with the SDK: `python mcp_server.py [http PORT]`."""

import asyncio
import os
import sys
from pathlib import Path

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

server = MCPServer("garden", version="1.2")

_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000000000200015d0b2b4f0000000049454e44ae426082"
)


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
def count(text: str) -> str:
    """Count the letters of a text."""
    return f"{len(text)} letters"


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def look_up(word: str) -> str:
    """Look a word up somewhere."""
    return f"{word}: a word"


@server.tool()
def plant(name: str, path: str) -> str:
    """Write a file."""
    Path(path).write_text(name, encoding="utf-8")
    return f"planted {name}"


@server.tool()
def variables() -> str:
    """Tell the names of all variables."""
    return " ".join(sorted(os.environ))


@server.tool()
def fall() -> str:
    """End the server in the middle of a call."""
    sys.stderr.write("the pot fell\n")
    sys.stderr.flush()
    os._exit(3)


@server.tool()
async def wait(seconds: float) -> str:
    """Answer late."""
    await asyncio.sleep(seconds)
    return "at last"


@server.tool()
def refuse() -> str:
    """Fail as a tool does."""
    raise ToolError("no such plant")


@server.tool()
def long(lines: int) -> str:
    """Tell much."""
    return "\n".join(f"line {n}" for n in range(1, lines + 1))


@server.tool()
def picture() -> Image:
    """Give a picture."""
    return Image(data=_PIXEL, format="png")


@server.tool()
async def grow(context: Context) -> str:
    """Add a tool to this server."""

    def harvest() -> str:
        """Bring it in."""
        return "apples"

    server.add_tool(harvest)
    await context.notify_tools_changed()
    await context.session.send_tool_list_changed()
    return "grown"


if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run("stdio")
