"""Corners of the served dialects: failures, opaque blocks, attachments, what is passed over."""

import json
from typing import Any

import pytest

from silu.types import events as ev
from silu.types.errors import Failure
from silu.types.parts import Citation, FilePart, ImagePart, ThinkingPart, ToolResultPart
from silu.types.usage import Usage
from silu.wire.serve import (
    BadRequestError,
    ServeOptions,
    decode_request,
    encode_error,
    encode_events,
    encoder,
)

CHAT, CLAUDE = "openai-chat", "anthropic-messages"
DIALECTS = (
    CHAT,
    CLAUDE,
    "openai-responses",
    "gemini-generate",
    "ollama-chat",
    "mistral-chat",
    "bedrock-converse",
)
FAILED = ev.VendorFailure(Failure(kind="server", message="it broke"))
BEGUN: list[ev.StreamEvent] = [
    ev.Served("m2", "r2"),
    ev.Keepalive(),
    ev.BlockStart(0, "text"),
    ev.TextDelta(0, "half"),
    ev.CitationData(0, Citation(url="https://example.com")),
]


def written(dialect: str, happenings: list[ev.StreamEvent], *, stream: bool, **how: Any) -> bytes:
    options = ServeOptions(**how)
    return b"".join(encode_events(dialect, happenings, stream=stream, options=options))


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_tells_a_failure_with_its_sentence(dialect: str, stream: bool) -> None:
    writer = encoder(dialect, stream=stream)
    data = b"".join(writer.feed(event) for event in [*BEGUN, FAILED]) + writer.close()
    assert b"it broke" in data
    assert writer.status == (200 if stream else 500)
    assert (b"half" in data) is stream


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_has_an_error_body(dialect: str) -> None:
    status, body = encode_error(dialect, Failure(kind="rate_limit", message="slow down"))
    assert status == 429
    assert "slow down" in json.dumps(json.loads(body))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_opaque_data_of_the_whole_message_and_plain_fields_add_nothing(dialect: str) -> None:
    plain = [ev.ContinuityData(None, "x", '"y"', "other"), ev.ContinuityData(0, "r", "null", "f")]
    quiet = [] if dialect in (CHAT, "mistral-chat") else plain[:1]
    happenings = [*BEGUN, *quiet, plain[1], ev.BlockEnd(0), ev.Finish("stop", None)]
    with_data = written(dialect, happenings, stream=True)
    without = [e for e in happenings if not isinstance(e, ev.ContinuityData)]
    if dialect != "gemini-generate":
        assert with_data == written(dialect, without, stream=True)


def test_a_dialect_nobody_serves_is_refused() -> None:
    with pytest.raises(BadRequestError):
        encoder("smoke-signals", stream=True)
    with pytest.raises(BadRequestError):
        decode_request("gemini-generate", {})


def test_a_vendors_finish_word_is_passed_on_where_asked() -> None:
    ends = [*BEGUN, ev.BlockEnd(0), ev.Finish("stop", "odd_word")]
    for dialect in (CHAT, CLAUDE, "gemini-generate"):
        for stream in (True, False):
            assert b"odd_word" in written(dialect, ends, stream=stream, raw_finish=True)


BLOCKS: list[ev.StreamEvent] = [
    ev.BlockStart(0, "thinking", "redacted"),
    ev.ContinuityData(0, "data", '"c2VhbA=="', "data"),
    ev.BlockEnd(0),
    ev.BlockStart(1, "server_tool"),
    ev.BlockData(1, "search", '{"type":"server_tool_use","id":"s","name":"search","input":{}}'),
    ev.BlockEnd(1),
    ev.BlockStart(2, "thinking", "full"),
    ev.ContinuityData(2, "signature", '"c2ln"', "signature"),
    ev.BlockEnd(2),
    ev.BlockStart(3, "tool_call"),
    ev.BlockEnd(3),
    ev.BlockStart(4, "tool_call"),
    ev.ToolCallDelta(4, "t", "look", '{"cut'),
    ev.BlockEnd(4),
    ev.Finish("length", None),
]


def test_redacted_and_vendor_blocks_are_whole_in_a_stream_and_in_a_document() -> None:
    stream = written(CLAUDE, BLOCKS, stream=True).decode()
    assert '"content_block":{"type":"redacted_thinking","data":"c2VhbA=="}' in stream
    assert '"content_block":{"type":"server_tool_use"' in stream
    body = json.loads(written(CLAUDE, BLOCKS, stream=False))
    assert body["content"][:3] == [
        {"type": "redacted_thinking", "data": "c2VhbA=="},
        {"type": "server_tool_use", "id": "s", "name": "search", "input": {}},
        {"type": "thinking", "thinking": "", "signature": "c2ln"},
    ]
    # Arguments that were cut are no JSON object: the block keeps its place with none.
    assert body["content"][-1]["input"] == {}
    assert body["stop_reason"] == "max_tokens"


def test_a_redacted_thought_of_bedrock_is_whole_in_both_forms() -> None:
    for stream in (True, False):
        data = written("bedrock-converse", BLOCKS[:3], stream=stream)
        assert b'"redactedContent":"c2VhbA=="' in data


