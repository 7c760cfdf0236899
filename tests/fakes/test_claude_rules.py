"""Hand-written requests against the fake Anthropic: each rule refuses one and lets one pass."""

import copy
from typing import Any

import pytest

from silu import fakes
from silu.fakes import Call, FakeAnthropic, Think, answer, play
from tests.fakes.rawhttp import Raw, get, post

pytestmark = pytest.mark.anyio

HEADERS = {"x-api-key": "test-key", "anthropic-version": "2023-06-01"}
TOOL = {"name": "look", "input_schema": {"type": "object", "properties": {}}}
ASK = {"role": "user", "content": "hi"}
USE = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "seen"}
FORCED = {"type": "tool", "name": "look"}
BUDGET = {"type": "enabled", "budget_tokens": 2000}
ADAPTIVE = {"type": "adaptive"}
OFF = {"type": "disabled"}
LOOP = [ASK, {"role": "assistant", "content": [USE]}, {"role": "user", "content": [RESULT]}]


def said(*blocks: Any, role: str = "assistant") -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def effort(word: str) -> dict[str, str]:
    return {"effort": word}


# model, fields that are refused (None removes one), what the message says, fields that pass
RULES: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    # the body
    ("opus-5", {"max_tokens": None}, "max_tokens: Field required", {}),
    ("opus-5", {"messages": None}, "messages: Field required", {}),
    ("opus-5", {"messages": []}, "at least one message is required", {}),
    ("opus-5", {"max_tokens": "9"}, "max_tokens: Input should be a valid integer", {}),
    ("opus-5", {"max_tokens": 0}, "greater than or equal to 1", {"max_tokens": 1}),
    ("opus-5", {"max_tokens": 128_001}, "128001 > 128000", {"max_tokens": 128_000}),
    ("haiku-4-5", {"max_tokens": 64_001}, "64001 > 64000", {"max_tokens": 64_000}),
    ("opus-5", {"reasoning_effort": "low"}, "reasoning_effort: Extra inputs", {}),
    ("opus-5", {"system": [text("")]}, "system: text content blocks", {"system": [text("a")]}),
    # messages
    ("opus-5", {"messages": [{"role": "tool", "content": "x"}]}, 'Unexpected role "tool"', {}),
    (
        "opus-5",
        {"messages": [{"role": "system", "content": "x"}, ASK]},
        "`role 'system'` is not supported on this model",
        {"system": "x"},
    ),
    ("opus-5", {"messages": [said(text("a")), ASK]}, 'first message must use the "user" role', {}),
    (
        "opus-5",
        {"messages": [ASK, said(text("")), ASK]},
        "text content blocks must be non-empty",
        {"messages": [ASK, said(text("a")), ASK]},
    ),
    ("opus-5", {"messages": [said(text(" \n"), role="user")]}, "non-whitespace text", {}),
    ("opus-5", {"messages": [{"role": "user", "content": ""}]}, "must have non-empty content", {}),
    ("opus-5", {"messages": [{**ASK, "name": "x"}]}, "messages.0.name: Extra inputs", {}),
    (
        "opus-5",
        {"messages": [said({"type": "thinking", "thinking": "", "signature": ""}, role="user")]},
        "`thinking` blocks are not permitted in `user` messages",
        {},
    ),
    (
        "opus-5",
        {"messages": [ASK, said(text("begun"))]},
        "does not support assistant message prefill",
        {},
    ),
    (
        "sonnet-4-5",
        {"messages": [ASK, said(text("begun "))]},
        "cannot end with trailing whitespace",
        {"messages": [ASK, said(text("begun"))]},
    ),
    # tools: ids, pairs, definitions, choice
    (
        "opus-5",
        {"messages": [ASK, said({**USE, "id": "call:1"})]},
        "messages.1.content.0.tool_use.id: String should match pattern",
        {"messages": LOOP},
    ),
    (
        "opus-5",
        {"messages": [ASK, said({**USE, "input": "{}"}), said(RESULT, role="user")]},
        "tool_use.input: Input should be a valid dictionary",
        {"messages": LOOP},
    ),
    (
        "opus-5",
        {"messages": [ASK, said(USE), ASK]},
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after",
        {"messages": LOOP},
    ),
    (
        "opus-5",
        {"messages": [ASK, said(USE), said(text("note"), RESULT, role="user")]},
        "`tool_use` ids were found without `tool_result` blocks immediately after",
        {"messages": [ASK, said(USE), said(RESULT, text("note"), role="user")]},
    ),
    (
        "opus-5",
        {"messages": [said(RESULT, role="user")]},
        "unexpected `tool_use_id` found in `tool_result` blocks: toolu_1",
        {"messages": LOOP},
    ),
    (
        "opus-5",
        {"messages": [ASK, said(USE, USE), said(RESULT, role="user")]},
        "ids must be unique",
        {"messages": LOOP},
    ),
    ("opus-5", {"tools": [{"name": "look"}]}, "input_schema: Field required", {"tools": [TOOL]}),
    ("opus-5", {"tools": [{**TOOL, "name": "a b"}]}, "String should match pattern", {}),
    ("opus-5", {"tools": [TOOL, TOOL]}, "Tool names must be unique", {}),
    (
        "opus-5",
        {"tool_choice": {"type": "auto"}},
        "only be specified while providing tools",
        {"tool_choice": {"type": "auto"}, "tools": [TOOL]},
    ),
    ("opus-5", {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "x"}}, "not found", {}),
    ("opus-5", {"tools": [TOOL], "tool_choice": {"type": "required"}}, "expected tags", {}),
    # thinking: forms by generation
    ("haiku-4-5", {"thinking": ADAPTIVE}, "not supported on this model", {"thinking": BUDGET}),
    (
        "opus-4-7",
        {"thinking": BUDGET},
        '"thinking.type.enabled" is not supported',
        {"thinking": OFF},
    ),
    ("opus-5-5", {"thinking": OFF}, '"thinking.type.disabled" is not', {"thinking": ADAPTIVE}),
    ("fable-5-2", {"thinking": OFF}, '"thinking.type.disabled" is not', {"thinking": ADAPTIVE}),
    (
        "sonnet-5-5",
        {"thinking": OFF},
        '"thinking.type.disabled" is not',
        {"thinking": {"type": "between_tools"}},
    ),
    ("opus-5", {"thinking": {"type": "between_tools"}}, "between_tools", {"thinking": OFF}),
    ("opus-5", {"thinking": {"type": "on"}}, "does not match any of the expected tags", {}),
    ("opus-5", {"thinking": "adaptive"}, "valid dictionary", {"thinking": ADAPTIVE}),
    (
        "opus-5",
        {"thinking": {**ADAPTIVE, "budget_tokens": 2000}},
        "budget_tokens: Extra inputs are not permitted",
        {"thinking": {**ADAPTIVE, "display": "summarized"}},
    ),
    ("opus-5", {"thinking": {**ADAPTIVE, "display": "full"}}, "Input should be 'summarized'", {}),
    (
        "sonnet-5-5",
        {"thinking": {"type": "between_tools", "display": "omitted"}},
        "display: Extra inputs",
        {"thinking": {"type": "between_tools"}},
    ),
    (
        "fable-5-1",
        {"thinking": {**ADAPTIVE, "block_binding": {"prefix_mismatch_behavior": "error"}}},
        "block_binding: Extra inputs",
        {},
    ),
    # budgets
    ("haiku-4-5", {"thinking": {"type": "enabled"}}, "budget_tokens: Field required", {}),
    (
        "haiku-4-5",
        {"thinking": {"type": "enabled", "budget_tokens": 1023}},
        "greater than or equal to 1024",
        {"thinking": {"type": "enabled", "budget_tokens": 1024}},
    ),
    (
        "haiku-4-5",
        {"thinking": BUDGET, "max_tokens": 2000},
        "must be greater than thinking.budget_tokens",
        {"thinking": BUDGET, "max_tokens": 2001},
    ),
    # efforts
    ("haiku-4-5", {"output_config": effort("low")}, "does not support the effort parameter", {}),
    (
        "opus-4-6",
        {"output_config": effort("xhigh")},
        "effort level 'xhigh'",
        {"output_config": effort("max")},
    ),
    ("opus-5", {"output_config": effort("minimal")}, "output_config.effort: Input should be", {}),
    (
        "opus-5",
        {"thinking": OFF, "output_config": effort("xhigh")},
        "not supported while thinking.type is 'disabled'",
        {"thinking": OFF, "output_config": effort("high")},
    ),
    (
        "sonnet-5-5",
        {"thinking": {"type": "between_tools"}, "output_config": effort("max")},
        "not supported while thinking.type is 'between_tools'",
        {"thinking": {"type": "between_tools"}, "output_config": effort("low")},
    ),
    # sampling
    (
        "haiku-4-5",
        {"thinking": BUDGET, "temperature": 0.2},
        "may only be set to 1 when thinking is enabled",
        {"thinking": BUDGET, "temperature": 1},
    ),
    (
        "haiku-4-5",
        {"thinking": BUDGET, "top_p": 0.9},
        "`top_p` must be greater than or equal to 0.95",
        {"thinking": BUDGET, "top_p": 0.95},
    ),
    ("haiku-4-5", {"thinking": BUDGET, "top_k": 5}, "`top_k` must be unset", {"top_k": 5}),
    ("haiku-4-5", {"temperature": 1.5}, "temperature: range: 0..1", {"temperature": 0.5}),
    ("haiku-4-5", {"temperature": 0.5, "top_p": 0.9}, "cannot both be specified", {"top_p": 0.9}),
    ("opus-4-7", {"temperature": 1}, "`temperature` is not supported on this model", {}),
    ("opus-5", {"top_p": 0.95}, "`top_p` is not supported on this model", {}),
    # forced tool choice
    (
        "haiku-4-5",
        {"thinking": BUDGET, "tools": [TOOL], "tool_choice": FORCED},
        "Thinking may not be enabled when tool_choice forces tool use",
        {"thinking": OFF, "tools": [TOOL], "tool_choice": FORCED},
    ),
    (
        "opus-4-6",
        {"thinking": BUDGET, "tools": [TOOL], "tool_choice": {"type": "any"}},
        "Thinking may not be enabled",
        {"thinking": ADAPTIVE, "tools": [TOOL], "tool_choice": {"type": "any"}},
    ),
    (
        "opus-5-5",
        {"tools": [TOOL], "tool_choice": FORCED},
        "forced tool use is not supported",
        {"tools": [TOOL], "tool_choice": {"type": "none"}},
    ),
    ("fable-5-1", {"tools": [TOOL], "tool_choice": {"type": "any"}}, "forced tool use", {}),
    # the echo, without knowing what was signed
    (
        "haiku-4-5",
        {"messages": LOOP, "tools": [TOOL], "thinking": BUDGET},
        "1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`",
        {"messages": LOOP, "tools": [TOOL], "thinking": OFF},
    ),
    (
        "opus-5",
        {"messages": [ASK, said({"type": "thinking", "thinking": "a"}), ASK]},
        "messages.1.content.0.thinking.signature: Field required",
        {},
    ),
    (
        "opus-5",
        {"messages": [ASK, said({"type": "thinking", "thinking": "a", "signature": "abc"}), ASK]},
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        {},
    ),
    (
        "opus-5",
        {"messages": [ASK, said({"type": "redacted_thinking", "data": "abc"}), ASK]},
        "Invalid `data` in `redacted_thinking` block",
        {},
    ),
]


