"""The server half of the dialects: requests in, answers out."""

import json
from typing import Any

import pytest

from silu.types import events as ev
from silu.types.errors import Failure
from silu.types.levels import Level
from silu.types.parts import TextPart, ThinkingPart, ToolCallPart, ToolResultPart
from silu.types.usage import Usage
from silu.wire.serve import (
    BadRequestError,
    ServeOptions,
    decode_request,
    encode_error,
    encode_events,
)

CHAT, CLAUDE = "openai-chat", "anthropic-messages"
USAGE = Usage(
    input_tokens=100,
    output_tokens=20,
    reasoning_tokens=5,
    cache_read_tokens=30,
    cache_write_tokens=10,
)
TURN: list[ev.StreamEvent] = [
    ev.Served("big-model", "r1"),
    ev.BlockStart(0, "thinking", "full"),
    ev.ThinkingDelta(0, "hm "),
    ev.ThinkingDelta(0, "思"),
    ev.ContinuityData(0, "signature", '"sig"', "signature"),
    ev.BlockEnd(0),
    ev.BlockStart(1, "text"),
    ev.TextDelta(1, "hello"),
    ev.BlockEnd(1),
    ev.BlockStart(2, "tool_call"),
    ev.ToolCallDelta(2, "c1", "look", ""),
    ev.ToolCallDelta(2, "", "", '{"a":'),
    ev.ToolCallDelta(2, "", "", "1}"),
    ev.BlockEnd(2),
    ev.Finish("tool_calls", None),
    ev.UsageReport(USAGE),
]


def whole(dialect: str, happenings: list[ev.StreamEvent], **options: Any) -> Any:
    data = b"".join(
        encode_events(dialect, happenings, stream=False, options=ServeOptions(**options))
    )
    return json.loads(data)


def streamed(dialect: str, happenings: list[ev.StreamEvent], **options: Any) -> list[Any]:
    data = b"".join(
        encode_events(dialect, happenings, stream=True, options=ServeOptions(**options))
    ).decode()
    found: list[Any] = []
    for frame in data.split("\n\n"):
        line = frame.split("data: ", 1)[-1]
        if line.startswith("{"):
            found.append(json.loads(line))
    return found


def test_a_whole_chat_answer_holds_thinking_text_calls_and_usage() -> None:
    body = whole(CHAT, TURN, opaque=False)
    assert body["model"] == "big-model"
    assert body["choices"][0]["message"] == {
        "role": "assistant",
        "content": "hello",
        "reasoning_content": "hm 思",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"a":1}'}}
        ],
    }
    assert body["choices"][0]["finish_reason"] == "tool_calls"
    assert body["usage"]["prompt_tokens"] == 100
    assert body["usage"]["completion_tokens_details"] == {"reasoning_tokens": 5}


def test_a_chat_stream_says_the_same_and_ends_with_usage_and_done() -> None:
    chunks = streamed(CHAT, TURN, opaque=False)
    deltas = [c["choices"][0]["delta"] for c in chunks if c["choices"]]
    assert deltas[0]["role"] == "assistant"
    assert "".join(d.get("reasoning_content") or "" for d in deltas) == "hm 思"
    calls = [d["tool_calls"][0] for d in deltas if "tool_calls" in d]
    assert calls[0]["id"] == "c1"
    assert "".join(c["function"]["arguments"] for c in calls) == '{"a":1}'
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["total_tokens"] == 120
    raw = b"".join(encode_events(CHAT, TURN, stream=True))
    assert raw.endswith(b"data: [DONE]\n\n")


def test_a_chat_stream_leaves_usage_out_where_it_was_not_asked_for() -> None:
    assert "usage" not in streamed(CHAT, TURN, include_usage=False)[-1]


def test_a_whole_message_keeps_blocks_in_order_with_their_signature() -> None:
    body = whole(CLAUDE, TURN)
    assert body["content"] == [
        {"type": "thinking", "thinking": "hm 思", "signature": "sig"},
        {"type": "text", "text": "hello"},
        {"type": "tool_use", "id": "c1", "name": "look", "input": {"a": 1}},
    ]
    assert body["stop_reason"] == "tool_use"
    assert body["usage"] == {
        "input_tokens": 60,
        "cache_read_input_tokens": 30,
        "cache_creation_input_tokens": 10,
        "output_tokens": 20,
        "output_tokens_details": {"thinking_tokens": 5},
    }


