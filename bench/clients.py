"""Clients to compare: each makes one streamed call and hands every delta's text to `on`.

`floor` is aiohttp and `floor.py`; `silu` the whole client; the others are what people use
today. Imports stand inside, so that a process pays only for the client it measures, and so that
this file also runs where silu is not installed.
"""

import os
from collections.abc import Awaitable, Callable
from typing import Any

On = Callable[[str], object]
Stream = Callable[[str, On], Awaitable[None]]
"""`stream(base_url, on)`: the base URL has no version."""

ASK = [{"role": "user", "content": "hi"}]
BODY = b'{"model":"bench-1","stream":true,"messages":[{"role":"user","content":"hi"}]}'
PATHS = {"openai-chat": "/v1/chat/completions", "anthropic-messages": "/v1/messages"}


def floor(dialect: str) -> Stream:
    import aiohttp

    from bench.floor import Floor

    sessions: list[aiohttp.ClientSession] = []
    headers = {"content-type": "application/json", "authorization": "Bearer x"}

    async def stream(base: str, on: On) -> None:
        if not sessions:
            sessions.append(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)))
        sink = Floor(dialect, on)
        url = base + PATHS[dialect]
        async with sessions[0].post(url, data=BODY, headers=headers) as answer:
            async for piece in answer.content.iter_any():
                sink.feed(piece)

    return stream


def silu(dialect: str, *, history: int = 0) -> Stream:
    """The whole client: settings, resolution, request, masks, decoding, the message built."""
    from bench.house import client_at, conversation
    from silu.types.calls import CallRequest
    from silu.types.events import TextDelta, ThinkingDelta

    clients: dict[str, Any] = {}
    model = "near/deepseek-v4-pro" if dialect == "openai-chat" else "near/claude-opus-4-6"
    request = CallRequest(model=model, messages=conversation(history), level="high")

    async def stream(base: str, on: On) -> None:
        client = clients.get(base)
        if client is None:
            client = clients[base] = client_at(base, dialect)
        async for event in client.stream(request):
            kind = type(event)
            if kind is ThinkingDelta or kind is TextDelta:
                on(event.text)

    return stream


def silu_history(dialect: str) -> Stream:
    return silu(dialect, history=200)


def silu_long_history(dialect: str) -> Stream:
    return silu(dialect, history=400)


def openai(_dialect: str) -> Stream:
    from openai import AsyncOpenAI

    clients: dict[str, Any] = {}

    async def stream(base: str, on: On) -> None:
        client = clients.get(base)
        if client is None:
            client = clients[base] = AsyncOpenAI(base_url=base + "/v1", api_key="x")
        answer = await client.chat.completions.create(model="bench-1", messages=ASK, stream=True)
        async for chunk in answer:
            if chunk.choices:
                _say(chunk.choices[0].delta, on)

    return stream


def anthropic(_dialect: str) -> Stream:
    from anthropic import AsyncAnthropic

    clients: dict[str, Any] = {}

    async def stream(base: str, on: On) -> None:
        client = clients.get(base)
        if client is None:
            client = clients[base] = AsyncAnthropic(base_url=base, api_key="x")
        thinking = {"type": "enabled", "budget_tokens": 2000}
        answer = await client.messages.create(
            model="bench-1", messages=ASK, max_tokens=9000, stream=True, thinking=thinking
        )
        async for event in answer:
            if event.type == "content_block_delta":
                delta = event.delta
                if delta.type == "thinking_delta":
                    on(delta.thinking)
                elif delta.type == "text_delta":
                    on(delta.text)

    return stream


def litellm(dialect: str) -> Stream:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm as library

    chat = dialect == "openai-chat"
    model = "openai/bench-1" if chat else "anthropic/claude-sonnet-4-5"

    async def stream(base: str, on: On) -> None:
        answer = await library.acompletion(
            model=model,
            messages=ASK,
            stream=True,
            api_key="x",
            api_base=base + "/v1" if chat else base,
        )
        async for chunk in answer:
            if chunk.choices:
                _say(chunk.choices[0].delta, on)

    return stream


def pydantic_ai(dialect: str) -> Stream:
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.messages import ModelRequest, PartDeltaEvent, PartStartEvent

    models: dict[str, Any] = {}

    async def stream(base: str, on: On) -> None:
        model = models.get(base)
        if model is None:
            model = models[base] = _pydantic_model(base, dialect)
        ask = [ModelRequest.user_text_prompt("hi")]
        async with model_request_stream(model, ask) as answer:
            async for event in answer:
                if isinstance(event, PartDeltaEvent):
                    text = getattr(event.delta, "content_delta", None)
                elif isinstance(event, PartStartEvent):
                    text = getattr(event.part, "content", None)
                else:
                    continue
                if text:
                    on(text)

    return stream


def _pydantic_model(base: str, dialect: str) -> Any:
    if dialect == "openai-chat":
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        provider = OpenAIProvider(base_url=base + "/v1", api_key="x")
        return OpenAIChatModel("bench-1", provider=provider)
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    sdk = AsyncAnthropic(base_url=base, api_key="x")
    return AnthropicModel("bench-1", provider=AnthropicProvider(anthropic_client=sdk))


def _say(delta: Any, on: On) -> None:
    text = getattr(delta, "reasoning_content", None) or delta.content
    if text:
        on(text)


OURS: dict[str, Callable[[str], Stream]] = {
    "floor": floor,
    "silu": silu,
    "silu, 200 messages": silu_history,
    "silu, 400 messages": silu_long_history,
}
PEERS: dict[str, tuple[Callable[[str], Stream], tuple[str, ...]]] = {
    "openai": (openai, ("openai-chat",)),
    "anthropic": (anthropic, ("anthropic-messages",)),
    "litellm": (litellm, ("openai-chat", "anthropic-messages")),
    "pydantic-ai": (pydantic_ai, ("openai-chat", "anthropic-messages")),
}
"""A peer and the dialects it speaks."""


def make(name: str, dialect: str) -> Stream:
    return OURS[name](dialect) if name in OURS else PEERS[name][0](dialect)
