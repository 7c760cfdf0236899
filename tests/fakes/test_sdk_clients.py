"""The official SDKs understand what the fakes send, streamed and whole."""

from typing import Any

import anthropic
import openai
import pytest

from silu import fakes
from silu.fakes import Call, Think, answer, play

pytestmark = pytest.mark.anyio

TOOL = {"name": "weather", "description": "", "input_schema": {"type": "object"}}
FUNCTION: Any = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}},
}
PAIR = (
    answer(Think("Rain or sun? 雨か。"), Call("weather", {"city": "Zürich"})),
    answer(Think("Now I know."), "It rains in Zürich. 下雨。"),
)


def openai_client(url: str) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=url, api_key="test-key", max_retries=0)


def anthropic_client(url: str) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(base_url=url, api_key="test-key", max_retries=0)


async def test_openai_sdk_reads_thinking_text_and_usage_of_a_stream() -> None:
    fake = fakes.CompatServer(play(PAIR[1]))
    async with fakes.serve(fake) as url, openai_client(url) as client:
        stream = await client.chat.completions.create(
            model="local-model",
            messages=[{"role": "user", "content": "hi"}],
            stream=True,
            stream_options={"include_usage": True},
        )
        thought, text, usage, finish = "", "", None, None
        async for chunk in stream:
            for choice in chunk.choices:
                thought += getattr(choice.delta, "reasoning_content", None) or ""
                text += choice.delta.content or ""
                finish = choice.finish_reason or finish
            usage = chunk.usage or usage
    assert (thought, text) == ("Now I know.", "It rains in Zürich. 下雨。")
    assert finish == "stop"
    assert usage is not None
    assert usage.completion_tokens_details is not None
    assert usage.completion_tokens_details.reasoning_tokens == 3


@pytest.mark.parametrize("streamed", [True, False])
async def test_openai_sdk_gets_a_whole_tool_loop_from_deepseek(streamed: bool) -> None:
    fake = fakes.FakeDeepSeek(play(*PAIR))
    messages: list[Any] = [{"role": "user", "content": "Weather?"}]
    async with fakes.serve(fake) as url, openai_client(url) as client:
        first = await _chat_turn(client, messages, streamed)
        messages += [first, _result(first["tool_calls"][0]["id"])]
        second = await _chat_turn(client, messages, streamed)
    assert first["reasoning_content"] == "Rain or sun? 雨か。"
    assert first["tool_calls"][0]["function"] == {
        "name": "weather",
        "arguments": '{"city":"Zürich"}',
    }
    assert second["content"] == "It rains in Zürich. 下雨。"
    assert fake.refusals == []


def _result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "rain"}


async def _chat_turn(client: openai.AsyncOpenAI, messages: Any, streamed: bool) -> dict[str, Any]:
    if not streamed:
        whole = await client.chat.completions.create(
            model="deepseek-v4-pro", messages=messages, tools=[FUNCTION]
        )
        return whole.choices[0].message.model_dump(exclude_none=True)
    async with client.chat.completions.stream(
        model="deepseek-v4-pro", messages=messages, tools=[FUNCTION]
    ) as stream:
        thought = ""
        async for event in stream:
            if event.type == "chunk":
                for choice in event.chunk.choices:
                    thought += getattr(choice.delta, "reasoning_content", None) or ""
        message = (await stream.get_final_completion()).choices[0].message
    out: dict[str, Any] = {"role": "assistant", "content": message.content}
    out["reasoning_content"] = thought
    if message.tool_calls:
        out["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in message.tool_calls
        ]
    return out


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("model", ["claude-opus-4-6", "claude-fable-5-1", "claude-sonnet-5"])
async def test_anthropic_sdk_gets_a_whole_tool_loop(model: str, streamed: bool) -> None:
    fake = fakes.FakeAnthropic(play(*PAIR))
    messages: list[Any] = [{"role": "user", "content": "Weather?"}]
    async with fakes.serve(fake) as url, anthropic_client(url) as client:
        first = await _claude_turn(client, model, messages, streamed)
        thought, call = first.content
        messages.append({"role": "assistant", "content": [b.model_dump() for b in first.content]})
        messages[-1]["content"] = [_plain(b) for b in messages[-1]["content"]]
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "rain"}
        messages.append({"role": "user", "content": [result]})
        second = await _claude_turn(client, model, messages, streamed)
    assert thought.type == "thinking"
    assert thought.thinking == "Rain or sun? 雨か。"
    assert thought.signature
    assert call.input == {"city": "Zürich"}
    assert first.stop_reason == "tool_use"
    assert second.content[-1].text == "It rains in Zürich. 下雨。"
    assert fake.refusals == []


