"""The compatible routes, used as their own official clients use them."""

import json
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import aiohttp
import anthropic
import openai
import pytest

from silu.config import Endpoint
from silu.fakes import FakeAnthropic, FakeDeepSeek, Trouble, answer, play, serve
from silu.fakes.script import Call, Think
from silu.types.errors import Failure
from tests.gateway.house import TOKEN, Workspace, http

pytestmark = pytest.mark.anyio

DEEPSEEK = "near/deepseek-v4-flash"
CLAUDE = "far/claude-opus-4-8"

WEATHER_OPENAI: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a place.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    },
}
WEATHER_ANTHROPIC: Any = {
    "name": "weather",
    "description": "The weather of a place.",
    "input_schema": {"type": "object", "properties": {"place": {"type": "string"}}},
}


class Setup(NamedTuple):
    """Two strict vendors of different dialects behind one gateway, and both official clients."""

    deepseek: FakeDeepSeek
    claude: FakeAnthropic
    openai: openai.AsyncOpenAI
    anthropic: anthropic.AsyncAnthropic
    workspace: Workspace


@pytest.fixture
async def house(workspace: Workspace) -> AsyncIterator[Setup]:
    deepseek, claude = FakeDeepSeek(), FakeAnthropic()
    async with serve(deepseek) as near, serve(claude) as far:
        workspace.add_endpoint(
            Endpoint(
                name="near",
                url=near,
                like="deepseek",
                key_env="NEAR_KEY",
                models=(DEEPSEEK.partition("/")[2],),
            )
        )
        workspace.add_endpoint(
            Endpoint(
                name="far",
                url=far,
                like="anthropic",
                key_env="FAR_KEY",
                models=(CLAUDE.partition("/")[2],),
            )
        )
        workspace.start()
        async with (
            openai.AsyncOpenAI(base_url=f"{workspace.url}v1", api_key=TOKEN, max_retries=0) as chat,
            anthropic.AsyncAnthropic(
                base_url=workspace.url, api_key=TOKEN, max_retries=0
            ) as messages,
        ):
            yield Setup(deepseek, claude, chat, messages, workspace)


async def test_both_clients_list_the_models(house: Setup) -> None:
    assert {DEEPSEEK, CLAUDE} <= {model.id async for model in house.openai.models.list()}
    assert {DEEPSEEK, CLAUDE} <= {model.id async for model in house.anthropic.models.list()}
    assert (await house.openai.models.retrieve(DEEPSEEK)).owned_by == "near"


@pytest.mark.parametrize("model", [DEEPSEEK, CLAUDE])
async def test_an_openai_client_gets_thinking_from_every_vendor(house: Setup, model: str) -> None:
    for fake in (house.deepseek, house.claude):
        fake.script = lambda _asked: answer(Think("Two and two."), "Four.")
    whole: Any = await house.openai.chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": "2 + 2?"}],
        reasoning_effort="high",
    )
    message = whole.choices[0].message
    assert message.content == "Four."
    assert message.reasoning_content == "Two and two."
    assert whole.choices[0].finish_reason == "stop"
    assert whole.usage.completion_tokens > 0
    thought, said, usage = "", "", None
    stream: Any = await house.openai.chat.completions.create(
        model=model,
        messages=[{"role": "user", "content": "2 + 2?"}],
        reasoning_effort="high",
        stream=True,
        stream_options={"include_usage": True},
    )
    async for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            thought += getattr(choice.delta, "reasoning_content", None) or ""
            said += choice.delta.content or ""
    assert (thought, said) == ("Two and two.", "Four.")
    assert usage is not None
    assert house.deepseek.refusals == house.claude.refusals == []


@pytest.mark.parametrize("model", [DEEPSEEK, CLAUDE])
async def test_an_anthropic_client_gets_thinking_blocks_from_every_vendor(
    house: Setup, model: str
) -> None:
    for fake in (house.deepseek, house.claude):
        fake.script = lambda _asked: answer(Think("Two and two."), "Four.")
    ask: Any = {
        "model": model,
        "max_tokens": 20_000,
        "thinking": {"type": "enabled", "budget_tokens": 8000},
        "messages": [{"role": "user", "content": "2 + 2?"}],
    }
    whole = await house.anthropic.messages.create(**ask, timeout=30)
    assert [block.type for block in whole.content] == ["thinking", "text"]
    assert whole.content[0].thinking == "Two and two."  # type: ignore[union-attr] - a thought
    assert whole.stop_reason == "end_turn"
    async with house.anthropic.messages.stream(**ask) as stream:
        kinds = [event.type async for event in stream]
        final = await stream.get_final_message()
    assert "thinking" in kinds
    assert "Four." in str(final.content[-1])
    assert final.usage.output_tokens > 0


