"""MCP servers: which there are, how they do, and the tools that a session can have."""

import asyncio
import time

import msgspec
from msgspec import UNSET

from silu.app.base import Services
from silu.config.mcp import McpFile, check_server
from silu.store.api import Session
from silu.tools import Tool
from silu.tools.mcp import McpPool, ServerStatus
from silu.types import mcp
from silu.types.errors import UserError


class McpServers(Services):
    """Services of the settings of MCP servers; connections are opened by turns and tests only."""

    mcp_file: McpFile
    mcp_pool: McpPool

    async def mcp_tools(self, session: Session | None) -> list[Tool]:
        """The tools of all servers; only a session's turn connects to those not seen yet."""
        return await self.mcp_pool.tools(connect=session is not None)

    async def mcp_servers(self) -> mcp.McpServerList:
        """Every server and how it does; nothing is connected for that."""
        try:
            known, problems = await asyncio.to_thread(self.mcp_file.read)
        except UserError as exc:
            return mcp.McpServerList(servers=[], error=str(exc))
        statuses = await self.mcp_pool.statuses()
        views = [_view(known[name], statuses[name]) for name in known if name in statuses]
        return mcp.McpServerList(servers=views, error="\n".join(problems) or None)

    async def mcp_server(self, name: str) -> mcp.McpServerView:
        return _view(await self._known(name), await self.mcp_pool.status(name))

    async def add_mcp_server(self, wish: mcp.McpServerCreate) -> mcp.McpReport:
        """Keep a server (a known name is replaced); with `test` only when it could be reached."""
        server = _server(wish)
        check_server(server)
        if wish.test:
            began = time.monotonic()
            status = await self.mcp_pool.try_out(server)
            if status.error is not None:
                return _report(server.name, status, began, kept=None)
        await asyncio.to_thread(self.mcp_file.put, server)
        began = time.monotonic()
        if not wish.test or not server.enabled:
            return mcp.McpReport(
                ok=True,
                message=f"{server.name} was added.",
                duration_ms=0,
                server=await self.mcp_server(server.name),
            )
        return await self.test_mcp_server(server.name)

    async def patch_mcp_server(self, name: str, patch: mcp.McpServerPatch) -> mcp.McpServerView:
        """Switch a server on or off, limit its tools, change its time limit."""
        server = await self._known(name)
        changes = {k: v for k, v in msgspec.structs.asdict(patch).items() if v is not UNSET}
        if patch.tools is not UNSET and patch.tools is not None:
            changes["tools"] = tuple(patch.tools)
        await asyncio.to_thread(self.mcp_file.put, msgspec.structs.replace(server, **changes))
        return await self.mcp_server(name)

    async def remove_mcp_server(self, name: str) -> None:
        if not await asyncio.to_thread(self.mcp_file.remove, name):
            raise _unknown(name)
        await self.mcp_pool.statuses()

    async def test_mcp_server(self, name: str) -> mcp.McpReport:
        """Connect anew and list the tools; the connection stays open for turns."""
        server = await self._known(name)
        began = time.monotonic()
        if not server.enabled:
            status = await self.mcp_pool.try_out(server)
            view = msgspec.structs.replace(_view(server, status), state="disabled")
            return _report(name, status, began, kept=view)
        status = await self.mcp_pool.check(name)
        return _report(name, status, began, kept=_view(server, status))

    async def _known(self, name: str) -> mcp.McpServer:
        server = (await asyncio.to_thread(self.mcp_file.all)).get(name)
        if server is None:
            raise _unknown(name)
        return server


def _unknown(name: str) -> UserError:
    return UserError(f"There is no MCP server {name!r}.", code="unknown_mcp_server", setting="name")


def _server(wish: mcp.McpServerCreate) -> mcp.McpServer:
    return mcp.McpServer(
        name=wish.name.strip(),
        command=wish.command.strip() if wish.command else None,
        args=tuple(wish.args),
        env=wish.env,
        pass_env=tuple(wish.pass_env),
        cwd=wish.cwd or None,
        url=wish.url.strip() if wish.url else None,
        headers=wish.headers,
        timeout=wish.timeout,
        tools=None if wish.tools is None else tuple(wish.tools),
        enabled=wish.enabled,
    )


def _report(
    name: str, status: ServerStatus, began: float, *, kept: mcp.McpServerView | None
) -> mcp.McpReport:
    ok = status.error is None
    message = (
        f"{name} answered with {len(status.listing.tools)} tools."
        if ok
        else f"{name} could not be used: {status.error}."
    )
    return mcp.McpReport(
        ok=ok,
        message=message,
        duration_ms=round((time.monotonic() - began) * 1000),
        server=kept,
    )


def _view(server: mcp.McpServer, status: ServerStatus) -> mcp.McpServerView:
    """What a client sees: names of variables and headers, never their values."""
    return mcp.McpServerView(
        name=server.name,
        transport="stdio" if server.url is None else "http",
        command=server.command,
        args=list(server.args),
        env_names=sorted(server.env),
        pass_env=list(server.pass_env),
        cwd=server.cwd,
        url=server.url,
        header_names=sorted(server.headers),
        timeout=server.timeout,
        only_tools=None if server.tools is None else list(server.tools),
        enabled=server.enabled,
        state=status.state,
        error=status.error,
        server=status.label,
        protocol=status.protocol,
        tools=[
            mcp.McpToolView(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                effects=sorted(tool.effects),
            )
            for tool in status.listing.tools
        ],
        problems=list(status.listing.problems),
        connected_at=status.connected_at,
    )
