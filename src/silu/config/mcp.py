"""MCP servers of the person's: one JSON file that a running process follows."""

import re
from pathlib import Path

import msgspec

from silu.config.files import SharedFile
from silu.types.errors import UserError
from silu.types.mcp import McpServer

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_|$)){0,31}")
MAX_SECONDS = 3_600.0


class _File(msgspec.Struct, frozen=True, kw_only=True):
    """The file's shape is the one other MCP clients use, so that entries can be copied over."""

    servers: dict[str, McpServer] = msgspec.field(
        name="mcpServers", default_factory=dict[str, McpServer]
    )


class McpFile:
    """`mcp.json` in the config folder; every look sees what other processes wrote."""

    def __init__(self, path: Path) -> None:
        self._file: SharedFile[_File] = SharedFile(path, _File, empty=_File)

    @property
    def path(self) -> Path:
        return self._file.path

    def all(self) -> dict[str, McpServer]:
        """The servers that can be used, by name; raises `UserError` when the file is broken."""
        return self.read()[0]

    def read(self) -> tuple[dict[str, McpServer], list[str]]:
        """The servers that can be used, and in a sentence each what is wrong with the others."""
        found: dict[str, McpServer] = {}
        problems: list[str] = []
        for name, server in self._file.read().servers.items():
            named = msgspec.structs.replace(server, name=name)
            try:
                check_server(named)
            except UserError as error:
                problems.append(f"{self.path}: {error}")
            else:
                found[name] = named
        return found, problems

    def put(self, server: McpServer) -> None:
        """Add or replace a server; raises `UserError` on one that cannot work."""
        check_server(server)
        kept = msgspec.structs.replace(server, name="")
        self._file.change(lambda old: _File(servers={**old.servers, server.name: kept}))

    def remove(self, name: str) -> bool:
        """Forget a server; False when there was none of that name."""
        if name not in self._file.read().servers:
            return False
        self._file.change(
            lambda old: _File(servers={k: v for k, v in old.servers.items() if k != name})
        )
        return True


def check_server(server: McpServer) -> None:
    """`UserError` for a server that cannot be used as it is described."""
    if not _NAME.fullmatch(server.name):
        raise UserError(
            f"{server.name!r} is no name for an MCP server.",
            code="bad_argument",
            setting="name",
            fix="Use letters, digits, dashes and single underscores, 32 at most.",
        )
    if (server.command is None) == (server.url is None):
        raise UserError(
            f"MCP server {server.name!r} needs either a command or a url.",
            code="bad_argument",
            setting="command",
        )
    if server.url is not None and not re.match(r"https?://[^/\s]+", server.url):
        raise UserError(
            f"{server.url!r} is not the address of an MCP server.",
            code="bad_argument",
            setting="url",
            fix="Give its URL, such as http://127.0.0.1:8000/mcp.",
        )
    if server.command is not None and not server.command.strip():
        raise UserError("The command is empty.", code="bad_argument", setting="command")
    if server.timeout is not None and not 0 < server.timeout <= MAX_SECONDS:
        raise UserError(
            f"The timeout is between 0 and {MAX_SECONDS:.0f} seconds.",
            code="bad_argument",
            setting="timeout",
        )
