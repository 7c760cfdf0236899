"""Tools of MCP servers. The SDK is imported when the first connection is made."""

from silu.tools.mcp.pool import McpPool, ServerStatus

__all__ = ["McpPool", "ServerStatus"]