@pytest.mark.parametrize("model", [DEEPSEEK, CLAUDE])
async def test_a_tool_loop_of_a_client_that_sends_no_thinking_back_is_accepted(
    house: Setup, model: str
) -> None:
    """Both vendors refuse a tool loop without the thinking that led to the call."""
    fake = house.deepseek if model == DEEPSEEK else house.claude
    fake.script = play(
        answer(Think("I must look."), Call("weather", {"place": "Kyoto"})),
        answer(Think("It rains."), "Take an umbrella."),
        answer(Think("Again."), "Yes."),
    )
    history: list[Any] = [{"role": "user", "content": "Do I need an umbrella in Kyoto?"}]

    async def next_answer() -> Any:
        done: Any = await house.openai.chat.completions.create(
            model=model, messages=history, tools=[WEATHER_OPENAI], reasoning_effort="high"
        )
        return done.choices[0]

    choice = await next_answer()
    assert choice.finish_reason == "tool_calls"
    call = choice.message.tool_calls[0]
    assert json.loads(call.function.arguments) == {"place": "Kyoto"}
    plain = {"role": "assistant", "content": choice.message.content or ""}
    calls = [{"id": call.id, "type": "function", "function": call.function.model_dump()}]
    history.append({**plain, "tool_calls": calls})
    history.append({"role": "tool", "tool_call_id": call.id, "content": "rain"})
    choice = await next_answer()
    assert choice.message.content == "Take an umbrella."
    history.append({"role": "assistant", "content": choice.message.content})
    history.append({"role": "user", "content": "Sure?"})
    assert (await next_answer()).message.content == "Yes."
    assert fake.refusals == []
    assert "I must look." in json.dumps(fake.bodies[-1])


async def test_a_tool_loop_goes_on_after_a_restart_of_the_gateway(house: Setup) -> None:
    house.claude.script = play(
        answer(Think("I must look."), Call("weather", {"place": "Kyoto"})),
        answer("Take an umbrella."),
    )
    history: list[Any] = [{"role": "user", "content": "Do I need an umbrella in Kyoto?"}]

    async def next_answer() -> Any:
        base = f"{house.workspace.url}v1"
        async with openai.AsyncOpenAI(base_url=base, api_key=TOKEN, max_retries=0) as chat:
            done: Any = await chat.chat.completions.create(
                model=CLAUDE, messages=history, tools=[WEATHER_OPENAI], reasoning_effort="high"
            )
            return done.choices[0].message

    first = await next_answer()
    house.workspace.kill()
    house.workspace.start()
    calls = [call.model_dump() for call in first.tool_calls]
    history += [
        {"role": "assistant", "content": first.content or "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": calls[0]["id"], "content": "rain"},
    ]
    assert (await next_answer()).content == "Take an umbrella."
    assert house.claude.refusals == []
    assert "I must look." in json.dumps(house.claude.bodies[-1])


async def test_a_programs_token_opens_its_models_at_its_rate_until_it_is_revoked(
    house: Setup,
) -> None:
    house.deepseek.script = play(*[answer("Hi.") for _ in range(3)])
    async with http(house.workspace) as web:
        made = await web(
            "POST", "/tokens", {"name": "editor", "models": ["near/*"], "per_minute": 2}
        )
        base = f"{house.workspace.url}v1"
        async with openai.AsyncOpenAI(
            base_url=base, api_key=made["text"], max_retries=0
        ) as program:

            async def ask(model: str) -> str:
                talk: Any = [{"role": "user", "content": "Hello"}]
                done = await program.chat.completions.create(model=model, messages=talk)
                return str(done.choices[0].message.content)

            assert await ask(DEEPSEEK) == "Hi."
            assert {model.id async for model in program.models.list()} == {DEEPSEEK}
            with pytest.raises(openai.NotFoundError, match="does not open"):
                await ask(CLAUDE)
            with pytest.raises(openai.RateLimitError) as slow:
                await ask(DEEPSEEK)
            assert int(slow.value.response.headers["retry-after"]) > 0
            (listed,) = (await web("GET", "/tokens"))["tokens"]
            assert (listed["name"], listed["models"]) == ("editor", ["near/*"])
            assert made["text"] not in json.dumps(listed)
            await web("DELETE", f"/tokens/{listed['id']}")
            with pytest.raises(openai.AuthenticationError):
                await ask(DEEPSEEK)
            await web("DELETE", f"/tokens/{listed['id']}", status=404)


async def test_a_programs_token_opens_nothing_but_the_compatible_routes(demo: Workspace) -> None:
    async with http(demo) as web:
        made = await web("POST", "/tokens", {"name": "editor"})
        headers = {"Authorization": f"Bearer {made['text']}"}
        for path in ("sessions", "settings", "tokens", "openapi.json"):
            async with web.session.get(f"{web.base}/{path}", headers=headers) as told:
                assert told.status == 403
                assert (await told.json())["error"]["code"] == "wrong_scope"
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            async with web.session.ws_connect(demo.ws_url, headers=headers):
                pass
        assert refused.value.status == 403


async def test_a_json_bomb_is_refused_before_it_is_read(demo: Workspace) -> None:
    bomb = b'{"model":"demo/thinker","messages":[' + b"[]," * 1_500_000 + b"[]]}"
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{demo.url}v1/chat/completions", data=bomb) as told,
    ):
        assert told.status == 400
        assert "more values" in (await told.json())["error"]["message"]


