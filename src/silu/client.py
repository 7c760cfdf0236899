"""silu as a library: `Client` for single calls, `Agent` for turns with tools; no database."""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from silu.agent.loop import run_turn
from silu.agent.memory import MemoryRun, MemorySession, Told
from silu.agent.settings import Limits, TurnSettings
from silu.config import Paths, Settings
from silu.providers.client import Client as Calls
from silu.tools import Tool, ToolBox, workspace_tools
from silu.types.calls import CallEnd, CallEvent, CallRequest
from silu.types.capabilities import ModelInfo
from silu.types.errors import Failure
from silu.types.facts import Done, ErrorInfo, Mode, RunStatus, TokenCount
from silu.types.levels import LevelChoice, parse_level
from silu.types.parts import Message, TextPart, text_of, thinking_of
from silu.types.todos import Todo
from silu.types.usage import Usage


def default_settings() -> Settings:
    """The settings the `silu` command has: config folder, `.env` there, and environment."""
    return Settings.load(Paths.find(os.environ), os.environ)


def _level(level: LevelChoice | str) -> LevelChoice:
    return parse_level(level)


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """The end of one call. `cost` is in US dollars, `None` when unknown; `failure` is set when
    the call failed, and text and thinking are then what had arrived."""

    text: str
    thinking: str
    message: Message
    usage: Usage
    cost: float | None
    failure: Failure | None


class Client(Calls):
    """Calls to models of any vendor with uniform thinking.

    Without settings it uses those of the `silu` command. `async with Client() as client: …`
    """

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings or default_settings())

    async def ask(
        self,
        prompt: str | Sequence[Message],
        *,
        model: str | None = None,
        level: LevelChoice | str = "default",
        system: str | None = None,
    ) -> Reply:
        """One question, one whole answer."""
        end: CallEnd | None = None
        async for event in self.events(prompt, model=model, level=level, system=system):
            if isinstance(event, CallEnd):
                end = event
        assert end is not None, "a call ends with CallEnd"
        return Reply(
            text=text_of(end.message),
            thinking=thinking_of(end.message),
            message=end.message,
            usage=end.usage,
            cost=end.cost,
            failure=end.failure,
        )

    def events(
        self,
        prompt: str | Sequence[Message],
        *,
        model: str | None = None,
        level: LevelChoice | str = "default",
        system: str | None = None,
    ) -> AsyncGenerator[CallEvent]:
        """The same call as its events: thinking and text as they come, `CallEnd` last."""
        messages = [] if system is None else [_said("system", system)]
        messages += [_said("user", prompt)] if isinstance(prompt, str) else prompt
        return self.stream(
            CallRequest(
                model=model or self.default_model(),
                messages=messages,
                level=_level(level),
                level_source="turn",
            )
        )


def _said(role: Literal["system", "user"], text: str) -> Message:
    return Message(role=role, parts=[TextPart(text=text)])


async def models(*, refresh: bool = False) -> list[ModelInfo]:
    """All models that can be chosen now, each with what it can do."""
    async with Client() as client:
        return await client.models(refresh=refresh)


class AgentReply(msgspec.Struct, frozen=True, kw_only=True):
    """How a turn ended. `text` is the last answer, `thinking` all thinking of the turn.

    `error` is set when `status` is `failed`; `reason` says why a turn is not `completed`.
    """

    text: str
    thinking: str
    status: RunStatus
    reason: str | None
    usage: TokenCount
    error: ErrorInfo | None


class Agent:
    """A conversation with tools, kept in memory.

    `tools` come beside those on the `workspace` folder: `Tool` values, such as functions under
    `@silu.tool`. One turn runs at a time. Everything said so far is in `session`.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        workspace: str | Path = ".",
        tools: Iterable[Tool] = (),
        level: LevelChoice | str = "default",
        mode: Mode = "build",
        limits: Limits | None = None,
        client: Calls | None = None,
    ) -> None:
        self.client: Calls = client or Client()
        self.session = MemorySession(
            model or self.client.default_model(),
            workspace=Path(workspace).resolve(),
            mode=mode,
            level=_level(level),
        )
        self._owns_client = client is None
        self._tools: ToolBox = workspace_tools().plus(tools)
        self._settings = TurnSettings(limits=limits or Limits())
        self._run: MemoryRun | None = None

    @property
    def todos(self) -> list[Todo]:
        """The task list as it is now."""
        return self.session.todos

    async def run(self, text: str, *, level: LevelChoice | str | None = None) -> AgentReply:
        """One turn, to its end."""
        before = len(self.session.messages)
        done: Done | None = None
        async for told in self.stream(text, level=level):
            if isinstance(told, Done):
                done = told
        assert done is not None, "a turn ends with its done fact"
        new = [m for m in list(self.session.messages.values())[before:] if m.role == "assistant"]
        thoughts = (thinking_of(message) for message in new)
        return AgentReply(
            text=text_of(new[-1]) if new else "",
            thinking="\n\n".join(thought for thought in thoughts if thought),
            status=done.status,
            reason=done.reason,
            usage=done.usage,
            error=done.error if isinstance(done.error, ErrorInfo) else None,
        )

    async def stream(
        self, text: str, *, level: LevelChoice | str | None = None
    ) -> AsyncGenerator[Told]:
        """One turn as it happens: facts and deltas in order, `Done` last.

        Closing the generator stops the turn, with what came so far kept.
        """
        told: asyncio.Queue[Told | None] = asyncio.Queue()
        run = MemoryRun(
            self.session,
            self.session.ask(text),
            sink=told.put_nowait,
            level=None if level is None else _level(level),
        )
        self._run = run
        turn = asyncio.ensure_future(self._turn(run))
        turn.add_done_callback(lambda _: told.put_nowait(None))
        try:
            while (item := await told.get()) is not None:
                yield item
            await turn
        finally:
            run.cancel()
            await asyncio.gather(turn, return_exceptions=True)
            self._run = None

    async def _turn(self, run: MemoryRun) -> None:
        await run_turn(
            journal=run,
            events=run,
            runs=run,
            blobs=self.session.blobs,
            client=self.client,
            tools=self._tools,
            settings=self._settings,
        )

    def cancel(self) -> None:
        """Stop the running turn, if there is one."""
        if self._run is not None:
            self._run.cancel()

    def steer(self, text: str) -> None:
        """Say something to the running turn: it reaches the model at its next call."""
        if self._run is not None:
            self._run.steer(text)

    def set_level(self, level: LevelChoice | str) -> None:
        """In force at the next model call, also of the running turn."""
        self.session.level = _level(level)
        if self._run is not None:
            self._run.set_level(_level(level))

    async def aclose(self) -> None:
        if self._owns_client:
            await self.client.aclose()

    async def __aenter__(self) -> "Agent":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
