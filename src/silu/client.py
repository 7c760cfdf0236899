"""silu as a library: `Client` for single calls, `Agent` for turns with tools; no database."""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypedDict, TypeVar, Unpack, overload

import msgspec

from silu.agent.briefs import Brief, subagent_brief
from silu.agent.loop import run_turn
from silu.agent.memory import MemoryRun, MemorySession, Told, done_of
from silu.agent.ports import ChildEnd, ChildWish
from silu.agent.settings import Limits, TurnSettings
from silu.config import Paths, Settings
from silu.providers.client import Client as Calls
from silu.providers.resolve import level_choice
from silu.providers.structured import Wanted, structured
from silu.tools import Tool, ToolBox, workspace_tools
from silu.tools.functions import value_shape
from silu.types.agents import Agent as Profile
from silu.types.agents import Sampling, ThinkingLimit
from silu.types.calls import CallEnd, CallEvent, CallRequest, ToolSpec
from silu.types.capabilities import ModelInfo
from silu.types.errors import Failure, UserError, VendorError
from silu.types.facts import Done, ErrorInfo, Mode, RunStatus, TokenCount
from silu.types.levels import LevelChoice
from silu.types.parts import Message, Role, TextPart, text_of, thinking_of
from silu.types.todos import Todo
from silu.types.usage import Usage


def default_settings() -> Settings:
    """The settings the `silu` command has: config folder, `.env` there, and environment."""
    return Settings.load(Paths.find(os.environ), os.environ)


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """The end of one call. `cost` is in US dollars, `None` when unknown; `failure` is set when
    the call failed, and text and thinking are then what had arrived."""

    text: str
    thinking: str
    message: Message
    usage: Usage
    cost: float | None
    failure: Failure | None


T = TypeVar("T")


