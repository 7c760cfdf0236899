"""Hand-written requests against the plain OpenAI-compatible server."""

from typing import Any

import pytest

from silu import fakes
from silu.fakes import CompatServer, Think, answer, play
from tests.fakes.rawhttp import events, get, post

pytestmark = pytest.mark.anyio

KEY = {"authorization": "Bearer test-key"}
ASK = {"role": "user", "content": "hi"}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
DONE = {"role": "tool", "tool_call_id": "c1", "content": "seen"}


def calling(**change: Any) -> list[Any]:
    return [ASK, {**ASKED, "tool_calls": [{**CALL, **change}]}, DONE]


RULES: list[tuple[dict[str, Any], str | None, str, dict[str, Any]]] = [
    ({"model": 1}, "model", "Invalid type for 'model'", {}),
    ({"model": None}, "model", "Missing required parameter: 'model'", {}),
    ({"messages": []}, "messages", "empty array", {}),
    ({"messages": ["hi"]}, "messages[0]", "expected an object, but got string", {}),
    ({"messages": [{"content": "x"}]}, "messages[0].role", "Missing required parameter", {}),
    ({"messages": [{"role": "model", "content": "x"}]}, "messages[0].role", "Invalid value", {}),
    ({"messages": [{"role": "user", "content": None}]}, "messages[0].content", "got null", {}),
    (
        {"messages": [{"role": "user", "content": []}]},
        "messages[0].content",
        "empty array",
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]},
    ),
    (
        {"messages": [{"role": "user", "content": [{"type": "thinking", "thinking": "x"}]}]},
        "messages[0].content[0].type",
        "Supported values are: 'text'",
        {},
    ),
    ({"messages": [{**ASK, "signature": "x"}]}, "messages[0].signature", "Unknown parameter", {}),
    ({"thinking": {"type": "enabled"}}, "thinking", "Unknown parameter: 'thinking'", {}),
    ({"reasoning_effort": "low"}, "reasoning_effort", "Unknown parameter", {}),
    ({"enable_thinking": True}, "enable_thinking", "Unknown parameter", {}),
    ({"messages": calling(id="x" * 41)}, "messages[1].tool_calls[0].id", "maximum length 40", {}),
    ({"messages": calling(id="")}, "messages[1].tool_calls[0].id", "Invalid type", {}),
    ({"messages": calling(type="tool")}, "messages[1].tool_calls[0].type", "", {}),
    (
        {"messages": calling(function={"name": "look", "arguments": {}})},
        "messages[1].tool_calls[0].function.arguments",
        "got object",
        {"messages": [ASK, ASKED, DONE]},
    ),
    (
        {"messages": calling(function={"name": "lo ok", "arguments": "{}"})},
        "messages[1].tool_calls[0].function.name",
        "does not match pattern",
        {},
    ),
    (
        {"messages": [ASK, ASKED, ASK]},
        "messages[2].role",
        "did not have response messages: c1",
        {"messages": [ASK, ASKED, DONE, ASK]},
    ),
    ({"messages": [ASK, ASKED]}, "messages[2].role", "must be followed by tool messages", {}),
    ({"messages": [ASK, DONE]}, "messages[1].role", "must be a response to a preceeding", {}),
    ({"messages": [ASK, ASKED, DONE, DONE]}, "messages[3].role", "must be a response", {}),
    ({"tools": []}, "tools", "empty array", {"tools": [TOOL]}),
    ({"tools": [{"type": "function"}]}, "tools[0].function", "Missing required parameter", {}),
    (
        {
            "tools": [
                {"type": "function", "function": {"name": "x", "parameters": {"type": "array"}}}
            ]
        },
        "tools[0].function.parameters",
        "schema must be a JSON Schema of 'type: \"object\"'",
        {},
    ),
    (
        {"tool_choice": "auto"},
        "tool_choice",
        "only allowed when 'tools' are specified",
        {"tool_choice": "required", "tools": [TOOL]},
    ),
    ({"tools": [TOOL], "tool_choice": "any"}, "tool_choice", "Invalid value: 'any'", {}),
    (
        {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "x"}}},
        "tool_choice",
        "Tool choice 'x' not found",
        {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "look"}}},
    ),
    (
        {"stream_options": {"include_usage": True}},
        "stream_options",
        "only allowed when 'stream' is enabled",
        {"stream_options": {"include_usage": True}, "stream": True},
    ),
    ({"max_tokens": 0}, "max_tokens", "below minimum value", {"max_tokens": 1}),
    ({"max_completion_tokens": 1.5}, "max_completion_tokens", "expected an integer", {}),
    ({"temperature": 2.5}, "temperature", "above maximum value", {"temperature": 2}),
    ({"top_p": -1}, "top_p", "below minimum value", {"top_p": 0.5}),
]


