"""The agent's own loop over store and engine, on strict fake vendors that refuse a broken echo."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from silu import fakes
from silu.agent.loop import run_turn
from silu.agent.settings import TurnSettings
from silu.config import Paths, Settings
from silu.config.endpoints import Endpoint
from silu.engine import Done, TurnPorts
from silu.fakes import Call, FakeVendor, Think, answer, play
from silu.providers.client import Client
from silu.tools import workspace_tools
from tests.engine.viewer import Viewer
from tests.engine.workspace import House

pytestmark = pytest.mark.anyio

_READ = Call("read_file", {"path": "notes.txt"})
_TODO = Call("todo", {"todos": [{"id": "1", "content": "look", "status": "completed"}]})


class Vendor:
    """A strict fake behind a real socket, and the turn that asks it."""

    def __init__(self, fake: FakeVendor, client: Client, house: House, model: str) -> None:
        self.model = f"v/{model}"
        self.fake = fake
        self.client = client
        self.house = house

    async def turn(self, ports: TurnPorts) -> Done:
        await run_turn(
            journal=ports.journal,
            events=ports.events,
            runs=ports.runs,
            blobs=ports.blobs,
            client=self.client,
            tools=workspace_tools(),
            settings=TurnSettings(today=lambda: "2026-11-30"),
        )
        return Done()


@pytest.fixture(
    params=[
        ("openai-chat", "deepseek", "deepseek-v4-pro", fakes.FakeDeepSeek),
        ("anthropic-messages", "anthropic", "claude-opus-4-6", fakes.FakeAnthropic),
    ],
    ids=["openai-chat", "anthropic-messages"],
)
async def vendor(
    request: pytest.FixtureRequest, house: House, tmp_path: Path
) -> AsyncIterator[Vendor]:
    dialect, like, model, make = request.param
    work = tmp_path / "work"
    work.mkdir()
    (work / "notes.txt").write_text("The answer is 42.\n")
    fake: FakeVendor = make()
    settings = Settings.load(Paths.under(tmp_path / "home"), {"FAKE_KEY": fake.key})
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(fakes.serve(fake))
        settings.endpoints.put(
            Endpoint(name="v", url=url, like=like, dialect=dialect, key_env="FAKE_KEY")
        )
        client = await stack.enter_async_context(Client(settings))
        made = Vendor(fake, client, house, model)
        house.turn = made.turn
        yield made


async def _session(vendor: Vendor, tmp_path: Path) -> str:
    return await vendor.house.session(
        model=vendor.model, level="high", workspace=str(tmp_path / "work")
    )


async def test_after_a_restart_the_vendor_gets_what_it_would_have_got_without(
    vendor: Vendor, house: House, tmp_path: Path
) -> None:
    vendor.fake.script = play(
        answer(Think("I look."), _READ),
        answer(Think("It says 42."), "42."),
        answer(Think("Again."), "Still 42."),
        answer(Think("Again."), "Still 42."),
    )
    session = await _session(vendor, tmp_path)
    sent = await house.engine.send(session, "What is the answer?")
    await house.engine.wait(sent.run_id)
    fork = await house.store.fork(session)
    sent = await house.engine.send(session, "Sure?")
    await house.engine.wait(sent.run_id)
    await house.close()
    await house.open()
    sent = await house.engine.send(fork.item.id, "Sure?")
    await house.engine.wait(sent.run_id)
    assert vendor.fake.refusals == []
    page = await house.store.messages(session)
    assert [m.content for m in page.messages] == [
        "What is the answer?",
        "",
        "42.",
        "Sure?",
        "Still 42.",
    ]
    assert page.messages[1].segments[-1].status == "ok"
    assert len(await house.store.calls(session)) == 3


async def test_a_run_that_dies_in_mid_thought_goes_on_after_its_last_step(
    vendor: Vendor, house: House, tmp_path: Path
) -> None:
    vendor.fake.script = play(
        answer(Think("I look."), _READ),
        answer(Think("lost " * 300), "never"),
        answer(Think("It says 42."), "42."),
    )
    vendor.fake.rate = 400
    session = await _session(vendor, tmp_path)
    viewer = Viewer(house.hub.client(), session)
    await viewer.join()
    sent = await house.engine.send(session, "What is the answer?")
    await viewer.read_until("tool_result")
    await viewer.read_until("thinking_start")
    await asyncio.sleep(0.3)
    await house.close()
    vendor.fake.rate = None
    await house.open()
    viewer.client = house.hub.client()
    await viewer.join()
    if not any(fact["type"] == "done" for fact in viewer.facts):
        await viewer.read_until("done")
    await house.engine.wait(sent.run_id)
    assert vendor.fake.refusals == []
    messages = (await house.store.messages(session)).messages
    assert [m.content for m in messages] == ["What is the answer?", "", "42."]
    assert messages[-1].thinking_content == "It says 42."
    starts = [fact for fact in viewer.facts if fact["type"] == "run_start"]
    assert len(starts) == 1
    assert "".join(viewer.texts.values()).endswith("It says 42.42.")
    viewer.client.close()


async def test_stop_in_mid_thought_keeps_the_thought_and_the_next_turn_is_valid(
    vendor: Vendor, house: House, tmp_path: Path
) -> None:
    vendor.fake.script = play(answer(Think("long " * 300), "never"), answer(Think("ok"), "Fine."))
    vendor.fake.rate = 400
    session = await _session(vendor, tmp_path)
    viewer = Viewer(house.hub.client(), session)
    await viewer.join()
    await house.engine.send(session, "Think.")
    await viewer.read_until("thinking_start")
    await asyncio.sleep(0.3)
    begun = asyncio.get_running_loop().time()
    assert await house.engine.cancel(session)
    assert asyncio.get_running_loop().time() - begun < 4
    done = await viewer.read_until("done")
    assert done["data"]["status"] == "cancelled"
    cut = (await house.store.messages(session)).messages[-1]
    assert cut.thinking_content
    assert cut.thinking_content.startswith("long long")
    assert cut.metadata["interrupted"] is True
    vendor.fake.rate = None
    sent = await house.engine.send(session, "Go on.")
    await house.engine.wait(sent.run_id)
    assert vendor.fake.refusals == []
    assert (await house.store.messages(session)).messages[-1].content == "Fine."
    viewer.client.close()


async def test_todos_reach_the_session_and_its_line(
    vendor: Vendor, house: House, tmp_path: Path
) -> None:
    vendor.fake.script = play(answer(Think("plan"), _TODO), answer("Done."))
    session = await _session(vendor, tmp_path)
    sent = await house.engine.send(session, "Plan it.")
    await house.engine.wait(sent.run_id)
    assert [todo.status for todo in await house.store.todos(session)] == ["completed"]
    item = (await house.store.session(session)).item
    assert item.todo_summary.completed == 1
    assert item.title
