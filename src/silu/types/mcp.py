"""MCP servers: how one is described, and the bodies of the HTTP interface about them.

In those, values of variables and headers may be secrets: they go in and never come out, only
their names do.
"""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from silu.types.facts import Effect

McpState = Literal["disabled", "idle", "connecting", "ready", "failed"]
"""`idle`: enabled and not connected yet; that happens when a turn needs its tools."""


class McpServer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A server by `command` (stdio) or `url` (streamable HTTP).

    `env` is what a started server sees beside the usual variables, `pass_env` names variables of
    silu's own that are handed on. `timeout` is seconds for one call. `tools` limits the server to
    these of its tools (its own names).
    """

    name: str = ""
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    pass_env: tuple[str, ...] = ()
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    timeout: float | None = None
    tools: tuple[str, ...] | None = None
    enabled: bool = True

    def secrets(self) -> list[str]:
        """Values that must not be shown."""
        return [value for value in (*self.env.values(), *self.headers.values()) if len(value) >= 8]


class McpServerCreate(msgspec.Struct, kw_only=True):
    """A server of the person's: `command` with `args` starts one here (stdio), `url` names one
    that speaks streamable HTTP; exactly one of the two is given.

    `env` are variables for the started server, `pass_env` names variables of silu's own that it
    may see; it sees no others but the usual ones (`PATH`, `HOME`, …). `headers` go with every
    HTTP request. `timeout` is seconds for one tool call. `tools` limits it to these of its tools.
    With `test` the server is kept only when it could be reached.
    """

    name: str
    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    pass_env: list[str] = []
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    timeout: float | None = None
    tools: list[str] | None = None
    enabled: bool = True
    test: bool = False


class McpServerPatch(msgspec.Struct, kw_only=True):
    """Fields left out stay as they are."""

    enabled: bool | UnsetType = UNSET
    tools: list[str] | UnsetType | None = UNSET
    timeout: float | UnsetType | None = UNSET


class McpToolView(msgspec.Struct, kw_only=True):
    """A tool as a model sees it: `name` is `server__tool`, `title` what the server calls it."""

    name: str
    title: str
    description: str
    effects: list[Effect]


class McpServerView(msgspec.Struct, kw_only=True):
    """A server and how it does: `error` is the last failure in one sentence, `problems` are
    tools that were left out and why. `server` is the name and version it told."""

    name: str
    transport: Literal["stdio", "http"]
    command: str | None
    args: list[str]
    env_names: list[str]
    pass_env: list[str]
    cwd: str | None
    url: str | None
    header_names: list[str]
    timeout: float | None
    only_tools: list[str] | None
    enabled: bool
    state: McpState
    error: str | None
    server: str | None
    protocol: str | None
    tools: list[McpToolView]
    problems: list[str]
    connected_at: int | None


class McpServerList(msgspec.Struct, kw_only=True):
    """All servers by name; `error` when the file that lists them cannot be read."""

    servers: list[McpServerView]
    error: str | None = None


class McpReport(msgspec.Struct, kw_only=True):
    """What a real connection gave: `message` says it in one sentence. `server` is null when a
    server was not added because its test failed."""

    ok: bool
    message: str
    duration_ms: int
    server: McpServerView | None


class ToolView(msgspec.Struct, kw_only=True):
    """A tool a session's turns can have. `source` is `built in`, `mcp:NAME` or `package:NAME`."""

    name: str
    description: str
    effects: list[Effect]
    source: str


class ToolList(msgspec.Struct, kw_only=True):
    """`problems` are packages, servers and hooks that could not be used, one sentence each."""

    tools: list[ToolView]
    problems: list[str]
