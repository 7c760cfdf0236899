"""A scripted vendor beside an opened house, for tests of what a turn does."""

import asyncio
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from silu.app import App
from silu.config import Endpoint, EndpointFile, Paths
from silu.fakes import FakeDeepSeek, serve
from silu.fakes.script import Script
from silu.types import api
from silu.types import frames as f
from silu.types.frames import Wait
from tests.gateway.house import clean_env

MODEL = "deepseek-v4-flash"
REF = f"near/{MODEL}"


def cid() -> str:
    return uuid.uuid4().hex


@asynccontextmanager
async def house(home: Path, script: Script, **more: str) -> AsyncGenerator[App]:
    """An app whose model `REF` plays `script`, strictly."""
    async with serve(FakeDeepSeek(script)) as url:
        paths = Paths.under(home)
        paths.config.mkdir(parents=True, exist_ok=True)
        EndpointFile(paths.endpoints_file).put(
            Endpoint(name="near", url=url, like="deepseek", key_env="NEAR_KEY", models=(MODEL,))
        )
        app = await App.open(clean_env(home, NEAR_KEY="test-key", **more))
        try:
            yield app
        finally:
            await app.close(grace=0.1)


async def say(app: App, session_id: str, text: str) -> str:
    """Send; gives the run's id."""
    return (await app.send(session_id, f.Send(client_id=cid(), text=text))).run_id


async def until_waiting(app: App, session_id: str) -> Wait:
    """The first thing that waits for the person."""
    return (await _seen(app, session_id, lambda view: bool(view.waits))).waits[0]


async def _seen(
    app: App, session_id: str, good: Callable[[api.SessionView], bool]
) -> api.SessionView:
    async with asyncio.timeout(10):
        while not good(view := await app.session(session_id)):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return view
