"""Hand-written requests against the fake DeepSeek: both endpoints, and the echo byte for byte."""

from typing import Any

import pytest

from silu import fakes
from silu.fakes import Call, FakeDeepSeek, Think, answer, play
from tests.fakes.rawhttp import Raw, get, post

pytestmark = pytest.mark.anyio

KEY = {"authorization": "Bearer test-key"}
MESSAGES_KEY = {"x-api-key": "test-key"}
ASK = {"role": "user", "content": "hi"}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
PLAIN_TOOL = {"name": "look", "input_schema": {"type": "object"}}
ECHO = "The `reasoning_content` in the thinking mode must be passed back to the API."


def call(**more: Any) -> dict[str, Any]:
    made = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [made], **more}


DONE = {"role": "tool", "tool_call_id": "c1", "content": "seen"}
LOOP = [ASK, call(reasoning_content=" "), DONE]

RULES: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"model": "deepseek-chat"}, "Model Not Exist", {}),
    ({"messages": None}, "missing field `messages`", {}),
    (
        {"messages": [{"role": "developer", "content": "x"}, ASK]},
        "messages[0].role: unknown variant `developer`, expected one of `system`, `user`",
        {"messages": [{"role": "system", "content": "x"}, ASK]},
    ),
    ({"messages": [{"role": "user"}]}, "messages[0]: missing field `content`", {}),
    (
        {"thinking": {"type": "adaptive"}},
        "thinking.type: unknown variant `adaptive`, expected `enabled` or `disabled`",
        {"thinking": {"type": "enabled"}},
    ),
    ({"reasoning_effort": "none"}, "unknown variant `none`", {"reasoning_effort": "ultra"}),
    ({"reasoning_effort": 3}, "reasoning_effort: unknown variant", {"reasoning_effort": "low"}),
    ({"max_tokens": 384_001}, "Invalid max_tokens value", {"max_tokens": 384_000}),
    (
        {"tools": [TOOL], "tool_choice": "required"},
        "Thinking mode does not support this tool_choice",
        {"tools": [TOOL], "tool_choice": "required", "thinking": {"type": "disabled"}},
    ),
    (
        {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "look"}}},
        "Thinking mode does not support this tool_choice",
        {"tools": [TOOL], "tool_choice": "none"},
    ),
    ({"tools": [{"type": "custom", "name": "x"}]}, "tools[0].type: unknown variant `custom`", {}),
    (
        {"messages": [ASK, call(reasoning_content=" ")]},
        "must be followed by tool messages responding to each 'tool_call_id'",
        {"messages": LOOP},
    ),
    ({"messages": [ASK, DONE]}, "must be a response to a preceeding message with 'tool_calls'", {}),
    # the echo of messages that this fake never sent: only a filler passes
    ({"messages": [ASK, call(), DONE]}, ECHO, {"messages": LOOP}),
    ({"messages": [ASK, call(reasoning_content="."), DONE]}, ECHO, {"messages": LOOP}),
    (
        {"messages": [ASK, call(reasoning_content="foreign thought"), DONE]},
        ECHO,
        {"messages": [ASK, call(), DONE], "thinking": {"type": "disabled"}},
    ),
    (
        {"messages": [*LOOP, {"role": "assistant", "content": "ok"}, ASK]},
        ECHO,
        {
            "messages": [
                *LOOP,
                {"role": "assistant", "content": "ok", "reasoning_content": " "},
                ASK,
            ]
        },
    ),
    (
        {"messages": [ASK, call(reasoning_content=""), DONE], "model": "deepseek-v4-pro"},
        ECHO,
        {"messages": [ASK, call(reasoning_content=""), DONE], "model": "deepseek-v4-flash"},
    ),
    (
        {
            "messages": [ASK, {"role": "assistant", "content": "ok"}, ASK],
            "tools": [TOOL],
            "model": "deepseek-v4-pro",
        },
        ECHO,
        {
            "messages": [ASK, {"role": "assistant", "content": "ok"}, ASK],
            "tools": [TOOL],
            "model": "deepseek-v4-flash",
        },
    ),
]


def body(fields: dict[str, Any]) -> dict[str, Any]:
    whole = {"model": "deepseek-v4-flash", "messages": [ASK], **fields}
    return {key: value for key, value in whole.items() if value is not None}


@pytest.mark.parametrize(("bad", "message", "good"), RULES)
async def test_a_rule_refuses_the_bad_request_and_passes_the_good_one(
    bad: dict[str, Any], message: str, good: dict[str, Any]
) -> None:
    async with fakes.serve(FakeDeepSeek()) as url:
        refused = await post(url + "/chat/completions", body(bad), KEY)
        passed = await post(url + "/v1/chat/completions", body(good), KEY)
    assert refused.status == 400
    error = refused.json()["error"]
    assert message in error["message"]
    assert (error["type"], error["code"]) == ("invalid_request_error",) * 2
    assert passed.status == 200, passed.body


async def test_a_wrong_key_is_refused_with_its_last_four_letters_only() -> None:
    async with fakes.serve(FakeDeepSeek()) as url:
        raw = await post(
            url + "/chat/completions", body({}), {"authorization": "Bearer sk-secret-9999"}
        )
    assert raw.status == 401
    assert raw.json()["error"]["type"] == "authentication_error"
    assert raw.json()["error"]["message"].endswith("****9999 is invalid")


async def test_a_prompt_that_does_not_fit_names_the_window() -> None:
    async with fakes.serve(FakeDeepSeek(context=5)) as url:
        raw = await post(url + "/chat/completions", body({}), KEY)
    assert "maximum context length is 5 tokens" in raw.json()["error"]["message"]


