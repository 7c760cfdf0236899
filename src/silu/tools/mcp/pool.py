"""All MCP servers of a process: connected when a turn needs them, kept open, closed at the end."""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from silu.tools.base import Args, Tool, ToolContext, ToolOutput
from silu.tools.mcp.connection import Connection, GoneError
from silu.tools.mcp.convert import Listing, RemoteTool, checked, listing, without_patterns
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError, UserError
from silu.types.mcp import McpServer, McpState

log = logging.getLogger(__name__)

FIRST_WAIT = 20.0
"""Seconds a turn waits for servers it has never seen; one that comes later is told of later."""

_BACKOFF = (5.0, 15.0, 60.0, 300.0)
"""Seconds before a server that could not be reached is tried again by a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """How a server does: `connected_at` is milliseconds since 1970, `None` without connection."""

    state: McpState
    error: str | None
    label: str | None
    protocol: str | None
    listing: Listing
    connected_at: int | None


@dataclass(slots=True, kw_only=True)
class _Managed:
    """A server and what is known of it; `lock` lets one task connect at a time."""

    server: McpServer
    connection: Connection | None = None
    known: Listing | None = None
    error: str | None = None
    label: str | None = None
    protocol: str | None = None
    connected_at: int | None = None
    connecting: bool = False
    failures: int = 0
    next_try: float = 0.0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def alive(self) -> bool:
        return self.connection is not None and not self.connection.gone.is_set()


def _no_variable(name: str) -> str | None:
    return None


class McpPool:
    """`read` gives the servers as they are configured now; `variable` a variable of silu's own
    that a server may see; `mask` takes secrets out of texts for people."""

    def __init__(
        self,
        read: Callable[[], Mapping[str, McpServer]],
        *,
        variable: Callable[[str], str | None] = _no_variable,
        mask: Callable[[str], str] = str,
    ) -> None:
        self._read = read
        self._variable = variable
        self._mask = mask
        self._servers: dict[str, _Managed] = {}
        self._closed = False
        self._loose: set[asyncio.Task[None]] = set()

    # ------------------------------------------------------------------------- for turns

    async def tools(self, *, connect: bool = True) -> list[Tool]:
        """The tools of every enabled server, as last told. Servers never seen are connected
        first (with `connect`), for `FIRST_WAIT` seconds at most; nothing here raises."""
        managed = [one for one in await self._sync() if one.server.enabled]
        now = time.monotonic()
        new = [one for one in managed if one.known is None and now >= one.next_try]
        if new and connect:
            tries = [(one, self._keep(self._try(one))) for one in new]
            # One that failed before is tried again without anybody waiting for it.
            first = [task for one, task in tries if one.failures == 0]
            if first:
                await asyncio.wait(first, timeout=FIRST_WAIT)
        return [self._tool(one, tool) for one in managed if one.known for tool in one.known.tools]

    def _keep(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._loose.add(task)
        task.add_done_callback(self._loose.discard)
        return task

    async def _try(self, one: _Managed) -> None:
        try:
            await self._connected(one)
        except ToolError as error:
            log.warning("MCP server %s: %s", one.server.name, error)

    def _tool(self, one: _Managed, remote: RemoteTool) -> Tool:
        plain = without_patterns(remote.schema)

        async def run(args: Args, context: ToolContext) -> ToolOutput:
            return await self._call(one.server.name, remote, args)

        return Tool(
            spec=ToolSpec(
                name=remote.name, description=remote.description, parameters=remote.schema
            ),
            effects=remote.effects,
            run=run,
            idempotent=remote.idempotent,
            check=lambda args: checked(args, plain),
            source=f"mcp:{one.server.name}",
        )

    async def _call(self, name: str, remote: RemoteTool, args: Args) -> ToolOutput:
        one = self._servers.get(name)
        if one is None or not one.server.enabled:
            raise ToolError(f"the MCP server {name} is switched off; nothing was done")
        for again in (remote.idempotent, False):
            try:
                connection = await self._connected(one)
            except ToolError as error:
                raise ToolError(
                    f"the MCP server {name} cannot be reached: {error}; nothing was done"
                ) from error
            try:
                told = await connection.call(remote.title, args)
            except ToolError as error:
                raise ToolError(self._masked(one, str(error))) from error
            except GoneError as error:
                await self._lost(one, connection, str(error))
                if again:
                    continue
                why = self._masked(one, str(error))
                raise ToolError(
                    f"the MCP server {name} failed during this call: {why}; whether it did "
                    "anything is unknown"
                ) from error
            return ToolOutput(text=told.text, ok=told.ok, pictures=told.pictures)
        raise AssertionError("the second round returns or raises")

    # ------------------------------------------------------------------------ for people

    async def status(self, name: str) -> ServerStatus:
        """How a server does now, without connecting."""
        await self._sync()
        return self._status(self._servers[name])

    async def statuses(self) -> dict[str, ServerStatus]:
        """How every configured server does now, by name."""
        return {one.server.name: self._status(one) for one in await self._sync()}

    async def check(self, name: str) -> ServerStatus:
        """Connect anew and list the tools; the status tells how that went."""
        await self._sync()
        one = self._servers[name]
        async with one.lock:
            await self._close(one)
            one.next_try = 0.0
        await self._try(one)
        return self._status(one)

    async def try_out(self, server: McpServer) -> ServerStatus:
        """Connect to a server that is not kept, list its tools and close it again."""
        one = _Managed(server=server)
        await self._try(one)
        status = self._status(one)
        await self._close(one)
        return status

    async def aclose(self) -> None:
        """Close every connection; started servers end."""
        self._closed = True
        for task in self._loose:
            task.cancel()
        await asyncio.gather(*self._loose, return_exceptions=True)
        await asyncio.gather(*(self._close(one) for one in self._servers.values()))
        self._servers.clear()

    def _status(self, one: _Managed) -> ServerStatus:
        return ServerStatus(
            state=_state(one),
            error=one.error,
            label=one.label,
            protocol=one.protocol,
            listing=one.known or Listing(),
            connected_at=one.connected_at if one.alive() else None,
        )

    # ----------------------------------------------------------------------- connections

    async def _sync(self) -> list[_Managed]:
        """Follow the configuration: new servers come in, changed and removed ones are closed."""
        try:
            wanted = dict(self._read())
        except UserError as error:
            # A file that is being edited must not take the tools away from running work.
            log.warning("%s", error)
            return list(self._servers.values())
        over: list[_Managed] = []
        for name, one in list(self._servers.items()):
            new = wanted.get(name)
            if new is None or _differs(one.server, new):
                over.append(self._servers.pop(name))
            elif new != one.server:
                # Its tools are read anew where they are limited otherwise.
                stays = new.enabled and new.tools == one.server.tools
                one.server = new
                if not stays:
                    one.known = None
                    over.append(one)
        for name, server in wanted.items():
            self._servers.setdefault(name, _Managed(server=server))
        await asyncio.gather(*(self._close(one) for one in over))
        return [self._servers[name] for name in wanted]

    async def _connected(self, one: _Managed) -> Connection:
        """The server's connection, opened where there is none; `ToolError` says why not."""
        async with one.lock:
            if one.connection is not None and one.alive():
                return one.connection
            if self._closed:
                raise ToolError("silu is stopping")
            await self._close(one)
            one.connecting = True
            try:
                return await self._open(one)
            except ToolError as error:
                self._failed(one, str(error))
                raise ToolError(one.error or "") from error
            except GoneError as error:
                self._failed(one, str(error))
                raise ToolError(one.error or "") from error
            finally:
                one.connecting = False

    async def _open(self, one: _Managed) -> Connection:
        async def changed() -> None:
            self._keep(self._relist(one, connection))

        connection = Connection(one.server, self._environment(one.server), changed=changed)
        await connection.open()
        try:
            one.known = listing(one.server.name, await connection.tools(), one.server.tools)
        except BaseException:
            await connection.close()
            raise
        one.connection, one.error, one.failures = connection, None, 0
        one.label, one.protocol = connection.label, connection.protocol
        one.connected_at = int(time.time() * 1000)
        return connection

    def _environment(self, server: McpServer) -> dict[str, str]:
        """What a started server sees beside `PATH` and its like: only what it was given."""
        passed = {name: self._variable(name) for name in server.pass_env}
        return {name: value for name, value in passed.items() if value} | server.env

    def _failed(self, one: _Managed, why: str) -> None:
        one.error = self._masked(one, why)
        one.failures += 1
        one.next_try = time.monotonic() + _BACKOFF[min(one.failures, len(_BACKOFF)) - 1]

    def _masked(self, one: _Managed, words: str) -> str:
        """Words of a server or of the SDK, without any secret."""
        for secret in one.server.secrets():
            words = words.replace(secret, "***")
        return self._mask(words)

    async def _lost(self, one: _Managed, connection: Connection, why: str) -> None:
        async with one.lock:
            if one.connection is connection:
                await self._close(one)
                self._failed(one, why)

    async def _relist(self, one: _Managed, connection: Connection) -> None:
        """The server's tools changed: what it tells now counts from the next epoch on."""
        try:
            one.known = listing(one.server.name, await connection.tools(), one.server.tools)
        except (ToolError, GoneError) as error:
            why = self._masked(one, str(error))
            log.warning("MCP server %s: its tools could not be listed: %s", one.server.name, why)

    async def _close(self, one: _Managed) -> None:
        connection, one.connection = one.connection, None
        one.connected_at = None
        if connection is not None:
            await connection.close()


def _state(one: _Managed) -> McpState:
    if not one.server.enabled:
        return "disabled"
    if one.alive():
        return "ready"
    if one.connecting:
        return "connecting"
    return "idle" if one.error is None else "failed"


def _differs(old: McpServer, new: McpServer) -> bool:
    """Whether a new connection is needed."""

    def way(server: McpServer) -> Iterable[object]:
        return (
            server.command,
            server.args,
            server.env,
            server.pass_env,
            server.cwd,
            server.url,
            server.headers,
        )

    return list(way(old)) != list(way(new))