def test_withheld_and_open_thoughts_of_responses_are_items_in_both_forms() -> None:
    happenings: list[ev.StreamEvent] = [
        ev.BlockStart(0, "thinking", "summary"),
        ev.ContinuityData(0, "e", '"c2VhbA=="', "encrypted_content"),
        ev.BlockEnd(0),
        ev.BlockStart(1, "thinking", "full"),
        ev.ThinkingDelta(1, "open"),
        ev.BlockEnd(1),
        ev.BlockStart(2, "thinking", "summary"),
        ev.BlockEnd(2),
        ev.BlockStart(3, "text"),
        ev.BlockEnd(3),
        ev.Finish("content_filter", None),
    ]
    body = json.loads(written("openai-responses", happenings, stream=False))
    assert [item["type"] for item in body["output"]] == ["reasoning"] * 3
    assert body["output"][0]["encrypted_content"] == "c2VhbA=="
    assert body["output"][1]["content"] == [{"type": "reasoning_text", "text": "open"}]
    assert body["incomplete_details"] == {"reason": "content_filter"}
    stream = written("openai-responses", happenings, stream=True).decode()
    assert "event: response.reasoning_text.delta" in stream
    assert "event: response.incomplete" in stream


def test_cached_tokens_stand_where_the_dialect_has_them() -> None:
    usage = ev.UsageReport(Usage(input_tokens=9, output_tokens=2, cache_read_tokens=4))
    happenings = [*BEGUN, ev.BlockEnd(0), usage, ev.Finish("stop", None)]
    body = json.loads(written("gemini-generate", happenings, stream=False))
    assert body["usageMetadata"]["cachedContentTokenCount"] == 4


def test_usage_may_stand_in_the_choice() -> None:
    usage = ev.UsageReport(Usage(input_tokens=1, output_tokens=2))
    data = written(CHAT, [*BEGUN, usage], stream=True, usage_in_choice=True).decode()
    assert '"finish_reason":null,"usage":' in data


PNG = "data:image/png;base64,aGk="


def test_attachments_of_a_chat_request_are_read() -> None:
    content = [
        {"type": "image_url", "image_url": {"url": PNG}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
        {"type": "file", "file": {"file_data": "data:;base64,aGk=", "filename": "a.bin"}},
        {"type": "refusal", "refusal": "no"},
    ]
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    inline, linked, file, refused = decode_request(CHAT, body).call.messages[0].parts
    assert isinstance(inline, ImagePart) and inline.data == "aGk="
    assert isinstance(linked, ImagePart) and linked.url == "https://example.com/a.png"
    assert isinstance(file, FilePart) and file.media_type == "application/octet-stream"
    assert getattr(refused, "text", "") == "no"
    body["messages"][0]["content"] = [{"type": "image_url", "image_url": {"url": "data:oops"}}]
    with pytest.raises(BadRequestError, match="base64 data URL"):
        decode_request(CHAT, body)


def test_a_reasoning_budget_and_a_plain_request_of_chat_are_read() -> None:
    ask = {"model": "m", "messages": [{"role": "user", "content": "x"}]}
    assert decode_request(CHAT, {**ask, "reasoning": {"max_tokens": 16_000}}).call.level == "high"
    assert decode_request(CHAT, {**ask, "reasoning": {}}).call.level == "default"
    assert decode_request(CHAT, {**ask, "thinking": {"type": "auto"}}).call.level == "adaptive"
    silent = {**ask, "messages": [{"role": "assistant", "content": None}, *ask["messages"]]}
    assert decode_request(CHAT, silent).call.messages[0].parts == []


def test_blocks_of_a_message_request_are_read() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "a"}}
    paper = {"type": "document", "title": "T", "source": {"type": "text", "data": "words"}}
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    result = {"type": "tool_result", "tool_use_id": "t", "content": parts}
    body: dict[str, Any] = {
        "model": "m",
        "max_tokens": 9,
        "tools": [{"name": "look", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": [image, paper]},
            {
                "role": "assistant",
                "content": [
                    {"type": "redacted_thinking", "data": "c2VhbA=="},
                    {"type": "text", "text": "x"},
                    {"type": "tool_use", "id": "t", "name": "look", "input": {}},
                ],
            },
            {"role": "user", "content": [result]},
        ],
    }
    user, assistant, tool = decode_request(CLAUDE, body).call.messages
    assert isinstance(user.parts[0], ImagePart) and isinstance(user.parts[1], FilePart)
    assert isinstance(assistant.parts[0], ThinkingPart)
    assert assistant.continuity[0].data == '"c2VhbA=="'
    assert isinstance(tool.parts[0], ToolResultPart) and tool.parts[0].shown == "ab"
    for choice, word in (("any", "required"), ("none", "none"), ("auto", "auto")):
        asked = decode_request(CLAUDE, {**body, "tool_choice": {"type": choice}})
        assert asked.call.tool_choice == word
    named = {**body, "tool_choice": {"type": "tool", "name": "look"}}
    assert decode_request(CLAUDE, named).call.tool_choice == "look"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": []}, "messages"),
        ({"tool_choice": {"type": "tool"}}, "tool_choice.name"),
        (
            {"messages": [{"role": "user", "content": [{"type": "thinking", "thinking": "x"}]}]},
            "messages[0].content",
        ),
    ],
)
def test_a_message_request_is_refused_with_the_fields_name(fields: Any, param: str) -> None:
    good = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    with pytest.raises(BadRequestError) as caught:
        decode_request(CLAUDE, {**good, **fields})
    assert caught.value.param == param


def test_a_budget_only_switch_and_an_effort_word_of_claude_are_read() -> None:
    good = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    assert decode_request(CLAUDE, {**good, "thinking": {"type": "enabled"}}).call.level == "default"
    assert decode_request(CLAUDE, {**good, "output_config": {"effort": "low"}}).call.level == "low"
    enabled = {"type": "enabled", "budget_tokens": 20_000}
    assert decode_request(CLAUDE, {**good, "thinking": enabled}).call.level == "xhigh"
