"""Hand-written requests against the fake OpenAI, and the official SDK as its client."""

from typing import Any

import openai
import pytest

from silu import fakes
from silu.fakes import Call, FakeOpenAI, Think, answer, play
from tests.fakes.rawhttp import Raw, post

pytestmark = pytest.mark.anyio

KEY = {"authorization": "Bearer test-key"}
ASK = {"role": "user", "content": "hi"}
TOOL = {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {}}}
CHAT_TOOL = {"type": "function", "function": {"name": "look"}}
CALL = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
DONE = {"type": "function_call_output", "call_id": "c1", "output": "seen"}
SAID = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "a"}],
}
NAMELESS = {"role": "assistant", "content": "a"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
SEALED = {"include": ["reasoning.encrypted_content"], "store": False}


def effort(word: str) -> dict[str, Any]:
    return {"reasoning": {"effort": word}}


# model, refused fields, status, param, code, words, passing fields
RULES: list[tuple[str, dict[str, Any], str | None, str | None, str, dict[str, Any]]] = [
    (
        "gpt-5.1",
        effort("minimal"),
        "reasoning.effort",
        "unsupported_value",
        "'none', 'low', 'medium', and 'high'",
        effort("none"),
    ),
    (
        "gpt-5",
        effort("none"),
        "reasoning.effort",
        "unsupported_value",
        "'minimal', 'low'",
        effort("minimal"),
    ),
    ("gpt-5-pro", effort("low"), "reasoning.effort", "unsupported_value", "'high'", effort("high")),
    (
        "gpt-6.2-sol",
        effort("none"),
        "reasoning.effort",
        "unsupported_value",
        "'low'",
        effort("max"),
    ),
    ("gpt-5.5", effort("max"), "reasoning.effort", "unsupported_value", "'xhigh'", effort("xhigh")),
    (
        "gpt-5.1-chat-latest",
        effort("none"),
        "reasoning.effort",
        "unsupported_value",
        "'medium'",
        effort("medium"),
    ),
    (
        "gpt-5-chat-latest",
        effort("low"),
        "reasoning.effort",
        "unsupported_parameter",
        "not supported with this model",
        {"temperature": 0.5},
    ),
    (
        "gpt-5",
        {"reasoning": {"level": "low"}},
        "reasoning.level",
        "unknown_parameter",
        "Unknown parameter",
        {"reasoning": {"summary": "auto"}},
    ),
    (
        "gpt-5",
        {"reasoning": {"summary": "full"}},
        "reasoning.summary",
        None,
        "Supported values are",
        {"reasoning": {"summary": "detailed"}},
    ),
    ("gpt-5", {"temperature": 1}, "temperature", "unsupported_parameter", "not supported", {}),
    (
        "gpt-5.4",
        {"temperature": 1, **effort("low")},
        "temperature",
        "unsupported_parameter",
        "not supported",
        {"temperature": 1},
    ),
    (
        "gpt-6-sol",
        {"top_p": 1, **effort("none")},
        "top_p",
        "unsupported_parameter",
        "not supported",
        effort("none"),
    ),
    (
        "gpt-5",
        {"max_output_tokens": 15},
        "max_output_tokens",
        None,
        "value >= 16",
        {"max_output_tokens": 16},
    ),
    (
        "gpt-5",
        {"max_tokens": 99},
        "max_tokens",
        "unknown_parameter",
        "Unknown parameter: 'max_tokens'",
        {},
    ),
    ("gpt-5", {"messages": [ASK]}, "messages", "unknown_parameter", "Unknown parameter", {}),
    (
        "gpt-5",
        {"tools": [CHAT_TOOL]},
        "tools[0].name",
        "missing_required_parameter",
        "Missing",
        {"tools": [TOOL]},
    ),
    (
        "gpt-5",
        {"input": [{"role": "tool", "content": "x"}]},
        "input[0].role",
        None,
        "Invalid value: 'tool'",
        {"input": "hi"},
    ),
    (
        "gpt-5",
        {"input": [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}, ASK]},
        "input[0].content[0]",
        None,
        "'output_text'",
        {"input": [SAID, ASK]},
    ),
    (
        "gpt-5",
        {"input": [ASK, CALL]},
        "input",
        None,
        "No tool output found for function call c1",
        {"input": [ASK, CALL, DONE]},
    ),
    ("gpt-5", {"input": [ASK, DONE]}, "input", None, "No tool call found", {}),
    (
        "gpt-5",
        {"input": [ASK, THOUGHT, ASK]},
        "input",
        None,
        "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        {"input": [ASK, THOUGHT, SAID, ASK]},
    ),
    (
        "gpt-5",
        {"input": [ASK, THOUGHT, NAMELESS, ASK]},
        "input",
        None,
        "without its required following item",
        {"input": [ASK, NAMELESS, ASK]},
    ),
    (
        "gpt-5",
        {"input": [ASK, {**THOUGHT, "status": "completed"}, SAID, ASK]},
        "input[1].status",
        "unknown_parameter",
        "Unknown parameter: 'input[1].status'",
        {},
    ),
    (
        "gpt-5",
        {"input": [ASK, {"type": "reasoning", "id": "rs_1"}, SAID]},
        "input[1].summary",
        "missing_required_parameter",
        "Missing",
        {},
    ),
    (
        "gpt-5",
        {"input": [ASK, {**CALL, "id": "call_1"}, DONE]},
        "input[1].id",
        None,
        "begins with 'fc'",
        {"input": [ASK, {**CALL, "id": "fc_1"}, DONE]},
    ),
    (
        "gpt-5",
        {"input": [ASK, {**THOUGHT, "encrypted_content": "no"}, SAID, ASK]},
        None,
        "invalid_encrypted_content",
        "The encrypted content for item rs_1 could not be verified. Reason: ",
        {},
    ),
]


