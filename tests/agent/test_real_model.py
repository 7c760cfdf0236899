"""A real model, where one runs: `SILU_TEST_LLAMACPP` names the base URL of llama.cpp's server
(such as `http://127.0.0.1:8080/v1`)."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from silu.agent.loop import run_turn
from silu.agent.memory import MemoryRun, MemorySession
from silu.agent.settings import Limits, TurnSettings
from silu.config import Endpoint, Paths, Settings
from silu.providers.client import Client
from silu.tools import workspace_tools
from silu.types.levels import Level
from silu.types.parts import Message, ThinkingPart, ToolResultPart, text_of

URL = os.environ.get("SILU_TEST_LLAMACPP", "")

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not URL, reason="optional: SILU_TEST_LLAMACPP names no server"),
]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[Client]:
    settings = Settings.load(Paths.under(tmp_path / "home"), {})
    settings.endpoints.put(Endpoint(name="real", url=URL, like="llamacpp"))
    async with Client(settings) as made:
        yield made


async def turn(client: Client, folder: Path, text: str, *, level: Level) -> list[Message]:
    """One turn of the server's first model; gives the session's messages."""
    listed = [model.ref for model in await client.models() if model.ref.startswith("real/")]
    assert listed, f"{URL} lists no model"
    session = MemorySession(listed[0], workspace=folder, level=level)
    run = MemoryRun(session, session.ask(text))
    outcome = await run_turn(
        journal=run,
        events=run,
        runs=run,
        blobs=session.blobs,
        client=client,
        tools=workspace_tools(),
        settings=TurnSettings(limits=Limits(steps=12, seconds=600)),
    )
    assert outcome.status == "completed"
    return list(session.messages.values())


async def test_a_real_model_reads_a_file_and_answers_from_it(
    client: Client, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "notes.txt").write_text("The code word is heliotrope.\n")
    messages = await turn(
        client, folder, "Read notes.txt and tell me the code word.", level=Level.LOW
    )
    results = [p for m in messages for p in m.parts if isinstance(p, ToolResultPart)]
    assert "ok" in {part.status for part in results}
    assert "heliotrope" in text_of(messages[-1]).lower()


async def test_a_real_model_that_is_not_to_think_shows_no_thought(
    client: Client, tmp_path: Path
) -> None:
    messages = await turn(client, tmp_path, "Say hello in one word.", level=Level.OFF)
    assert text_of(messages[-1]).strip()
    assert not [p for m in messages for p in m.parts if isinstance(p, ThinkingPart) and p.text]