def body(model: str, fields: dict[str, Any]) -> dict[str, Any]:
    whole = {"model": f"claude-{model}", "max_tokens": 4096, "messages": [ASK], **fields}
    return {key: value for key, value in whole.items() if value is not None}


async def ask(fake: FakeAnthropic, fields: Any, **headers: str) -> Raw:
    async with fakes.serve(fake) as url:
        return await post(url + "/v1/messages", fields, {**HEADERS, **headers})


@pytest.mark.parametrize(("model", "bad", "message", "good"), RULES)
async def test_a_rule_refuses_the_bad_request_and_passes_the_good_one(
    model: str, bad: dict[str, Any], message: str, good: dict[str, Any]
) -> None:
    refused = await ask(FakeAnthropic(), body(model, bad))
    assert refused.status == 400
    error = refused.json()
    assert error["type"] == "error"
    assert error["error"]["type"] == "invalid_request_error"
    assert message in error["error"]["message"]
    passed = await ask(FakeAnthropic(), body(model, good))
    assert passed.status == 200, passed.body


@pytest.mark.parametrize(
    ("headers", "status", "kind", "message"),
    [
        ({"anthropic-version": "2023-06-01"}, 401, "authentication_error", "header is required"),
        ({**HEADERS, "x-api-key": "no"}, 401, "authentication_error", "invalid x-api-key"),
        ({"x-api-key": "test-key"}, 400, "invalid_request_error", "anthropic-version: header"),
        ({**HEADERS, "anthropic-beta": "made-up"}, 400, "invalid_request_error", "made-up"),
    ],
)
async def test_headers_are_checked(
    headers: dict[str, str], status: int, kind: str, message: str
) -> None:
    async with fakes.serve(FakeAnthropic()) as url:
        raw = await post(url + "/v1/messages", body("opus-5", {}), headers)
    assert raw.status == status
    assert raw.json()["error"]["type"] == kind
    assert message in raw.json()["error"]["message"]