async def send(fake: FakeOpenAI, fields: dict[str, Any], path: str = "/responses") -> Raw:
    async with fakes.serve(fake) as url:
        return await post(url + path, fields, KEY)


@pytest.mark.parametrize(("model", "bad", "param", "code", "words", "good"), RULES)
async def test_a_rule_refuses_the_bad_request_and_passes_the_good_one(
    model: str,
    bad: dict[str, Any],
    param: str | None,
    code: str | None,
    words: str,
    good: dict[str, Any],
) -> None:
    whole = {"model": model, "input": [ASK]}
    refused = await send(FakeOpenAI(), {**whole, **bad})
    error = refused.json()["error"]
    assert refused.status == 400
    assert (error["param"], error["code"]) == (param, code)
    assert words in error["message"]
    passed = await send(FakeOpenAI(), {**whole, **good})
    assert passed.status == 200, passed.body


CHAT_RULES: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    (
        "gpt-5",
        {"max_tokens": 99},
        "Use 'max_completion_tokens' instead",
        {"max_completion_tokens": 99},
    ),
    ("gpt-5", {"reasoning_effort": "none"}, "Supported values are", {"reasoning_effort": "low"}),
    ("gpt-5", {"reasoning": {"effort": "low"}}, "Unknown parameter: 'reasoning'", {}),
    ("gpt-5.4", {"temperature": 0, "reasoning_effort": "low"}, "'temperature'", {"temperature": 0}),
    (
        "gpt-6-sol",
        {"tools": [CHAT_TOOL]},
        "over v1/responses only",
        {"model": "gpt-5.6-sol", "tools": [CHAT_TOOL]},
    ),
    (
        "gpt-5",
        {"messages": [ASK, {"role": "assistant", "content": "a", "reasoning_content": "b"}, ASK]},
        "messages[1].reasoning_content",
        {},
    ),
]


@pytest.mark.parametrize(("model", "bad", "words", "good"), CHAT_RULES)
async def test_chat_has_its_own_fields(
    model: str, bad: dict[str, Any], words: str, good: dict[str, Any]
) -> None:
    whole = {"model": model, "messages": [ASK]}
    refused = await send(FakeOpenAI(), {**whole, **bad}, "/chat/completions")
    assert refused.status == 400
    assert words in refused.json()["error"]["message"]
    passed = await send(FakeOpenAI(), {**whole, **good}, "/chat/completions")
    assert passed.status == 200, passed.body