async def test_an_anthropic_clients_own_thinking_blocks_do_no_harm(house: Setup) -> None:
    house.claude.script = play(
        answer(Think("I must look."), Call("weather", {"place": "Kyoto"})),
        answer(Think("It rains."), "Take an umbrella."),
    )
    ask: Any = {
        "model": CLAUDE,
        "max_tokens": 20_000,
        "thinking": {"type": "adaptive"},
        "tools": [WEATHER_ANTHROPIC],
    }
    history: list[Any] = [{"role": "user", "content": "Umbrella?"}]
    first = await house.anthropic.messages.create(**ask, messages=history, timeout=30)
    assert first.stop_reason == "tool_use"
    history.append({"role": "assistant", "content": [b.model_dump() for b in first.content]})
    use = next(block for block in first.content if block.type == "tool_use")
    result = {"type": "tool_result", "tool_use_id": use.id, "content": "rain"}
    history.append({"role": "user", "content": [result]})
    second = await house.anthropic.messages.create(**ask, messages=history, timeout=30)
    assert "umbrella" in str(second.content[-1])
    assert house.claude.refusals == []


async def test_failures_come_as_the_clients_own_errors(house: Setup) -> None:
    hello: Any = [{"role": "user", "content": "Hello"}]
    with pytest.raises(openai.NotFoundError):
        await house.openai.chat.completions.create(model="nowhere/none", messages=hello)
    wrong: Any = "enormous"
    with pytest.raises(openai.BadRequestError, match="enormous") as refused:
        await house.openai.chat.completions.create(
            model=DEEPSEEK, messages=hello, reasoning_effort=wrong
        )
    assert refused.value.param == "reasoning_effort"
    house.deepseek.key = "another"
    with pytest.raises(openai.AuthenticationError, match="NEAR_KEY"):
        await house.openai.chat.completions.create(model=DEEPSEEK, messages=hello, stream=True)
    with pytest.raises(anthropic.AuthenticationError):
        await house.anthropic.messages.create(model=DEEPSEEK, messages=hello, max_tokens=99)
    async with openai.AsyncOpenAI(
        base_url=f"{house.workspace.url}v1", api_key="wrong", max_retries=0
    ) as stranger:
        with pytest.raises(openai.AuthenticationError):
            await stranger.models.list()


async def test_a_vendor_that_fails_in_the_stream_is_told_in_the_stream(house: Setup) -> None:
    failure = Failure(kind="overloaded", message="too busy", status=503)
    house.deepseek.script = lambda _asked: answer("One two three four five six.", step=4)
    house.deepseek.troubles.extend([Trouble(after=3, then="error", failure=failure)] * 9)
    hello: Any = [{"role": "user", "content": "Hello"}]
    said = ""
    with pytest.raises(openai.APIError):
        stream: Any = await house.openai.chat.completions.create(
            model=DEEPSEEK, messages=hello, stream=True
        )
        async for chunk in stream:
            said += chunk.choices[0].delta.content or ""
    assert said.startswith("One")


async def test_a_retry_after_a_shown_thought_goes_on_in_the_same_stream(house: Setup) -> None:
    house.deepseek.script = lambda _asked: answer(Think("Let me think."), "Done.", step=4)
    house.deepseek.troubles.append(Trouble(after=2, then="cut"))
    hello: Any = [{"role": "user", "content": "Hello"}]
    async with house.anthropic.messages.stream(
        model=DEEPSEEK, messages=hello, max_tokens=20_000
    ) as stream:
        final = await stream.get_final_message()
    assert [block.type for block in final.content] == ["thinking", "thinking", "text"]
    assert "Done." in str(final.content[-1])


async def test_stop_sequences_end_the_answer(house: Setup) -> None:
    house.deepseek.script = lambda _asked: answer("alpha beta STOP gamma", step=3)
    hello: Any = [{"role": "user", "content": "Hello"}]
    whole: Any = await house.openai.chat.completions.create(
        model=DEEPSEEK, messages=hello, stop=["STOP"]
    )
    assert whole.choices[0].message.content == "alpha beta "
    reply = await house.anthropic.messages.create(
        model=DEEPSEEK, messages=hello, max_tokens=99, stop_sequences=["nothing", "beta"]
    )
    assert reply.content[-1].text == "alpha "  # type: ignore[union-attr] - a text block
    assert reply.stop_reason == "stop_sequence"


async def test_a_client_that_goes_away_stops_its_call(house: Setup) -> None:
    house.deepseek.rate = 20
    house.deepseek.script = lambda _asked: answer(Think("Long. " * 400), "Never.")
    hello: Any = [{"role": "user", "content": "Hello"}]
    stream: Any = await house.openai.chat.completions.create(
        model=DEEPSEEK, messages=hello, stream=True
    )
    async for _chunk in stream:
        break
    await stream.close()
    house.deepseek.rate = None
    house.deepseek.script = lambda _asked: answer("Still here.")
    again: Any = await house.openai.chat.completions.create(model=DEEPSEEK, messages=hello)
    assert again.choices[0].message.content == "Still here."
