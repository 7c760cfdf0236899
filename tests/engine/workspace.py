"""A workspace on disk: store, hub and engine over a turn that a test writes itself."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from silu.engine import Done, Hub, LocalEngine, Parked, TurnPorts
from silu.store import NewSession, Store

Turn = Callable[[TurnPorts], Awaitable[Done | Parked]]


class House:
    """Opened over one folder; `restart` is what a new process would find."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.turn: Turn | None = None
        self.most_stalls = 1000
        self.store: Store
        self.hub: Hub
        self.engine: LocalEngine

    async def open(self, place: str | None = None) -> None:
        self.store = await Store.open(
            place or self.folder / "silu.db",
            blobs=self.folder / "blobs",
            backups=self.folder / "backups",
        )
        self.hub = Hub(self.store)
        self.engine = LocalEngine(
            self.store,
            self.hub,
            execute=self._execute,
            default_model=lambda: "demo/model",
            most_stalls=self.most_stalls,
        )
        await self.engine.start()

    async def close(self, *, grace: float = 0.0) -> None:
        await self.engine.stop(grace=grace)
        await self.store.close()

    async def session(self, **given: Any) -> str:
        return (await self.store.create_session(NewSession(**given))).item.id

    async def until_runs(self, session: str, statuses: list[str]) -> None:
        async with asyncio.timeout(5):
            while [run.status for run in await self.engine.list(session)] != statuses:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    async def _execute(self, ports: TurnPorts) -> Done | Parked:
        assert self.turn is not None
        return await self.turn(ports)


def frames_of(outs: list[Any]) -> list[dict[str, Any]]:
    return [msgspec.json.decode(out.data) for out in outs]


async def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event of its own
            await asyncio.sleep(0.005)


async def steered(ports: TurnPorts) -> list[str]:
    """What was said to a running turn, once something was."""
    said: list[str] = []

    def heard() -> bool:
        said.extend(ports.runs.take_steering())
        return bool(said)

    await until(heard)
    return said