async def test_chat_never_shows_the_thought_and_counts_it() -> None:
    body = {"model": "gpt-5", "messages": [ASK]}
    raw = await send(FakeOpenAI(play(answer(Think("abcdefgh"), "x"))), body, "/chat/completions")
    assert "reasoning_content" not in raw.json()["choices"][0]["message"]
    assert raw.json()["usage"]["completion_tokens_details"]["reasoning_tokens"] == 2


async def test_an_unverified_organisation_gets_no_summaries() -> None:
    body = {"model": "gpt-5", "input": "hi", "reasoning": {"summary": "auto"}}
    raw = await send(FakeOpenAI(summaries=False), body)
    assert raw.json()["error"]["param"] == "reasoning.summary"
    assert "must be verified to generate reasoning summaries" in raw.json()["error"]["message"]


LOOP = (answer(Think("Let me look. 看"), Call("look", {"a": 1})), answer(Think("ok"), "Done."))


async def turn(client: openai.AsyncOpenAI, items: list[Any], streamed: bool, **more: Any) -> Any:
    asked: Any = {
        "model": "gpt-5.6-sol",
        "input": items,
        "tools": [TOOL],
        "reasoning": {"effort": "high", "summary": "auto"},
        **SEALED,
        **more,
    }
    if not streamed:
        return await client.responses.create(**asked)
    async with client.responses.stream(**asked) as stream:
        async for _ in stream:
            pass
        return await stream.get_final_response()


@pytest.mark.parametrize("streamed", [True, False])
async def test_the_sdk_drives_a_tool_loop_and_the_sealed_item_has_to_come_back(
    streamed: bool,
) -> None:
    fake = FakeOpenAI(play(*LOOP, *LOOP))
    items: list[Any] = [ASK]
    async with (
        fakes.serve(fake) as url,
        openai.AsyncOpenAI(base_url=url, api_key="test-key", max_retries=0) as client,
    ):
        first = await turn(client, items, streamed)
        thought, call = first.output
        assert thought.summary[0].text == "Let me look. 看"
        assert thought.encrypted_content
        assert (call.name, call.arguments) == ("look", '{"a":1}')
        back = {
            "type": "reasoning",
            "id": thought.id,
            "summary": [{"type": "summary_text", "text": thought.summary[0].text}],
            "encrypted_content": thought.encrypted_content,
        }
        made = {**CALL, "id": call.id, "call_id": call.call_id, "arguments": call.arguments}
        done = {**DONE, "call_id": call.call_id}
        second = await turn(client, [ASK, back, made, done], streamed)
        assert second.output_text == "Done."
        assert second.usage.output_tokens_details.reasoning_tokens == 1
        with pytest.raises(openai.BadRequestError, match="without its required 'reasoning' item"):
            await turn(client, [ASK, made, done], streamed)
        with pytest.raises(openai.BadRequestError, match="could not be verified"):
            await turn(client, [ASK, back, made, done], streamed, model="gpt-5.6-luna")


async def test_since_six_two_a_foreign_item_is_dropped_and_reported() -> None:
    items = [ASK, {**THOUGHT, "encrypted_content": "foreign"}, SAID, ASK]
    raw = await send(FakeOpenAI(), {"model": "gpt-6.2-sol", "input": items})
    assert raw.status == 200
    assert raw.json()["input_transformations"][0]["reason"] == "model_mismatch"


async def test_a_cut_answer_is_incomplete_with_its_reason() -> None:
    fake = FakeOpenAI(play(answer(Think("x"), "half an ans", finish="length")))
    raw = await send(fake, {"model": "gpt-5", "input": "hi"})
    assert raw.json()["status"] == "incomplete"
    assert raw.json()["incomplete_details"] == {"reason": "max_output_tokens"}
