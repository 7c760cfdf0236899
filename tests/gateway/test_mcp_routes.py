"""MCP servers and tools over HTTP."""

import sys
from pathlib import Path

import pytest

from tests.gateway.house import Workspace, http

pytestmark = pytest.mark.anyio

SERVER = str(Path(__file__).parents[1] / "tools" / "mcp_server.py")


async def test_a_server_is_added_tried_listed_changed_and_removed(workspace: Workspace) -> None:
    workspace.start()
    async with http(workspace) as web:
        wish = {"name": "garden", "command": sys.executable, "args": [SERVER], "test": True}
        report = await web("POST", "/mcp/servers", {**wish, "env": {"TOKEN": "very-secret"}})
        assert report["ok"], report["message"]
        assert report["server"]["env_names"] == ["TOKEN"]
        listed = await web("GET", "/mcp/servers")
        assert [server["state"] for server in listed["servers"]] == ["ready"]
        tools = {tool["name"]: tool for tool in (await web("GET", "/tools"))["tools"]}
        assert tools["garden__count"]["source"] == "mcp:garden"
        changed = await web("PATCH", "/mcp/servers/garden", {"enabled": False, "timeout": 5})
        assert (changed["state"], changed["timeout"]) == ("disabled", 5)
        assert (await web("POST", "/mcp/servers/garden/test"))["ok"]
        assert "very-secret" not in str([report, listed, changed])
        await web("DELETE", "/mcp/servers/garden")
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/test")):
            await web(method, f"/mcp/servers/garden{path}", status=404)
        for bad in ({}, {"name": "x"}, {"name": "a b", "command": "x"}):
            await web("POST", "/mcp/servers", bad, status=400)