def test_a_message_stream_opens_and_closes_every_block() -> None:
    found = streamed(CLAUDE, TURN)
    kinds = [e["type"] for e in found]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 3
    signature = next(i for i, e in enumerate(found) if "signature" in e.get("delta", {}))
    assert kinds[signature + 1] == "content_block_stop"
    assert found[-2]["usage"]["output_tokens"] == 20


def test_a_rerouted_block_goes_on_under_its_new_kind_and_loses_nothing() -> None:
    happenings: list[ev.StreamEvent] = [
        ev.BlockStart(0, "text"),
        ev.TextDelta(0, "was it a thought? "),
        ev.Reroute(0, "thinking"),
        ev.ThinkingDelta(0, "yes"),
        ev.BlockEnd(0),
        ev.Finish("stop", None),
    ]
    found = [e for e in streamed(CLAUDE, happenings) if e["type"] == "content_block_start"]
    assert [e["content_block"]["type"] for e in found] == ["text", "thinking"]
    assert whole(CLAUDE, happenings)["content"][0]["thinking"] == "was it a thought? yes"


def test_an_empty_thought_is_still_a_block() -> None:
    happenings: list[ev.StreamEvent] = [
        ev.BlockStart(0, "thinking", "full"),
        ev.BlockEnd(0),
        ev.Finish("stop", None),
    ]
    kinds = [e["type"] for e in streamed(CLAUDE, happenings)]
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 1


@pytest.mark.parametrize("dialect", [CHAT, CLAUDE])
def test_a_failure_in_a_stream_is_its_last_event(dialect: str) -> None:
    failure = ev.VendorFailure(Failure(kind="stream_cut", message="cut"))
    found = streamed(dialect, [*TURN[:4], failure])
    assert found[-1]["error"]["message"] == "cut"
    raw = b"".join(encode_events(dialect, [*TURN[:4], failure], stream=True))
    assert b"[DONE]" not in raw
    assert b"message_stop" not in raw


@pytest.mark.parametrize(
    ("dialect", "kind", "status", "word"),
    [
        (CHAT, "auth", 401, "authentication_error"),
        (CHAT, "rate_limit", 429, "rate_limit_error"),
        (CLAUDE, "overloaded", 529, "overloaded_error"),
        (CLAUDE, "unknown_model", 404, "not_found_error"),
        (CHAT, "context_overflow", 400, "invalid_request_error"),
    ],
)
def test_error_bodies_have_the_dialects_words(
    dialect: str, kind: Any, status: int, word: str
) -> None:
    told, body = encode_error(dialect, Failure(kind=kind, message="no"))
    assert told == status
    assert json.loads(body)["error"]["type"] == word


def test_a_chat_request_becomes_messages_tools_and_a_level() -> None:
    served = decode_request(
        CHAT,
        {
            "model": "deepseek/deepseek-v4-pro",
            "reasoning_effort": "high",
            "stream": True,
            "stream_options": {"include_usage": True},
            "stop": "END",
            "seed": 7,
            "max_completion_tokens": 50,
            "tools": [{"type": "function", "function": {"name": "look"}}],
            "tool_choice": {"type": "function", "function": {"name": "look"}},
            "messages": [
                {"role": "developer", "content": "be brief"},
                {"role": "user", "content": [{"type": "text", "text": "see"}]},
                {
                    "role": "assistant",
                    "content": None,
                    "reasoning_content": "hm",
                    "tool_calls": [
                        {
                            "id": "a",
                            "type": "function",
                            "function": {"name": "look", "arguments": "{}"},
                        },
                        {
                            "id": "b",
                            "type": "function",
                            "function": {"name": "look", "arguments": "{}"},
                        },
                    ],
                },
                {"role": "tool", "tool_call_id": "a", "content": "one"},
                {"role": "tool", "tool_call_id": "b", "content": "two"},
            ],
        },
    )
    call = served.call
    assert [m.role for m in call.messages] == ["system", "user", "assistant", "tool"]
    assert isinstance(call.messages[2].parts[0], ThinkingPart)
    results = [p for p in call.messages[3].parts if isinstance(p, ToolResultPart)]
    assert [(r.call_id, r.name, r.shown) for r in results] == [
        ("a", "look", "one"),
        ("b", "look", "two"),
    ]
    assert (call.level, served.level_given, call.tool_choice) == (Level.HIGH, True, "look")
    assert (call.max_tokens, served.stop, served.include_usage) == (50, ("END",), True)
    assert served.ignored == ("seed",)


