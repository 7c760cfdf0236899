"""A real client on a strict fake vendor over a real socket, and a session in memory."""

import contextlib
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import msgspec

from silu import fakes
from silu.agent.loop import run_turn
from silu.agent.memory import MemoryRun, MemorySession, Told, done_of
from silu.agent.settings import RunOutcome, TurnSettings
from silu.config import Paths, Settings
from silu.config.endpoints import Endpoint
from silu.fakes import Call, FakeVendor
from silu.providers.client import Client
from silu.tools import ToolBox, workspace_tools
from silu.types.facts import DeltaData, Done, FactData, fact_type
from silu.types.parts import Message, text_of

CHAT = ("openai-chat", "deepseek", "deepseek-v4-pro", fakes.FakeDeepSeek)
MESSAGES = ("anthropic-messages", "anthropic", "claude-opus-4-6", fakes.FakeAnthropic)
DIALECTS = [CHAT, MESSAGES]

READ = Call("read_file", {"path": "notes.txt"})
LIST = Call("list_files", {})


def todo(*items: tuple[str, str, str], merge: bool = False) -> Call:
    """A call of the `todo` tool with (id, content, status) items."""
    todos = [dict(zip(("id", "content", "status"), item, strict=True)) for item in items]
    return Call("todo", {"todos": todos, "merge": merge})


def raw(value: Any) -> str:
    return msgspec.json.encode(value).decode()


class Bench:
    """One fake vendor, one client, one session."""

    def __init__(self, fake: FakeVendor, client: Client, session: MemorySession) -> None:
        self.fake = fake
        self.client = client
        self.session = session
        self.tools: ToolBox = workspace_tools()
        self.settings = TurnSettings(today=lambda: "2026-11-30")
        self.told: list[Told] = []
        self.watch: Callable[[MemoryRun, Told], None] = lambda run, told: None
        self.run: MemoryRun | None = None

    def new_run(self, text: str, **options: Any) -> MemoryRun:
        def sink(told: Told) -> None:
            self.told.append(told)
            self.watch(run, told)

        run = MemoryRun(self.session, self.session.ask(text), sink=sink, **options)
        self.run = run
        return run

    async def execute(self, run: MemoryRun) -> RunOutcome:
        return await run_turn(
            journal=run,
            events=run,
            runs=run,
            blobs=self.session.blobs,
            client=self.client,
            tools=self.tools,
            settings=self.settings,
        )

    async def say(self, text: str, **options: Any) -> RunOutcome:
        return await self.execute(self.new_run(text, **options))

    @property
    def messages(self) -> list[Message]:
        return list(self.session.messages.values())

    @property
    def answer(self) -> str:
        return text_of(self.messages[-1])

    @property
    def done(self) -> Done:
        assert self.run is not None
        done = done_of(self.run)
        assert done is not None
        return done

    def facts(self, *types: str) -> list[FactData]:
        facts = [told for told in self.told if not isinstance(told, DeltaData)]
        return [fact for fact in facts if not types or fact_type(fact) in types]

    def shown(self) -> dict[tuple[str, str], str]:
        """What a client has on screen: each block's text by the highest attempt."""
        blocks: dict[tuple[str, str], str] = {}
        highest: dict[str, int] = {}
        for told in self.told:
            if not isinstance(told, DeltaData):
                continue
            if told.attempt > highest.get(told.message_id, 0):
                highest[told.message_id] = told.attempt
                blocks = {k: v for k, v in blocks.items() if not k[0].startswith(told.message_id)}
            key = (told.block_id, told.kind)
            have = blocks.get(key, "")
            assert told.offset == len(have), "a delta continues its block"
            blocks[key] = have + told.text
        return blocks


@contextlib.asynccontextmanager
async def bench(
    fake: FakeVendor,
    tmp_path: Path,
    *,
    like: str | None,
    dialect: str | None,
    model: str,
    path: str | None = None,
) -> AsyncGenerator[Bench]:
    """`path` is what the vendor's base URL has behind the host, where it is not the fake's own."""
    workspace = tmp_path / "work"
    workspace.mkdir(exist_ok=True)
    (workspace / "notes.txt").write_text("The answer is 42.\n")
    home = tmp_path / "home"
    settings = Settings.load(Paths.under(home), {"FAKE_KEY": fake.key or "none asked for"})
    async with fakes.serve(fake) as url:
        base = url if path is None else url.removesuffix(fake.base) + path
        settings.endpoints.put(
            Endpoint(
                name="v", url=base, like=like, dialect=dialect, key_env="FAKE_KEY", models=(model,)
            )
        )
        async with Client(settings) as client:
            session = MemorySession(f"v/{model}", workspace=workspace)
            yield Bench(fake, client, session)
