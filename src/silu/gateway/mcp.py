"""The routes of MCP servers and of the list of tools."""

from silu.app import App
from silu.gateway.dispatch import Call, Operation, route
from silu.types import api, mcp


async def _mcp_servers(app: App, call: Call) -> mcp.McpServerList:
    return await app.mcp_servers()


async def _add_mcp_server(app: App, call: Call) -> mcp.McpReport:
    return await app.add_mcp_server(call.body)


async def _mcp_server(app: App, call: Call) -> mcp.McpServerView:
    return await app.mcp_server(call.path["name"])


async def _patch_mcp_server(app: App, call: Call) -> mcp.McpServerView:
    return await app.patch_mcp_server(call.path["name"], call.body)


async def _remove_mcp_server(app: App, call: Call) -> api.Ok:
    await app.remove_mcp_server(call.path["name"])
    return api.Ok()


async def _test_mcp_server(app: App, call: Call) -> mcp.McpReport:
    return await app.test_mcp_server(call.path["name"])


async def _tools(app: App, call: Call) -> mcp.ToolList:
    return await app.tools()


_SERVER = "/mcp/servers/{name}"

OPERATIONS: tuple[Operation, ...] = (
    route(
        "GET",
        "/mcp/servers",
        "The MCP servers, how they do and what tools they gave.",
        _mcp_servers,
        mcp.McpServerList,
    ),
    route(
        "POST",
        "/mcp/servers",
        "Add an MCP server, or replace the one of that name.",
        _add_mcp_server,
        mcp.McpReport,
        body=mcp.McpServerCreate,
    ),
    route("GET", _SERVER, "One MCP server.", _mcp_server, mcp.McpServerView),
    route(
        "PATCH",
        _SERVER,
        "Switch an MCP server on or off, choose among its tools.",
        _patch_mcp_server,
        mcp.McpServerView,
        body=mcp.McpServerPatch,
    ),
    route("DELETE", _SERVER, "Remove an MCP server.", _remove_mcp_server, api.Ok),
    route(
        "POST",
        f"{_SERVER}/test",
        "Connect to an MCP server anew and list its tools.",
        _test_mcp_server,
        mcp.McpReport,
    ),
    route(
        "GET",
        "/tools",
        "Every tool that a session's turns have, and what could not be used.",
        _tools,
        mcp.ToolList,
    ),
)