async def test_an_unknown_model_is_not_found() -> None:
    raw = await ask(FakeAnthropic(), body("opus-9", {}))
    assert (raw.status, raw.json()["error"]["type"]) == (404, "not_found_error")
    assert raw.json()["error"]["message"] == "model: claude-opus-9"


async def test_a_body_that_is_no_json_is_told_so() -> None:
    raw = await ask(FakeAnthropic(), b"{not json")
    assert raw.status == 400
    assert "not valid JSON" in raw.json()["error"]["message"]


async def test_a_prompt_that_does_not_fit_is_refused_with_both_numbers() -> None:
    raw = await ask(FakeAnthropic(context=20), body("opus-5", {}))
    assert "prompt is too long: " in raw.json()["error"]["message"]
    assert "> 20 maximum" in raw.json()["error"]["message"]


async def test_the_model_list_tells_what_can_be_switched() -> None:
    async with fakes.serve(FakeAnthropic()) as url:
        raw = await get(url + "/v1/models/claude-opus-5-5", HEADERS)
    thinking = raw.json()["capabilities"]["thinking"]
    assert thinking["types"]["disabled"]["supported"] is False
    assert thinking["types"]["adaptive"]["supported"] is True


# ---------------------------------------------------------------------------- signatures


class Talk:
    """A conversation with one fake over one server."""

    def __init__(self, url: str, model: str, **fields: Any) -> None:
        self.url, self.model, self.fields = url, f"claude-{model}", fields
        self.messages: list[Any] = [copy.deepcopy(ASK)]
        self.headers = dict(HEADERS)

    async def send(self, **fields: Any) -> Raw:
        whole = {"model": self.model, "max_tokens": 4096, **self.fields, **fields}
        return await post(
            self.url + "/v1/messages", {"messages": self.messages, **whole}, self.headers
        )

    async def go_on(self, *answer_back: Any) -> None:
        """Take an answer into the history, then the person's next words."""
        raw = await self.send()
        assert raw.status == 200, raw.body
        self.messages.append({"role": "assistant", "content": raw.json()["content"]})
        self.messages.append({"role": "user", "content": list(answer_back) or "go on"})