async def test_the_models_can_be_listed() -> None:
    async with fakes.serve(FakeDeepSeek()) as url:
        raw = await get(url + "/models", KEY)
    assert "deepseek-v4-pro" in [model["id"] for model in raw.json()["data"]]


class Loop:
    """A tool loop with the chat endpoint."""

    def __init__(self, url: str, model: str = "deepseek-v4-pro") -> None:
        self.url, self.model = url, model
        self.messages: list[Any] = [ASK]

    async def send(self, **fields: Any) -> Raw:
        whole = {"model": self.model, "messages": self.messages, "tools": [TOOL], **fields}
        return await post(self.url + "/chat/completions", whole, KEY)

    async def step(self) -> dict[str, Any]:
        message = (await self.send()).json()["choices"][0]["message"]
        self.messages = [*self.messages, message]
        for one in message.get("tool_calls", []):
            result = {"role": "tool", "tool_call_id": one["id"], "content": "seen"}
            self.messages.append(result)
        return message


def loop_script(thought: str = "Let me look. 看看。") -> fakes.Script:
    return play(answer(Think(thought), Call("look")), answer(Think("Fine."), "Done."))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("missing", "the thinking of this message is missing"),
        ("trimmed", "the thinking is not the one that was sent"),
        ("filler", "the thinking is not the one that was sent"),
        ("other model", "this message never had that thinking"),
    ],
)
async def test_its_own_thought_has_to_come_back_byte_for_byte(change: str, why: str) -> None:
    fake = FakeDeepSeek(loop_script("Let me look. "))
    async with fakes.serve(fake) as url:
        loop = Loop(url)
        message = await loop.step()
        assert (await loop.send()).status == 200
        match change:
            case "missing":
                del message["reasoning_content"]
            case "trimmed":
                message["reasoning_content"] = "Let me look."
            case "filler":
                message["reasoning_content"] = " "
            case _:
                loop.model = "deepseek-v4-flash"
        raw = await loop.send()
    assert raw.status == 400
    assert raw.json()["error"]["message"] == ECHO
    assert fake.refusals == [f"messages[1]: {why}"]


async def test_an_empty_thought_is_a_value_and_has_to_come_back_as_one() -> None:
    async with fakes.serve(FakeDeepSeek(loop_script(""))) as url:
        loop = Loop(url)
        message = await loop.step()
        assert message["reasoning_content"] == ""
        assert (await loop.send()).status == 200
        message["reasoning_content"] = " "
        assert (await loop.send()).status == 400


async def test_thinking_off_gives_no_thought_and_asks_for_none() -> None:
    async with fakes.serve(FakeDeepSeek(loop_script())) as url:
        loop = Loop(url)
        raw = await loop.send(thinking={"type": "disabled"})
        assert "reasoning_content" not in raw.json()["choices"][0]["message"]


async def test_usage_has_the_vendors_own_cache_fields() -> None:
    async with fakes.serve(FakeDeepSeek(play(answer(Think("abcd"), "efgh")))) as url:
        raw = await post(url + "/chat/completions", body({}), KEY)
    usage = raw.json()["usage"]
    assert usage["prompt_cache_hit_tokens"] == 0
    assert usage["prompt_cache_miss_tokens"] == usage["prompt_tokens"]
    assert usage["completion_tokens"] == 2
    assert usage["completion_tokens_details"] == {"reasoning_tokens": 1}


# ---------------------------------------------------------------------------- Anthropic endpoint

USE = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}]}
MESSAGES_RULES: list[tuple[dict[str, Any], str, dict[str, Any]]] = [
    ({"model": "claude-opus-5"}, "Model Not Exist", {}),
    (
        {"tools": [{**PLAIN_TOOL, "type": "custom"}]},
        "unknown variant `custom`",
        {"tools": [PLAIN_TOOL]},
    ),
    (
        {"thinking": {"type": "adaptive"}},
        "unknown variant `adaptive`",
        {"thinking": {"type": "enabled"}},
    ),
    (
        {"output_config": {"effort": "none"}},
        "unknown variant `none`",
        {"output_config": {"effort": "max"}},
    ),
    (
        {"tools": [PLAIN_TOOL], "tool_choice": {"type": "any"}},
        "Thinking mode does not support this tool_choice",
        {"tools": [PLAIN_TOOL], "tool_choice": {"type": "any"}, "thinking": {"type": "disabled"}},
    ),
    (
        {"messages": [ASK, {"role": "assistant", "content": [USE]}, RESULT]},
        "The `content[].thinking` in the thinking mode must be passed back to the API.",
        {
            "messages": [
                ASK,
                {"role": "assistant", "content": [{"type": "thinking", "thinking": " "}, USE]},
                RESULT,
            ]
        },
    ),
]


@pytest.mark.parametrize(("bad", "message", "good"), MESSAGES_RULES)
async def test_the_anthropic_endpoint_has_the_same_rules(
    bad: dict[str, Any], message: str, good: dict[str, Any]
) -> None:
    async with fakes.serve(FakeDeepSeek()) as url:
        where = url + "/anthropic/v1/messages"
        refused = await post(where, body({"max_tokens": 99, **bad}), MESSAGES_KEY)
        passed = await post(where, body({"max_tokens": 99, **good}), MESSAGES_KEY)
    assert refused.status == 400
    assert message in refused.json()["error"]["message"]
    assert passed.status == 200, passed.body


async def test_a_budget_is_ignored_on_the_anthropic_endpoint() -> None:
    async with fakes.serve(FakeDeepSeek()) as url:
        fields = {"max_tokens": 9, "thinking": {"type": "enabled", "budget_tokens": 99_999}}
        raw = await post(url + "/anthropic/v1/messages", body(fields), MESSAGES_KEY)
    assert raw.status == 200
