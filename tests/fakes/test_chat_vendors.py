"""Hand-written requests against the openai-chat vendors, each with its own oddities."""

import json
from typing import Any

import pytest

from silu import fakes
from silu.fakes import Call, FakeVendor, Think, answer, play
from tests.fakes.rawhttp import Raw, events, get, post

pytestmark = pytest.mark.anyio

KEY = {"authorization": "Bearer test-key"}
ASK = {"role": "user", "content": "hi"}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
DONE = {"role": "tool", "tool_call_id": "c1", "content": "seen"}
TURN = answer(Think("Let me see."), "Done.")


def asked(**more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [CALL], **more}


def loop(**more: Any) -> dict[str, Any]:
    return {"messages": [ASK, asked(**more), DONE]}


ON, OFF = {"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}
FORCED = {"tools": [TOOL], "tool_choice": "required"}
KIMI, GLM, QWEN, MIMO, MINI, GROK, GROQ, ROUTER = (
    fakes.FakeKimi,
    fakes.FakeGlm,
    fakes.FakeQwen,
    fakes.FakeMiMo,
    fakes.FakeMiniMax,
    fakes.FakeGrok,
    fakes.FakeGroq,
    fakes.FakeOpenRouter,
)
KIMI_ECHO = "thinking is enabled but reasoning_content is missing in assistant tool call message"
MIMO_ECHO = "The reasoning_content in the thinking mode must be passed back to the API."
ALWAYS = "This model always engages in thinking and cannot be disabled"

# fake, model, what is refused, a piece of the body, what passes
RULES: list[tuple[type[FakeVendor], str, dict[str, Any], str, dict[str, Any]]] = [
    # Kimi
    (KIMI, "kimi-k2.7-code", OFF, "cannot be disabled", ON),
    (KIMI, "kimi-k2.6", {"thinking": {"type": "adaptive"}}, "invalid thinking.type", OFF),
    (
        KIMI,
        "kimi-k2.5",
        {"thinking": {"type": "enabled", "keep": "all"}},
        "invalid thinking.keep",
        ON,
    ),
    (KIMI, "kimi-k3", ON, "this model takes reasoning_effort", {"reasoning_effort": "low"}),
    (KIMI, "kimi-k3", {"reasoning_effort": "none"}, "none", {"reasoning_effort": "max"}),
    (KIMI, "kimi-k3", {"reasoning_effort": {"effort": "low"}}, "must be a string", {}),
    (
        KIMI,
        "kimi-k2.6",
        {"temperature": 0.6},
        "invalid temperature: only 1 is allowed for this model",
        {"temperature": 1},
    ),
    (KIMI, "kimi-k3", {"top_p": 0.95}, "invalid top_p", {}),
    (KIMI, "kimi-k2.6", FORCED, "incompatible with thinking enabled", {**FORCED, **OFF}),
    (KIMI, "kimi-k2.6", loop(), f"{KIMI_ECHO} at index 1", loop(reasoning_content=" ")),
    (KIMI, "kimi-k2.6", loop(reasoning_content=""), KIMI_ECHO, {**loop(), **OFF}),
    (KIMI, "kimi-k3", loop(reasoning_content="made up"), KIMI_ECHO, loop(reasoning_content=" ")),
    (KIMI, "kimi-k9", {}, "resource_not_found_error", {"model": "kimi-k3"}),
    # GLM
    (GLM, "glm-5.3", OFF, f'"code":"1210","message":"{ALWAYS}', ON),
    (GLM, "glm-5.3", {"reasoning_effort": "xhigh"}, ALWAYS, {"reasoning_effort": "max"}),
    (GLM, "glm-5.2", {"reasoning_effort": "ultra"}, "1210", {"reasoning_effort": "none"}),
    (GLM, "glm-4.7", {"thinking": {"type": "adaptive"}}, "1210", OFF),
    (
        GLM,
        "glm-4.7",
        {"thinking": {"type": "enabled", "clear_thinking": "no"}},
        "must be a boolean",
        {"thinking": {"type": "enabled", "clear_thinking": False}},
    ),
    (GLM, "glm-9", {}, '"code":"1211"', {"model": "glm-5"}),
    # Qwen
    (
        QWEN,
        "qwen3.8-max-preview",
        {"enable_thinking": False},
        "The value of the enable_thinking parameter is restricted to True.",
        {"enable_thinking": True},
    ),
    (
        QWEN,
        "qwen-plus",
        {"enable_thinking": True},
        "parameter.enable_thinking must be set to false for non-streaming calls",
        {"enable_thinking": True, "stream": True},
    ),
    (QWEN, "qwen3-8b", {}, "for non-streaming calls", {"enable_thinking": False}),
    (
        QWEN,
        "qwen3.6-plus",
        {"thinking_budget": 81_921},
        "must be a positive integer and not greater than 81920",
        {"thinking_budget": 81_920},
    ),
    (QWEN, "qwen3.6-plus", {"thinking_budget": 0}, "positive integer", {"thinking_budget": 1}),
    (
        QWEN,
        "qwen3.8-max",
        {"thinking_budget": 9, "reasoning_effort": "low"},
        "cannot be used together",
        {"reasoning_effort": "xhigh"},
    ),
    (QWEN, "qwen3.7-max", {"reasoning_effort": "low"}, "accepted values are none", {}),
    (
        QWEN,
        "qwen3.7-max",
        FORCED,
        "does not support being set to required or object in thinking mode",
        {**FORCED, "enable_thinking": False},
    ),
    (QWEN, "qwen3.7-max", {"enable_thinking": "yes"}, "must be a boolean", {}),
    (
        QWEN,
        "qwen3.8-max",
        {"thinking_display": "summarized"},
        "thinking_display is not supported",
        {"model": "qwen4-max", "thinking_display": "summarized"},
    ),
    (
        QWEN,
        "qwen4-max",
        {"messages": [ASK, {"role": "assistant", "content": "x", "encrypted_content": "no"}, ASK]},
        "could not be verified",
        {},
    ),
    # MiMo: the reason stands in `param`
    (MIMO, "mimo-v2.5", loop(), f'"param":"{MIMO_ECHO}"', loop(reasoning_content=" ")),
    (MIMO, "mimo-v2.5", loop(), '"message":"Param Incorrect"', {**loop(), **OFF}),
    (MIMO, "mimo-v2-flash", {**loop(), **ON}, MIMO_ECHO, loop()),
    # MiniMax
    (MINI, "MiniMax-M3", ON, "use adaptive", {"thinking": {"type": "adaptive"}}),
    (MINI, "MiniMax-M3.1-Flash", OFF, "cannot be disabled", {}),
    (MINI, "MiniMax-M2.7", {"temperature": 0}, "temperature must be in (0, 1]", OFF),
    (MINI, "MiniMax-M2.7", FORCED, "tool_choice must be auto or none", {}),
    # xAI: `error` is a string
    (
        GROK,
        "grok-4.5",
        {"reasoning_effort": "none"},
        '"code":"Client specified an invalid argument","error":"Invalid reasoning effort',
        {"reasoning_effort": "low"},
    ),
    (
        GROK,
        "grok-4.5",
        {"reasoning_effort": "xhigh"},
        "Supported values are: low, medium, high",
        {},
    ),
    (
        GROK,
        "grok-4.20-reasoning",
        {"reasoning_effort": "low"},
        "does not support parameter reasoningEffort.",
        {},
    ),
    (GROK, "grok-4.6", {"stop": ["x"]}, "does not support parameter stop", {}),
    (GROK, "grok-4.3", {"presence_penalty": 1}, "parameter presence_penalty", {}),
    # Groq
    (
        GROQ,
        "openai/gpt-oss-20b",
        {"messages": [ASK, {"role": "assistant", "content": "x", "reasoning_content": "y"}, ASK]},
        "messages[1].reasoning_content",
        {"messages": [ASK, {"role": "assistant", "content": "x", "reasoning": "y"}, ASK]},
    ),
    (
        GROQ,
        "openai/gpt-oss-20b",
        {"reasoning_effort": "none"},
        "`reasoning_effort` must be one of `low`, `medium`, `high`",
        {"reasoning_effort": "low"},
    ),
    (
        GROQ,
        "qwen/qwen3.6-32b",
        {"reasoning_effort": "low"},
        "`none`, `default`",
        {"reasoning_effort": "default"},
    ),
    (
        GROQ,
        "qwen/qwen3.6-32b",
        {"reasoning_format": "raw", "tools": [TOOL]},
        "not allowed with tools",
        {"reasoning_format": "parsed", "tools": [TOOL]},
    ),
    (
        GROQ,
        "qwen/qwen3.6-32b",
        {"reasoning_format": "parsed", "include_reasoning": True},
        "cannot specify both",
        {"include_reasoning": True},
    ),
    # OpenRouter
    (
        ROUTER,
        "z-ai/glm-5.3",
        {"reasoning": {"effort": "none"}},
        "Reasoning is mandatory for this endpoint and cannot be disabled",
        {"reasoning": {"effort": "minimal"}},
    ),
    (
        ROUTER,
        "qwen/qwen3.8-max",
        {"reasoning": {"enabled": False}},
        "Reasoning is mandatory",
        {"enable_thinking": False},
    ),
    (
        ROUTER,
        "moonshotai/kimi-k2.6",
        {"reasoning": {"effort": "low", "max_tokens": 9}},
        "Only one of",
        {"reasoning": {"effort": "none"}},
    ),
    (ROUTER, "moonshotai/kimi-k2.6", {"reasoning": {"effort": "huge"}}, "expected one of", {}),
]


async def send(fake: FakeVendor, fields: dict[str, Any], path: str = "") -> Raw:
    async with fakes.serve(fake) as url:
        return await post(url + (path or "/chat/completions"), fields, KEY)


@pytest.mark.parametrize(("make", "model", "bad", "piece", "good"), RULES)
async def test_a_rule_refuses_the_bad_request_and_passes_the_good_one(
    make: type[FakeVendor], model: str, bad: dict[str, Any], piece: str, good: dict[str, Any]
) -> None:
    whole = {"model": model, "messages": [ASK]}
    refused = await send(make(play(TURN)), {**whole, **bad})
    assert refused.status in (400, 404)
    assert piece in refused.body.decode()
    passed = await send(make(play(TURN)), {**whole, **good})
    assert passed.status == 200, passed.body


@pytest.mark.parametrize("make", [KIMI, GLM, QWEN, MIMO, MINI, GROQ, ROUTER])
async def test_a_wrong_key_is_a_401(make: type[FakeVendor]) -> None:
    fake = make(key="other")
    raw = await send(fake, {"model": "x", "messages": [ASK]})
    assert raw.status == 401


async def test_the_models_are_listed() -> None:
    async with fakes.serve(fakes.FakeOpenRouter()) as url:
        raw = await get(url + "/models", KEY)
    found = {m["id"]: m for m in raw.json()["data"]}
    assert found["z-ai/glm-5.3"]["reasoning"]["mandatory"] is True
    assert "reasoning" in found["z-ai/glm-5.3"]["supported_parameters"]


async def test_mimos_refusal_of_a_stream_begins_with_data() -> None:
    raw = await send(MIMO(), {"model": "mimo-v2.5", "stream": True, **loop()})
    assert raw.status == 400
    assert raw.body.startswith(b'data:{"error":')
    assert json.loads(raw.body[5:])["error"]["param"] == MIMO_ECHO


async def test_kimis_usage_may_stand_in_the_choice_with_cached_tokens_at_its_top() -> None:
    fake = fakes.FakeKimi(play(TURN), usage_in_choice=True)
    raw = await send(fake, {"model": "kimi-k3", "messages": [ASK], "stream": True})
    last = events(raw)[-1]
    assert "usage" not in last
    assert last["choices"][0]["usage"]["cached_tokens"] == 0


async def test_an_unknown_kimi_effort_is_ignored_and_max_runs() -> None:
    fake = fakes.FakeKimi(play(TURN))
    body = {"model": "kimi-k3", "messages": [ASK], "reasoning_effort": "turbo"}
    assert (await send(fake, body)).status == 200
    assert fake.complaints == ["reasoning_effort 'turbo' is ignored, max runs"]


async def test_grok_leaves_reasoning_out_of_its_output_count() -> None:
    raw = await send(GROK(play(TURN)), {"model": "grok-4.3", "messages": [ASK]})
    usage = raw.json()["usage"]
    assert usage["completion_tokens"] == 2
    assert usage["completion_tokens_details"]["reasoning_tokens"] == 3
    assert usage["total_tokens"] == usage["prompt_tokens"] + 2 + 3


async def test_minimax_puts_thinking_into_tags_unless_it_is_split_off() -> None:
    body = {"model": "MiniMax-M2.7", "messages": [ASK]}
    tagged = await send(MINI(play(TURN)), body)
    split = await send(MINI(play(TURN)), {**body, "reasoning_split": True})
    message = tagged.json()["choices"][0]["message"]
    assert message["content"] == "<think>\nLet me see.\n</think>\n\nDone."
    message = split.json()["choices"][0]["message"]
    assert message["content"] == "Done."
    assert message["reasoning_details"] == [{"type": "reasoning.text", "text": "Let me see."}]


@pytest.mark.parametrize("cumulative", [True, False])
async def test_minimax_details_are_pieces_or_snapshots(cumulative: bool) -> None:
    fake = fakes.FakeMiniMax(
        play(answer(Think("one two three"), "x", step=4)), cumulative=cumulative
    )
    body = {"model": "MiniMax-M3", "messages": [ASK], "stream": True, "reasoning_split": True}
    raw = await send(fake, body)
    deltas = [e["choices"][0]["delta"] for e in events(raw) if e["choices"]]
    texts = [d["reasoning_details"][0]["text"] for d in deltas if "reasoning_details" in d]
    assert texts[-1] == ("one two three" if cumulative else "e")
    assert "".join(texts) == "one two three" or cumulative


async def test_minimax_has_an_anthropic_endpoint_that_checks_no_signature() -> None:
    fake = fakes.FakeMiniMax(play(TURN))
    thought = {"type": "thinking", "thinking": "x", "signature": ""}
    said = {"role": "assistant", "content": [thought, {"type": "text", "text": "a"}]}
    body = {"model": "MiniMax-M3", "max_tokens": 9, "messages": [ASK, said, ASK]}
    async with fakes.serve(fake) as url:
        where = url.removesuffix("/v1") + "/anthropic/v1/messages"
        raw = await post(where, body, {"x-api-key": "test-key"})
    assert [b["type"] for b in raw.json()["content"]] == ["thinking", "text"]
    assert fake.complaints == []


async def test_silent_vendors_note_what_they_would_not_refuse() -> None:
    fake = fakes.FakeGlm(play(answer(Think("a"), Call("look")), TURN, TURN))
    async with fakes.serve(fake) as url:
        where = url + "/chat/completions"
        body: dict[str, Any] = {"model": "glm-4.7", "messages": [ASK], "tools": [TOOL]}
        message = (await post(where, body, KEY)).json()["choices"][0]["message"]
        result = {**DONE, "tool_call_id": message["tool_calls"][0]["id"]}
        body["messages"] = [ASK, message, result]
        await post(where, body, KEY)
        assert fake.complaints == []
        message["reasoning_content"] = "b"
        assert (await post(where, body, KEY)).status == 200
    assert fake.complaints == ["messages[1]: the thinking is not the one that was sent"]


async def test_qwen_seals_its_summary_and_takes_only_its_own_seal_back() -> None:
    fake = fakes.FakeQwen(play(TURN, TURN, TURN))
    body: dict[str, Any] = {
        "model": "qwen4-max",
        "messages": [ASK],
        "enable_thinking": True,
        "thinking_display": "summarized",
        "preserve_thinking": True,
    }
    async with fakes.serve(fake) as url:
        where = url + "/chat/completions"
        message = (await post(where, body, KEY)).json()["choices"][0]["message"]
        assert message["encrypted_content"]
        body["messages"] = [ASK, message, ASK]
        assert (await post(where, body, KEY)).status == 200
        message["reasoning_content"] = "changed"
        assert (await post(where, body, KEY)).status == 400


@pytest.mark.parametrize("streamed", [True, False])
async def test_openrouter_takes_its_details_back_unmodified_and_for_their_model_only(
    streamed: bool,
) -> None:
    fake = fakes.FakeOpenRouter(play(TURN, TURN, TURN))
    body: dict[str, Any] = {"model": "openai/gpt-5.6-sol", "messages": [ASK], "stream": streamed}
    async with fakes.serve(fake) as url:
        where = url + "/chat/completions"
        raw = await post(where, body, KEY)
        deltas = (
            [e["choices"][0]["delta"] for e in events(raw) if e["choices"]]
            if streamed
            else [raw.json()["choices"][0]["message"]]
        )
        details = [d for delta in deltas for d in delta.get("reasoning_details", [])]
        sealed = [d for d in details if d["type"] == "reasoning.encrypted"]
        assert sealed[0]["data"]
        said = {"role": "assistant", "content": "Done.", "reasoning_details": sealed}
        body |= {"messages": [ASK, said, ASK], "stream": False}
        assert (await post(where, body, KEY)).status == 200
        refused = await post(where, {**body, "model": "google/gemini-3.8-flash"}, KEY)
    assert refused.status == 400
    inner = json.loads(refused.json()["error"]["metadata"]["raw"])
    assert inner["error"]["code"] == "invalid_encrypted_content"


async def test_groq_shows_raw_hides_or_parses_the_thought() -> None:
    shown: list[Any] = []
    for form in ("raw", "hidden", "parsed"):
        body = {"model": "qwen/qwen3.6-32b", "messages": [ASK], "reasoning_format": form}
        raw = await send(GROQ(play(TURN)), body)
        message = raw.json()["choices"][0]["message"]
        shown.append((message["content"], message.get("reasoning")))
    assert shown == [
        ("<think>\nLet me see.\n</think>\nDone.", None),
        ("Done.", None),
        ("Done.", "Let me see."),
    ]


async def test_cerebras_refuses_a_foreign_reasoning_field() -> None:
    said = {"role": "assistant", "content": "x", "reasoning_content": "y"}
    body = {"model": "gpt-oss-120b", "messages": [ASK, said, ASK]}
    assert (await send(fakes.FakeCerebras(), body)).status == 400


USE = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
BLOCKS: dict[str, Any] = {
    "max_tokens": 9,
    "messages": [
        ASK,
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "a", "name": "look", "input": {}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}]},
    ],
}
BLANK = {"type": "thinking", "thinking": " "}
LED = {
    **BLOCKS,
    "messages": [
        ASK,
        {
            "role": "assistant",
            "content": [BLANK, USE],
        },
        BLOCKS["messages"][2],
    ],
}
MESSAGES_RULES: list[tuple[Any, str, dict[str, Any], str, dict[str, Any]]] = [
    (KIMI, "kimi-k3", BLOCKS, KIMI_ECHO, LED),
    (KIMI, "kimi-k2.6", BLOCKS, KIMI_ECHO, {**BLOCKS, **OFF}),
    (KIMI, "kimi-k3", {**LED, **OFF}, "invalid thinking.type", LED),
    (
        KIMI,
        "kimi-k3",
        {**LED, "thinking": {"type": "enabled", "budget_tokens": 2048}},
        "budget_tokens",
        {**LED, **ON},
    ),
    (
        KIMI,
        "kimi-k3",
        {**LED, "output_config": {"effort": "medium"}},
        "output_config.effort",
        {**LED, "output_config": {"effort": "high"}},
    ),
    (MIMO, "mimo-v2.5", BLOCKS, MIMO_ECHO, LED),
    (MIMO, "mimo-v2.5", {**BLOCKS, **ON}, MIMO_ECHO, {**BLOCKS, **OFF}),
    (MIMO, "mimo-v9", LED, "mimo-v9", {**LED, "model": "mimo-v2.5"}),
]