def thinker(**how: Any) -> FakeAnthropic:
    turn = answer(Think("let me see"), "well")
    return FakeAnthropic(play(turn, turn, turn, turn), **how)


async def test_a_thought_that_comes_back_unchanged_is_accepted() -> None:
    async with fakes.serve(thinker()) as url:
        talk = Talk(url, "opus-5", thinking={**ADAPTIVE, "display": "summarized"})
        await talk.go_on()
        assert (await talk.send()).status == 200


@pytest.mark.parametrize("change", ["text", "signature", "order", "model"])
async def test_a_changed_thought_is_refused(change: str) -> None:
    two = answer(Think("first"), "a", Think("second"), "b")
    async with fakes.serve(FakeAnthropic(play(two))) as url:
        talk = Talk(url, "opus-5", thinking={**ADAPTIVE, "display": "summarized"})
        await talk.go_on()
        blocks = talk.messages[1]["content"]
        match change:
            case "text":
                blocks[0]["thinking"] += "!"
            case "signature":
                blocks[0]["signature"] = blocks[0]["signature"][:-4] + "AAA="
            case "order":
                blocks[0], blocks[2] = blocks[2], blocks[0]
            case _:
                talk.model = "claude-sonnet-5"
        raw = await talk.send()
    assert raw.status == 400
    assert (
        "messages.1.content.0: Invalid `signature` in `thinking` block"
        in raw.json()["error"]["message"]
    )


async def test_empty_thinking_with_a_signature_has_to_come_back_too() -> None:
    async with fakes.serve(thinker()) as url:
        talk = Talk(url, "opus-4-8", thinking=ADAPTIVE)
        await talk.go_on()
        assert talk.messages[1]["content"][0]["thinking"] == ""
        assert (await talk.send()).status == 200


async def test_leaving_all_thoughts_out_is_allowed_outside_a_budget_loop() -> None:
    async with fakes.serve(thinker()) as url:
        talk = Talk(url, "fable-5-2")
        await talk.go_on()
        del talk.messages[1]["content"][0]
        assert (await talk.send()).status == 200