@pytest.mark.parametrize(
    ("fields", "level"),
    [
        ({}, "default"),
        ({"reasoning_effort": "none"}, Level.OFF),
        ({"thinking": {"type": "disabled"}, "reasoning_effort": "high"}, Level.OFF),
        ({"thinking": {"type": "enabled"}}, "default"),
        ({"thinking": {"type": "enabled", "budget_tokens": 8000}}, Level.MEDIUM),
        ({"reasoning": {"effort": "xhigh"}}, Level.XHIGH),
        ({"reasoning": {"enabled": False}}, Level.OFF),
        ({"enable_thinking": False}, Level.OFF),
    ],
)
def test_every_form_of_asking_for_thinking_is_read(fields: dict[str, Any], level: Any) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], **fields}
    assert decode_request(CHAT, body).call.level == level


@pytest.mark.parametrize(
    ("fields", "level"),
    [
        ({}, "default"),
        ({"thinking": {"type": "adaptive"}}, Level.ADAPTIVE),
        ({"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}}, Level.MAX),
        ({"thinking": {"type": "disabled"}}, Level.OFF),
        ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, Level.MINIMAL),
        ({"thinking": {"type": "enabled", "budget_tokens": 40000}}, Level.MAX),
    ],
)
def test_claude_forms_of_asking_are_read_too(fields: dict[str, Any], level: Any) -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}], **fields}
    assert decode_request(CLAUDE, body).call.level == level


def test_a_message_request_keeps_signatures_beside_and_results_in_their_own_message() -> None:
    served = decode_request(
        CLAUDE,
        {
            "model": "m",
            "max_tokens": 9,
            "system": [{"type": "text", "text": "be kind", "cache_control": {"type": "ephemeral"}}],
            "messages": [
                {"role": "user", "content": "x"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "hm", "signature": "sig"},
                        {"type": "tool_use", "id": "t", "name": "look", "input": {"a": 1}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "t",
                            "content": "no",
                            "is_error": True,
                        },
                        {"type": "text", "text": "go on"},
                    ],
                },
            ],
        },
    )
    roles = [m.role for m in served.call.messages]
    assert roles == ["system", "user", "assistant", "tool", "user"]
    assistant = served.call.messages[2]
    assert assistant.continuity[0].data == '"sig"'
    assert assistant.continuity[0].part == assistant.parts[0].id
    assert isinstance(assistant.parts[1], ToolCallPart)
    assert assistant.parts[1].arguments == '{"a":1}'
    result = served.call.messages[3].parts[0]
    assert isinstance(result, ToolResultPart)
    assert (result.status, result.name) == ("error", "look")
    assert isinstance(served.call.messages[4].parts[0], TextPart)


@pytest.mark.parametrize(
    ("dialect", "fields", "param"),
    [
        (CHAT, {"messages": []}, "messages"),
        (CHAT, {"messages": [{"role": "user", "content": 3}]}, "messages[0].content"),
        (CHAT, {"messages": [{"role": "tool", "content": "x"}]}, "messages[0].tool_call_id"),
        (CHAT, {"reasoning_effort": "huge"}, "reasoning_effort"),
        (CHAT, {"n": 2}, "n"),
        (CLAUDE, {"max_tokens": 0}, "max_tokens"),
        (CLAUDE, {"max_tokens": None}, "max_tokens"),
        (CLAUDE, {"tools": [{"name": "x"}]}, "tools[0]"),
        (CLAUDE, {"output_config": {"effort": "huge"}}, "output_config.effort"),
    ],
)
def test_a_malformed_request_is_refused_with_the_fields_name(
    dialect: str, fields: dict[str, Any], param: str
) -> None:
    good = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    with pytest.raises(BadRequestError) as caught:
        decode_request(dialect, {**good, **fields})
    assert caught.value.param == param
    assert caught.value.status == 400