@pytest.mark.parametrize(("make", "model", "bad", "words", "good"), MESSAGES_RULES)
async def test_the_anthropic_endpoints_of_chat_vendors_judge_too(
    make: Any, model: str, bad: dict[str, Any], words: str, good: dict[str, Any]
) -> None:
    async with fakes.serve(make(play(TURN))) as url:
        where = url.removesuffix("/v1") + "/anthropic/v1/messages"
        refused = await post(where, {"model": model, **bad}, {"x-api-key": "test-key"})
        taken = await post(where, {"model": model, **good}, {"x-api-key": "test-key"})
    assert refused.status in {400, 404}
    assert words in refused.body.decode()
    assert taken.status == 200, taken.body


async def test_kimi_code_takes_the_effort_inside_the_switch_and_no_other_word() -> None:
    async with fakes.serve(fakes.FakeKimi(play(TURN, TURN), code=True)) as url:
        statuses = [
            (
                await post(
                    f"{url}/chat/completions", {"model": "kimi-k3", "messages": [ASK], **f}, KEY
                )
            ).status
            for f in (
                {"thinking": {"type": "enabled", "effort": "low"}},
                {"reasoning_effort": "low"},
                {"thinking": {"type": "enabled", "effort": "turbo"}},
                {"thinking": {"type": "disabled"}},
            )
        ]
    assert statuses == [200, 400, 400, 400]