def body(fields: dict[str, Any]) -> dict[str, Any]:
    whole = {"model": "local-model", "messages": [ASK], **fields}
    return {key: value for key, value in whole.items() if value is not None}


@pytest.mark.parametrize(("bad", "param", "message", "good"), RULES)
async def test_a_rule_refuses_the_bad_request_and_passes_the_good_one(
    bad: dict[str, Any], param: str | None, message: str, good: dict[str, Any]
) -> None:
    async with fakes.serve(CompatServer()) as url:
        refused = await post(url + "/chat/completions", body(bad), KEY)
        passed = await post(url + "/chat/completions", body(good), KEY)
    assert refused.status == 400
    error = refused.json()["error"]
    assert error["param"] == param
    assert error["type"] == "invalid_request_error"
    assert message in error["message"]
    assert passed.status == 200, passed.body


async def test_keys_models_and_routes_are_checked() -> None:
    async with fakes.serve(CompatServer()) as url:
        none = await post(url + "/chat/completions", body({}))
        wrong = await post(url + "/chat/completions", body({}), {"authorization": "Bearer no"})
        model = await post(url + "/chat/completions", body({"model": "x"}), KEY)
        route = await post(url + "/completions", body({}), KEY)
        listed = await get(url + "/models", KEY)
    assert (none.status, wrong.status, model.status, route.status) == (401, 401, 404, 404)
    assert wrong.json()["error"]["code"] == "invalid_api_key"
    assert model.json()["error"]["code"] == "model_not_found"
    assert [m["id"] for m in listed.json()["data"]] == ["local-model"]


async def test_a_server_without_keys_takes_any() -> None:
    async with fakes.serve(CompatServer(key=None)) as url:
        assert (await post(url + "/chat/completions", body({}))).status == 200


async def test_an_unknown_effort_is_refused_with_the_accepted_ones() -> None:
    async with fakes.serve(CompatServer(thinking="effort")) as url:
        refused = await post(url + "/chat/completions", body({"reasoning_effort": "max"}), KEY)
        passed = await post(url + "/chat/completions", body({"reasoning_effort": "low"}), KEY)
        off = await post(url + "/chat/completions", body({"reasoning_effort": "none"}), KEY)
    assert refused.json()["error"]["code"] == "unsupported_value"
    assert "Supported values are: 'none', 'minimal', 'low'" in refused.json()["error"]["message"]
    assert "reasoning_content" in passed.json()["choices"][0]["message"]
    assert "reasoning_content" not in off.json()["choices"][0]["message"]


async def test_a_server_may_use_another_field_and_refuse_the_echo() -> None:
    fake = CompatServer(play(answer(Think("hm"), "ok")), field="reasoning", echo=False)
    async with fakes.serve(fake) as url:
        raw = await post(url + "/chat/completions", body({"stream": True}), KEY)
        back = [ASK, {"role": "assistant", "content": "ok", "reasoning": "hm"}, ASK]
        refused = await post(url + "/chat/completions", body({"messages": back}), KEY)
    deltas = [event["choices"][0]["delta"] for event in events(raw) if event["choices"]]
    assert "".join(delta.get("reasoning") or "" for delta in deltas) == "hm"
    assert refused.json()["error"]["param"] == "messages[1].reasoning"


async def test_a_loose_server_shrugs_at_fields_it_does_not_know() -> None:
    async with fakes.serve(CompatServer(thinking="ignore")) as url:
        raw = await post(url + "/chat/completions", body({"thinking": {"type": "off"}}), KEY)
    assert raw.status == 200
