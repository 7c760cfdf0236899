"""The one place that puts store, vendors, agent and engine together, and takes them apart."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Self

from silu.app.access import Access
from silu.app.models import Models
from silu.app.preferences import Preferences
from silu.app.sessions import Sessions
from silu.app.spending import Spending
from silu.app.toolset import Toolset
from silu.app.turns import Turns
from silu.config import Paths, Settings
from silu.config.hooks import HookFile
from silu.config.mcp import McpFile
from silu.engine import Hub, LocalEngine, Owner
from silu.providers.client import Client
from silu.store import Store
from silu.tools.mcp import McpPool
from silu.types import api
from silu.types.errors import UserError


class App(Sessions, Turns, Models, Spending, Preferences, Access):
    """All services over one data folder; make it with `open()` and end it with `close()`."""

    def __init__(
        self,
        *,
        settings: Settings,
        store: Store,
        client: Client,
        owner: Owner,
        closing: AsyncExitStack,
    ) -> None:
        self.settings = settings
        self.store = store
        self.client = client
        self.owner = owner
        self.hub = Hub(store, level_of=self._level_of)
        self.engine = LocalEngine(
            store, self.hub, execute=self._execute, default_model=client.default_model
        )
        self._sandboxes = {}
        self.mcp_file = McpFile(settings.paths.mcp_file)
        self.mcp_pool = McpPool(self.mcp_file.all, variable=settings.env.get, mask=settings.mask)
        closing.push_async_callback(self.mcp_pool.aclose)
        self.hook_file = HookFile(settings.paths.hooks_file)
        self._plugins = None
        self.toolset = Toolset(
            [self.working_tools, self.web_tools, self.package_tools, self.mcp_tools]
        )
        self._closing = closing
        self._looked_around = asyncio.create_task(client.models(), name="first look around")

    @classmethod
    async def open(cls, env: Mapping[str, str], *, paths: Paths | None = None) -> Self:
        """Own the data folder, open its store and take up what an earlier process left.

        `UserError` codes: `owned`, `newer_database`, `not_a_database`, `bad_config`, …
        """
        paths = paths or Paths.find(env)
        settings = Settings.load(paths, env)
        async with AsyncExitStack() as stack:
            owner = Owner.acquire(paths.data)
            stack.callback(owner.release)
            place = settings.env.get("SILU_DATABASE") or paths.data / "silu.db"
            store = await Store.open(place, blobs=paths.data / "blobs")
            stack.push_async_callback(store.close)
            client = Client(settings)
            stack.push_async_callback(client.aclose)
            app = cls(
                settings=settings,
                store=store,
                client=client,
                owner=owner,
                closing=stack.pop_all(),
            )
        try:
            await app.engine.start()
            await app.empty_bin()
        except BaseException:
            await app.close()
            raise
        return app

    async def close(self, *, grace: float = 5.0) -> None:
        """Let turns end or put them down, then close everything in order."""
        self._looked_around.cancel()
        await asyncio.wait({self._looked_around})
        try:
            await self.engine.stop(grace=grace)
        finally:
            await self._closing.aclose()

    async def ready(self) -> api.Ready:
        """Whether a turn could run now."""
        checks = {"store": "ok", "models": "ok", "engine": self.engine.condition()}
        try:
            await self.store.list_sessions(limit=1)
        except UserError as exc:
            checks["store"] = str(exc)
        return api.Ready(ready=all(word == "ok" for word in checks.values()), checks=checks)