@pytest.mark.parametrize("change", ["system", "tools", "message"])
async def test_a_new_prefix_unbinds_the_thoughts_of_bound_models(change: str) -> None:
    async with fakes.serve(thinker()) as url:
        bound, free = Talk(url, "opus-5-5"), Talk(url, "opus-5")
        for talk in (bound, free):
            await talk.go_on()
            if change == "message":
                talk.messages[0]["content"] = "hello"
            else:
                talk.fields[change] = {"system": "be brief", "tools": [TOOL]}[change]
        refused, passed = await bound.send(), await free.send()
    assert refused.status == 400
    assert "bound to a different conversation" in refused.json()["error"]["message"]
    assert 'prefix_mismatch_behavior to "drop_block"' in refused.json()["error"]["message"]
    assert passed.status == 200


async def test_cache_marks_and_string_content_do_not_change_a_prefix() -> None:
    async with fakes.serve(thinker()) as url:
        talk = Talk(url, "fable-5-2", system="be kind")
        await talk.go_on()
        mark = {"cache_control": {"type": "ephemeral"}}
        talk.fields["system"] = [{**text("be kind"), **mark}]
        talk.messages[0]["content"] = [text("hi")]
        talk.messages[2]["content"] = [{**text("go on"), **mark}]
        assert (await talk.send()).status == 200


async def test_drop_block_lets_a_moved_thought_go_and_says_so() -> None:
    async with fakes.serve(thinker()) as url:
        talk = Talk(url, "fable-5-1")
        await talk.go_on()
        talk.fields["system"] = "new"
        talk.fields["thinking"] = {
            **ADAPTIVE,
            "block_binding": {"prefix_mismatch_behavior": "drop_block"},
        }
        talk.headers["anthropic-beta"] = "thinking-binding-controls-2026-08-01"
        raw = await talk.send()
    assert raw.status == 200
    assert raw.json()["input_transformations"] == [
        {
            "type": "thinking_dropped",
            "path": "messages.1.content.0",
            "reason": "prefix_binding_mismatch",
        }
    ]


@pytest.mark.parametrize(("model", "status"), [("fable-5-1", 200), ("fable-5-2", 400)])
async def test_old_accounts_are_only_warned_but_not_by_every_model(model: str, status: int) -> None:
    async with fakes.serve(thinker(old_account=True)) as url:
        talk = Talk(url, model)
        await talk.go_on()
        talk.fields["system"] = "new"
        raw = await talk.send()
    assert raw.status == status
    if status == 200:
        assert raw.json()["input_transformations"][0]["type"] == "thinking_mismatch_allowed"


async def test_thinking_switched_off_in_an_open_tool_loop_must_leave_its_thoughts_out() -> None:
    fake = FakeAnthropic(play(answer(Think("hm"), Call("look")), answer("done"), answer("done")))
    async with fakes.serve(fake) as url:
        talk = Talk(url, "opus-4-6", tools=[TOOL], thinking=ADAPTIVE)
        raw = await talk.send()
        blocks = raw.json()["content"]
        talk.messages.append({"role": "assistant", "content": blocks})
        result = {**RESULT, "tool_use_id": blocks[1]["id"]}
        talk.messages.append({"role": "user", "content": [result]})
        refused = await talk.send(thinking=OFF)
        del blocks[0]
        passed = await talk.send(thinking=OFF)
    assert "cannot contain `thinking`" in refused.json()["error"]["message"]
    assert passed.status == 200


async def test_a_budget_model_thinks_again_after_a_tool_only_with_the_interleaved_header() -> None:
    for beta, kinds in (
        (None, ["text"]),
        ("interleaved-thinking-2025-05-14", ["thinking", "text"]),
    ):
        fake = FakeAnthropic(play(answer(Think("a"), Call("look")), answer(Think("b"), "done")))
        async with fakes.serve(fake) as url:
            talk = Talk(url, "haiku-4-5", tools=[TOOL], thinking=BUDGET)
            if beta:
                talk.headers["anthropic-beta"] = beta
            first = (await talk.send()).json()["content"]
            talk.messages.append({"role": "assistant", "content": first})
            result = {**RESULT, "tool_use_id": first[1]["id"]}
            talk.messages.append({"role": "user", "content": [result]})
            second = await talk.send()
        assert [block["type"] for block in second.json()["content"]] == kinds