def _plain(block: dict[str, Any]) -> dict[str, Any]:
    keep = ("type", "thinking", "signature", "data", "text", "id", "name", "input")
    return {key: value for key, value in block.items() if key in keep}


async def _claude_turn(client: anthropic.AsyncAnthropic, model: str, messages: Any, streamed: bool):
    asked: Any = {
        "model": model,
        "max_tokens": 4096,
        "messages": messages,
        "tools": [TOOL],
        "thinking": {"type": "adaptive", "display": "summarized"},
    }
    if not streamed:
        return await client.messages.create(**asked)
    async with client.messages.stream(**asked) as stream:
        async for _ in stream:
            pass
        return await stream.get_final_message()


async def test_omitted_thinking_arrives_empty_and_signed() -> None:
    fake = fakes.FakeAnthropic(play(answer(Think("hidden"), "seen")))
    async with fakes.serve(fake) as url, anthropic_client(url) as client:
        message = await client.messages.create(
            model="claude-opus-4-8",
            max_tokens=100,
            messages=[{"role": "user", "content": "hi"}],
            thinking={"type": "adaptive"},
        )
    assert message.content[0].type == "thinking"
    assert message.content[0].thinking == ""
    assert message.content[0].signature
    assert message.usage.output_tokens_details is not None
    assert message.usage.output_tokens_details.thinking_tokens == 2


async def test_redacted_thinking_arrives_as_data() -> None:
    fake = fakes.FakeAnthropic(play(answer(Think("secret", redacted=True), "seen")))
    async with (
        fakes.serve(fake) as url,
        anthropic_client(url) as client,
        client.messages.stream(
            model="claude-sonnet-4-6",
            max_tokens=4096,
            messages=[{"role": "user", "content": "hi"}],
            thinking={"type": "adaptive"},
        ) as stream,
    ):
        message = await stream.get_final_message()
    assert [block.type for block in message.content] == ["redacted_thinking", "text"]


async def test_anthropic_sdk_drives_the_deepseek_endpoint() -> None:
    fake = fakes.FakeDeepSeek(play(*PAIR))
    async with fakes.serve(fake) as url, anthropic_client(url + "/anthropic") as client:
        message = await client.messages.create(
            model="deepseek-v4-flash",
            max_tokens=100,
            messages=[{"role": "user", "content": "hi"}],
            thinking={"type": "enabled", "budget_tokens": 1024},
        )
    assert [block.type for block in message.content] == ["thinking", "tool_use"]


async def test_sdk_errors_carry_the_vendors_type_and_status() -> None:
    said: Any = [{"role": "user", "content": "x"}]
    async with (
        fakes.serve(fakes.FakeAnthropic(key="other")) as url,
        anthropic_client(url) as client,
    ):
        with pytest.raises(anthropic.AuthenticationError):
            await client.messages.create(model="claude-opus-5", max_tokens=9, messages=said)
    async with fakes.serve(fakes.FakeAnthropic()) as url, anthropic_client(url) as client:
        with pytest.raises(anthropic.NotFoundError):
            await client.messages.create(model="claude-opus-9", max_tokens=9, messages=said)
    async with fakes.serve(fakes.CompatServer()) as url, openai_client(url) as other:
        with pytest.raises(openai.NotFoundError) as caught:
            await other.chat.completions.create(model="nope", messages=said)
    assert caught.value.code == "model_not_found"