class Structured(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """An answer as a value, and the call it took: two where the first did not fit."""

    value: T
    replies: tuple[Reply, ...]


Prompt = str | Sequence[Message | Mapping[str, Any]]
"""What is said: a person's words, or messages. A message is a `Message` or a plain mapping
`{"role": "system" | "user" | "assistant", "content": text}`. An answer goes back as the `Message`
it came as (`Reply.message`): only that carries its thinking and what the vendor wants to see again.
"""

AnyTool = Tool | ToolSpec | Mapping[str, Any]
"""A tool the model may call: what `@silu.tool` made, a `ToolSpec`, or a mapping
`{"name": …, "description": …, "parameters": JSON Schema}`."""


class Client(Calls):
    """Calls to models of any vendor with uniform thinking.

    Without settings it uses those of the `silu` command. `async with Client() as client: …`

    Every call takes `level`: a `Level`, or its word (`off`, `minimal`, `low`, `medium`, `high`,
    `xhigh`, `max`, `adaptive`), `default` (the model's own) or `unset` (nothing is sent).
    `max_tokens` counts the whole answer, thinking included. `tool_choice` is `auto`, `none`,
    `required` or a tool's name. Tools are only offered here: the calls come back as parts of the
    message, and `silu.Agent` is what runs them.

    What the caller can mend raises `UserError` before anything is sent (`unknown_model`,
    `no_key`, `bad_argument`). What the vendor or the network did ends a call: it is in `failure`,
    with all that had arrived until then.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings or default_settings())

    @overload
    def stream(self, request: CallRequest) -> AsyncGenerator[CallEvent]: ...

    @overload
    def stream(
        self, request: str, messages: Prompt, **how: Unpack["CallOptions"]
    ) -> AsyncGenerator[CallEvent]: ...

    def stream(
        self,
        request: CallRequest | str,
        messages: Prompt = (),
        **how: Unpack["CallOptions"],
    ) -> AsyncGenerator[CallEvent]:
        """One call as its events: `CallStart`, then `ThinkingDelta`, `TextDelta` and the other
        stream events as they come, `CallEnd` last.

        `request` is a model (`vendor/model-id`) with `messages` and the options of
        `CallOptions`, or a whole `CallRequest`. A `CallStart` with a higher `attempt` replaces
        what earlier ones showed. Closing the generator closes the connection.
        """
        if isinstance(request, str):
            request = _request(request, messages, how)
        return super().stream(request)

    @overload
    async def complete(self, request: CallRequest) -> CallEnd: ...

    @overload
    async def complete(
        self, request: str, messages: Prompt, **how: Unpack["CallOptions"]
    ) -> Reply: ...

    async def complete(
        self,
        request: CallRequest | str,
        messages: Prompt = (),
        **how: Unpack["CallOptions"],
    ) -> CallEnd | Reply:
        """The same call, whole: a `Reply` for a model and messages, the bare `CallEnd` for a
        `CallRequest`."""
        if isinstance(request, str):
            return _reply(await super().complete(_request(request, messages, how)))
        return await super().complete(request)

    async def structured(
        self,
        model: str,
        messages: Prompt,
        *,
        output: type[T] | Mapping[str, Any],
        **how: Unpack["CallOptions"],
    ) -> Structured[T]:
        """The answer as a value of `output`: a msgspec struct, a dataclass, a TypedDict, or a
        JSON Schema object (then the value is a `dict`).

        It is asked for as the call of a tool; where a model refuses to be made to call one while
        it thinks, it is told to. An answer that does not fit is asked for once more, without
        thinking. Raises `VendorError` for a call that failed, of kind `bad_data` where the second
        answer did not fit either; `tools` and `tool_choice` are not for here.
        """
        if how.keys() & {"tools", "tool_choice"}:
            raise UserError(
                "A structured answer is a tool call of its own.",
                code="bad_argument",
                setting="tools",
                fix="Leave tools and tool_choice out.",
            )
        schema, read = value_shape(output)
        wanted = Wanted[Any](schema=schema, read=read)
        value, ends = await structured(self, _request(model, messages, how), wanted)
        return Structured(value=value, replies=tuple(map(_reply, ends)))

    async def ask(
        self,
        prompt: Prompt,
        *,
        model: str | None = None,
        level: LevelChoice | str = "default",
        system: str | None = None,
    ) -> Reply:
        """One question, one whole answer, from the default model where none is named."""
        chosen = model or self.default_model()
        return await self.complete(chosen, prompt, level=level, system=system)

    def events(
        self,
        prompt: Prompt,
        *,
        model: str | None = None,
        level: LevelChoice | str = "default",
        system: str | None = None,
    ) -> AsyncGenerator[CallEvent]:
        """The same call as its events: thinking and text as they come, `CallEnd` last."""
        return self.stream(model or self.default_model(), prompt, level=level, system=system)


class CallOptions(TypedDict, total=False):
    """What `Client.stream` and `Client.complete` take by name; see `Client`. `system` stands
    before the messages."""

    level: LevelChoice | str
    tools: Iterable[AnyTool]
    tool_choice: str
    system: str | None
    max_tokens: int | None
    temperature: float | None
    top_p: float | None


def _request(model: str, prompt: Prompt, how: CallOptions) -> CallRequest:
    given = [prompt] if isinstance(prompt, str) else prompt
    system = how.get("system")
    messages = [] if system is None else [_said("system", system)]
    messages += [_said("user", one) if isinstance(one, str) else _message(one) for one in given]
    return CallRequest(
        model=model,
        messages=messages,
        tools=[_tool(tool) for tool in how.get("tools", ())],
        tool_choice=how.get("tool_choice", "auto"),
        level=level_choice(how.get("level", "default")),
        level_source="turn",
        max_tokens=how.get("max_tokens"),
        temperature=how.get("temperature"),
        top_p=how.get("top_p"),
    )


def _reply(end: CallEnd) -> Reply:
    return Reply(
        text=text_of(end.message),
        thinking=thinking_of(end.message),
        message=end.message,
        usage=end.usage,
        cost=end.cost,
        failure=end.failure,
    )


def _said(role: Role, text: str) -> Message:
    return Message(role=role, parts=[TextPart(text=text)])


def _message(given: Message | Mapping[str, Any]) -> Message:
    if isinstance(given, Message):
        return given
    match given:
        case {
            "role": "system" | "user" | "assistant" as role,
            "content": str() as text,
            **rest,
        } if not rest:
            return _said(role, text)
        case _:
            raise UserError(
                "A message is neither a Message nor a mapping of role and content.",
                code="bad_argument",
                setting="messages",
                fix='Write {"role": "user", "content": "…"} with a role of system, user or '
                "assistant and text as content; anything else is a silu.Message.",
            )


def _tool(given: AnyTool) -> ToolSpec:
    match given:
        case Tool():
            return given.spec
        case ToolSpec():
            return given
        case _:
            try:
                return msgspec.convert(dict(given), ToolSpec)
            except (msgspec.ValidationError, TypeError) as error:
                raise UserError(
                    f"A tool is not described as it should be: {error}.",
                    code="bad_argument",
                    setting="tools",
                    fix="Give name, description and parameters (a JSON Schema object), "
                    "or a function under @silu.tool.",
                ) from error


def ask(
    prompt: Prompt,
    *,
    model: str | None = None,
    level: LevelChoice | str = "default",
    system: str | None = None,
    settings: Settings | None = None,
) -> Reply:
    """One question and its whole answer, for scripts without asyncio.

    A call that failed raises `VendorError`. Inside a running event loop it raises `UserError`
    (`bad_argument`): there `await Client().ask(…)` does the same.
    """
    if _in_event_loop():
        raise UserError(
            "silu.ask() waits for the answer, and an event loop is running here.",
            code="bad_argument",
            fix="Use: async with silu.Client() as client: await client.ask(…)",
        )

    async def once() -> Reply:
        async with Client(settings) as client:
            return await client.ask(prompt, model=model, level=level, system=system)

    reply = asyncio.run(once())
    if reply.failure is not None:
        raise VendorError(reply.failure)
    return reply


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def models(*, settings: Settings | None = None) -> list[ModelInfo]:
    """All models that can be chosen now, each with what it can do, for scripts.

    Looks around first (keys, local servers), which takes up to a few seconds. Under a running
    event loop it works on a thread of its own and holds the loop up: `await client.models()`
    does not.
    """

    async def once() -> list[ModelInfo]:
        async with Client(settings) as client:
            return await client.models()

    if not _in_event_loop():
        return asyncio.run(once())
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, once()).result()


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


class AgentOptions(TypedDict, total=False):
    """What `Agent` takes by name beside the rest. `prompt` are words of yours in the system text;
    after `thinking_seconds`, or about `thinking_tokens`, of one call the answer begins."""

    prompt: str
    max_tokens: int | None
    temperature: float | None
    top_p: float | None
    thinking_seconds: float | None
    thinking_tokens: int | None


def _profile(how: AgentOptions) -> Profile:
    limit = ThinkingLimit(seconds=how.get("thinking_seconds"), tokens=how.get("thinking_tokens"))
    return Profile(
        name="library",
        sampling=Sampling(
            max_tokens=how.get("max_tokens"),
            temperature=how.get("temperature"),
            top_p=how.get("top_p"),
        ),
        thinking_limit=None if limit == ThinkingLimit() else limit,
    )


class Agent:
    """A conversation with tools, kept in memory.

    `tools` come beside those on the `workspace` folder: `Tool` values, such as functions under
    `@silu.tool`; `AgentOptions` hold for every call. One turn runs at a time. Everything said so
    far is in `session`.
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
        **how: Unpack[AgentOptions],
    ) -> None:
        self.client: Calls = client or Client()
        self.session = MemorySession(
            model or self.client.default_model(),
            workspace=Path(workspace).resolve(),
            mode=mode,
            level=level_choice(level),
        )
        self._owns_client = client is None
        self._tools: ToolBox = workspace_tools().plus(tools)
        prompt = how.get("prompt", "")
        self._settings = TurnSettings(
            limits=limits or Limits(),
            brief=lambda: Brief(prompt=prompt),
            agent=_profile(how),
        )
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
            level=None if level is None else level_choice(level),
            spawn=self._child,
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

    async def _turn(self, run: MemoryRun, settings: TurnSettings | None = None) -> None:
        await run_turn(
            journal=run,
            events=run,
            runs=run,
            blobs=run.session.blobs,
            client=self.client,
            tools=self._tools,
            settings=settings or self._settings,
        )

    async def _child(self, wish: ChildWish, depth: int) -> ChildEnd:
        """A sub-agent's whole turn, in a session of its own."""
        own = self.session
        session = MemorySession(
            own.model,
            workspace=own.workspace,
            mode=wish.mode,
            level=wish.level,
            language=own.language,
        )
        run = MemoryRun(session, session.ask(wish.prompt), spawn=self._child, depth=depth)
        await self._turn(run, replace(self._settings, brief=subagent_brief))
        done = done_of(run)
        assert done is not None, "a turn ends with its done fact"
        said = [m for m in session.messages.values() if m.role == "assistant"]
        answer = text_of(said[-1]) if said else ""
        return ChildEnd(status=done.status, reason=done.reason, answer=answer)

    def cancel(self) -> None:
        """Stop the running turn, if there is one."""
        if self._run is not None:
            self._run.cancel()

    def steer(self, text: str) -> None:
        """Say something to the running turn: it reaches the model at its next call."""
        if self._run is not None:
            self._run.steer(text)

    def answer_now(self) -> None:
        """End the running turn's thinking: it answers with what there is."""
        if self._run is not None:
            self._run.answer_now()

    def set_level(self, level: LevelChoice | str) -> None:
        """In force at the next model call, also of the running turn."""
        self.session.level = level_choice(level)
        if self._run is not None:
            self._run.set_level(level_choice(level))

    async def aclose(self) -> None:
        if self._owns_client:
            await self.client.aclose()

    async def __aenter__(self) -> "Agent":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
