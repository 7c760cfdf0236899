"""A wired house whose model plays given answers, and what its turns lead to."""

import sys
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from silu.app import App
from silu.config import Endpoint, EndpointFile, Paths
from silu.fakes import Answer, FakeDeepSeek, play, serve
from silu.fakes.script import Script
from silu.types import api, mcp
from silu.types import frames as f
from silu.types.facts import Mode
from silu.types.parts import ToolResultPart
from silu.types.policy import Rule
from tests.gateway.house import clean_env

MODEL = "deepseek-v4-flash"
SERVER = str(Path(__file__).parents[1] / "tools" / "mcp_server.py")
GARDEN = mcp.McpServerCreate(name="garden", command=sys.executable, args=[SERVER])


@asynccontextmanager
async def house(
    home: Path, *turns: Answer, script: Script | None = None, **env: str
) -> AsyncGenerator[tuple[App, FakeDeepSeek]]:
    """A workspace whose model plays these answers, or follows a script."""
    vendor = FakeDeepSeek(script or play(*turns))
    async with serve(vendor) as url:
        paths = Paths.under(home)
        paths.config.mkdir(parents=True, exist_ok=True)
        EndpointFile(paths.endpoints_file).put(
            Endpoint(name="near", url=url, like="deepseek", key_env="NEAR_KEY", models=(MODEL,))
        )
        app = await App.open(clean_env(home, NEAR_KEY="test-key", **env))
        try:
            await app.store.set_rules([Rule(tool="*", action="allow")])
            yield app, vendor
        finally:
            await app.close(grace=0.1)


async def begin(app: App, *, mode: Mode = "build") -> str:
    """A session with that model; its id."""
    wish = api.SessionCreate(model=f"near/{MODEL}", mode=mode)
    return (await app.create_session(wish)).id


async def say(app: App, text: str, session_id: str | None = None) -> str:
    """One turn to its end; the session's id."""
    session_id = session_id or await begin(app)
    send = f.Send(client_id=uuid.uuid4().hex, text=text)
    sent = await app.send(session_id, send)
    await app.engine.wait(sent.run_id)
    return session_id


async def results(app: App, session_id: str) -> list[ToolResultPart]:
    """The tool results of a session, oldest first."""
    history = await app.store.history(session_id)
    return [p for m in history for p in m.parts if isinstance(p, ToolResultPart)]
