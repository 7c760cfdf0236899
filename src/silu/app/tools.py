"""Tools beside those of the workspace: the web, packages, MCP servers, and the hooks around all."""

import asyncio
from collections.abc import Iterable
from urllib.parse import urlsplit

from silu.app.mcp import McpServers
from silu.app.toolset import Toolset
from silu.config.hooks import HookFile
from silu.engine.api import TurnPorts
from silu.providers.net import http_proxy, proxy_for
from silu.store.api import Session
from silu.tools import Tool, ToolBox, ToolContext
from silu.tools.hooks import Hooks
from silu.tools.plugins import Plugins, load_plugins
from silu.tools.web.addresses import Hosts
from silu.tools.web.engines import Engine, brave, searxng, tavily
from silu.tools.web.http import Web
from silu.tools.web_fetch import web_fetch_tool
from silu.tools.web_search import vendor_search_tool, web_search_tool
from silu.types import facts, mcp
from silu.types.errors import ToolError, UserError
from silu.types.policy import SearchEngine

SEARCH_KEYS: dict[SearchEngine, tuple[str, ...]] = {
    "brave": ("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"),
    "tavily": ("TAVILY_API_KEY",),
}
"""Search engines that want a key, and the variables it may stand in."""


class MoreTools(McpServers):
    """Where further tools come from, and the list of all."""

    toolset: Toolset
    hook_file: HookFile
    _plugins: Plugins | None

    async def tools(self) -> mcp.ToolList:
        """What any session's turns have beside the tools that steer the session itself."""
        offer = await self.toolset.offer(None)
        problems = await self._tool_problems()
        for tool in offer.left_out:
            problems.append(f"{tool.name} ({tool.source}) was left out: its name is taken.")
        views = [
            mcp.ToolView(
                name=tool.name,
                description=tool.spec.description,
                effects=sorted(tool.effects),
                source=tool.source,
            )
            for tool in offer.box
        ]
        return mcp.ToolList(tools=views, problems=problems)

    async def _tool_problems(self) -> list[str]:
        """Packages, MCP servers and hooks that could not be used."""
        found = [*(await self._packages()).problems]
        listed = await self.mcp_servers()
        found += [listed.error] if listed.error else []
        for server in listed.servers:
            told = [server.error] if server.error else server.problems
            found += [f"MCP server {server.name}: {problem}" for problem in told]
        try:
            await asyncio.to_thread(self.hook_file.all)
        except UserError as error:
            found.append(str(error))
        return found

    # ------------------------------------------------------------------------- packages

    async def package_tools(self, session: Session | None) -> Iterable[Tool]:
        """Tools of installed packages, imported once in a process."""
        return (await self._packages()).tools

    async def _packages(self) -> Plugins:
        if self._plugins is None:
            self._plugins = await asyncio.to_thread(load_plugins)
        return self._plugins

    # ---------------------------------------------------------------------------- hooks

    async def guarded(self, box: ToolBox, ports: TurnPorts) -> ToolBox:
        """The tools with the person's hooks around them; `UserError` when those cannot be read."""
        hooks = await asyncio.to_thread(self.hook_file.all)
        if not hooks:
            return box

        def report(words: str, context: ToolContext) -> None:
            ports.events.fact(facts.Notice(kind="hook_failed", text=self.settings.mask(words)))

        around = Hooks(hooks=hooks, variable=self.settings.env.get, report=report)
        return ToolBox(around.around(tool) for tool in box)

    # ------------------------------------------------------------------------------ web

    async def web_tools(self, session: Session | None) -> list[Tool]:
        """What reaches the web, by the ways the person chose."""
        fetch = web_fetch_tool(self._web(self.settings.preferences.web_hosts))
        if self.search_in_use() == "vendor":
            searches = session is None or await self._vendor_searches(session)
            return [fetch, vendor_search_tool()] if searches else [fetch]
        engine = self._engine()
        if engine is None:
            return [fetch]
        server = self.settings.preferences.searxng_url or ""
        # The person's own server may well stand in their own network.
        own = (urlsplit(server).netloc,) if engine.name == "SearXNG" else ()
        return [fetch, web_search_tool(engine, self._web(own))]

    async def _vendor_searches(self, session: Session) -> bool:
        model = self.client.model(await self._model_of(session))
        return "web_search" in model.capability.own_tools

    def search_in_use(self) -> SearchEngine | None:
        """The engine that is chosen and has what it needs, else the first that has."""
        chosen = self.settings.preferences
        if chosen.search_engine == "none":
            return None
        has: dict[SearchEngine, bool] = {
            "searxng": bool(chosen.searxng_url),
            "vendor": True,
            **{name: self._search_key(name) is not None for name in SEARCH_KEYS},
        }
        if chosen.search_engine is not None:
            return chosen.search_engine if has[chosen.search_engine] else None
        # The vendor searches without asking: only where the person chose that.
        return next((name for name, able in has.items() if able and name != "vendor"), None)

    def _engine(self) -> Engine | None:
        match self.search_in_use():
            case "searxng":
                return searxng(self.settings.preferences.searxng_url or "")
            case "brave":
                return brave(self._search_key("brave") or "")
            case "tavily":
                return tavily(self._search_key("tavily") or "")
            case _:
                return None

    def _search_key(self, name: SearchEngine) -> str | None:
        found = self.settings.key(name, SEARCH_KEYS[name])
        return found[0].reveal() if found else None

    def _web(self, own: tuple[str, ...]) -> Web:
        return Web(hosts=Hosts(own), proxy=self._proxy)

    def _proxy(self, url: str) -> str | None:
        try:
            return http_proxy(proxy_for(url, self.settings.env))
        except UserError as error:
            raise ToolError(str(error)) from error
