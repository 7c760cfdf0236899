"""Reading anthropic-messages answers (field cases F031, F049–F054, F091; vendors.md §1.2)."""

import json
from typing import Any

import pytest

from silu.types.events import Finish, Served, VendorNote
from silu.types.parts import ServerToolPart, TextPart, ThinkingPart, VendorPart
from silu.types.rules import DecodeRules
from silu.types.usage import Usage
from tests.wire.reading import Answer, event_stream, read

START = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "model": "claude-x",
        "usage": {"input_tokens": 8, "output_tokens": 1},
    },
}


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": d} for d in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def thought(index: int, *texts: str, signature: str | None = "S") -> list[dict[str, Any]]:
    deltas = [{"type": "thinking_delta", "thinking": t} for t in texts]
    if signature is not None:
        deltas.append({"type": "signature_delta", "signature": signature})
    return block(index, {"type": "thinking", "thinking": "", "signature": ""}, *deltas)


def said(index: int, *texts: str) -> list[dict[str, Any]]:
    deltas = [{"type": "text_delta", "text": t} for t in texts]
    return block(index, {"type": "text", "text": ""}, *deltas)


def end(reason: str = "end_turn", **usage: int) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage or None},
        {"type": "message_stop"},
    ]


def stream(*events: dict[str, Any], rules: DecodeRules | None = None) -> Answer:
    return read("anthropic-messages", event_stream(START, *events), rules=rules)


def whole(*content: dict[str, Any], reason: str | None = "end_turn", **more: Any) -> Answer:
    body = {
        "type": "message",
        "id": "msg_1",
        "model": "claude-x",
        "content": list(content),
        "stop_reason": reason,
        **more,
    }
    return read("anthropic-messages", json.dumps(body).encode(), streaming=False)


def test_a_stream_and_a_whole_answer_give_the_same_message() -> None:
    streamed = stream(*thought(0, "th", "ink"), *said(1, "ans", "wer"), *end())
    at_once = whole(
        {"type": "thinking", "thinking": "think", "signature": "S"},
        {"type": "text", "text": "answer"},
    )
    assert streamed.message == at_once.message
    assert streamed.thinking == ["think"] and streamed.text == "answer"
    assert streamed.continuity == [("p1", "signature", '"S"', "signature")]
    assert Served("claude-x", "msg_1") in streamed.events


def test_a_thought_without_text_keeps_its_signature() -> None:
    for answer in (
        stream(*thought(0), *said(1, "x"), *end()),
        whole(
            {"type": "thinking", "thinking": "", "signature": "S"}, {"type": "text", "text": "x"}
        ),
    ):
        assert answer.thinking == [""]
        assert answer.continuity == [("p1", "signature", '"S"', "signature")]
        assert "ThinkingDelta" not in answer.kinds


def test_a_thought_with_neither_text_nor_signature_is_nothing() -> None:
    answer = stream(*thought(0, signature=None), *said(1, "x"), *end())
    assert answer.thinking == [] and answer.continuity == []


@pytest.mark.parametrize(
    ("start", "data"),
    [({"type": "thinking", "thinking": ""}, "null"), ({"type": "thinking", "signature": ""}, '""')],
)
def test_unsigned_thinking_is_kept_as_it_came(start: dict[str, Any], data: str) -> None:
    """Kimi, MiMo and MiniMax sign nothing, or send an empty signature."""
    answer = stream(
        *block(0, start, {"type": "thinking_delta", "thinking": "x"}), *said(1, "y"), *end()
    )
    assert answer.continuity == [("p1", "signature", data, "thinking")]


def test_redacted_thinking_is_a_thought_nobody_may_read() -> None:
    answer = stream(*block(0, {"type": "redacted_thinking", "data": "D"}), *said(1, "x"), *end())
    [part, _] = answer.message.parts
    assert isinstance(part, ThinkingPart) and (part.kind, part.text) == ("redacted", "")
    assert answer.continuity == [("p1", "redacted_thinking", '"D"', "data")]
    empty = stream(*block(0, {"type": "redacted_thinking", "data": ""}), *said(1, "x"), *end())
    assert empty.thinking == []


def test_interleaved_blocks_keep_their_order() -> None:
    answer = stream(
        *thought(0, "a", signature="S1"),
        *block(1, {"type": "tool_use", "id": "t1", "name": "f", "input": {}}),
        *thought(2, "b", signature="S2"),
        *block(
            3,
            {"type": "tool_use", "id": "t2", "name": "g", "input": {}},
            {"type": "input_json_delta", "partial_json": ""},
            {"type": "input_json_delta", "partial_json": '{"x":'},
            {"type": "input_json_delta", "partial_json": "1}"},
        ),
        *end("tool_use"),
    )
    assert [type(p).__name__ for p in answer.message.parts] == [
        "ThinkingPart",
        "ToolCallPart",
        "ThinkingPart",
        "ToolCallPart",
    ]
    assert answer.calls == [("f", {}), ("g", {"x": 1})]
    assert [data for _, _, data, _ in answer.continuity] == ['"S1"', '"S2"']
    assert answer.finish == Finish("tool_calls", "tool_use")


def test_a_call_whose_input_comes_with_its_start_is_read() -> None:
    use = {"type": "tool_use", "id": "t1", "name": "f", "input": {"b": 1, "a": 2.0}}
    for answer in (stream(*block(0, use), *end("tool_use")), whole(use, reason="tool_use")):
        assert answer.message.parts[0].arguments == '{"b": 1, "a": 2.0}'  # type: ignore[union-attr]


def test_a_call_without_an_id_gets_one() -> None:
    answer = whole({"type": "tool_use", "name": "f", "input": {}}, reason="tool_use")
    assert answer.call_ids[0]


def test_a_block_that_never_started_is_read() -> None:
    deltas = [
        {"type": "thinking_delta", "thinking": "r"},
        {"type": "text_delta", "text": "x"},
        {"type": "input_json_delta", "partial_json": "{}"},
    ]
    answer = stream(
        *(
            {"type": "content_block_delta", "index": i, "delta": delta}
            for i, delta in enumerate(deltas)
        ),
        *end(),
    )
    assert (answer.thinking, answer.text, answer.calls) == (["r"], "x", [("", {})])


def test_a_block_that_starts_twice_is_closed_between() -> None:
    first, second = said(0, "a")[:2], said(0, "b")
    assert stream(*first, *second, *end()).text == "ab"


def test_tools_the_vendor_ran_are_kept_whole() -> None:
    answer = stream(
        *block(
            0,
            {"type": "server_tool_use", "id": "srv1", "name": "bash", "input": {}},
            {"type": "input_json_delta", "partial_json": '{"cmd":"ls"}'},
        ),
        *block(1, {"type": "bash_tool_result", "tool_use_id": "srv1", "content": {"out": "x"}}),
        *block(2, {"type": "container_upload", "file_id": "f"}),
        *said(3, "done"),
        *end(),
    )
    use, result, other = answer.message.parts[:3]
    assert isinstance(use, ServerToolPart) and (use.name, use.call_id) == ("bash", "srv1")
    assert json.loads(use.data)["input"] == {"cmd": "ls"}
    assert isinstance(result, ServerToolPart) and (result.name, result.call_id) == ("", "srv1")
    assert isinstance(other, VendorPart) and other.kind == "container_upload"
    assert answer.calls == []


def test_a_server_tool_cut_in_its_input_keeps_what_came() -> None:
    start = {"type": "server_tool_use", "id": "s", "name": "bash", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"cm'}
    answer = stream(*block(0, start, delta)[:2])
    [part] = answer.message.parts
    assert json.loads(part.data)["input"] == '{"cm'  # type: ignore[union-attr]


def test_sources_stay_with_their_text_block() -> None:
    one = {"type": "web_search_result_location", "url": "https://e.x", "cited_text": "c"}
    answer = stream(
        *block(0, {"type": "text", "text": "a", "citations": [one]}),
        *block(
            1,
            {"type": "text", "text": ""},
            {"type": "text_delta", "text": "b"},
            {"type": "citations_delta", "citation": {"document_title": "T", "cited_text": "d"}},
            {"type": "citations_delta", "citation": "odd"},
        ),
        *end(),
    )
    first, second = answer.message.parts
    assert isinstance(first, TextPart) and isinstance(second, TextPart)
    assert [c.url for c in first.citations] == ["https://e.x"]
    assert [(c.title, c.cited) for c in second.citations] == [("T", "d")]
    assert [json.loads(data) for _, kind, data, _ in answer.continuity] == [
        [one],
        [{"document_title": "T", "cited_text": "d"}, "odd"],
    ]


def test_a_citation_before_any_text_opens_the_block() -> None:
    delta = {"type": "citations_delta", "citation": {"url": "https://e.x"}}
    answer = stream(*block(0, {"type": "text", "text": ""}, delta), *end())
    [part] = answer.message.parts
    assert isinstance(part, TextPart) and part.citations[0].url == "https://e.x"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "context_overflow"),
        ("new_reason", "unknown"),
    ],
)
def test_every_stop_reason_is_told(raw: str, reason: str) -> None:
    for answer in (
        stream(*said(0, "x"), *end(raw)),
        whole({"type": "text", "text": "x"}, reason=raw),
    ):
        assert answer.finish and (answer.finish.reason, answer.finish.raw) == (reason, raw)


@pytest.mark.parametrize(
    ("details", "told"),
    [
        ({"category": "reasoning_extraction", "explanation": "no"}, "reasoning_extraction: no"),
        ("plain", "plain"),
        ({}, None),
        (None, None),
        ([1], None),
    ],
)
def test_what_the_vendor_says_of_a_refusal_is_kept(details: Any, told: str | None) -> None:
    answer = whole({"type": "text", "text": "x"}, reason="refusal", stop_details=details)
    assert answer.finish and answer.finish.detail == told


def test_a_reason_that_is_an_error_fails_the_answer() -> None:
    assert stream(*said(0, "x"), *end("network_error")).failure


def test_what_was_dropped_of_the_input_is_told() -> None:
    told = [{"type": "thinking_dropped", "path": "messages.1", "reason": "model_mismatch"}, "odd"]
    delta = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
    answer = stream(
        *said(0, "x"), {**delta, "input_transformations": told}, {"type": "message_stop"}
    )
    note = VendorNote("thinking_dropped", "messages.1", "model_mismatch")
    assert note in answer.events
    assert note in whole({"type": "text", "text": "x"}, input_transformations=told).events


def test_usage_counts_cached_tokens_in_and_takes_the_last_report() -> None:
    first = {
        "type": "message_start",
        "message": {
            "usage": {
                "input_tokens": 8,
                "cache_read_input_tokens": 100000,
                "cache_creation_input_tokens": 2000,
                "output_tokens": 1,
            }
        },
    }
    last = {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn"},
        "usage": {"output_tokens": 30, "output_tokens_details": {"thinking_tokens": 9}},
    }
    body = event_stream(first, *said(0, "x"), last, last, {"type": "message_stop"})
    answer = read("anthropic-messages", body)
    assert answer.usage == Usage(
        input_tokens=102008,
        output_tokens=30,
        reasoning_tokens=9,
        cache_read_tokens=100000,
        cache_write_tokens=2000,
    )
    assert answer.kinds.count("UsageReport") == 2


def test_pings_are_signs_of_life_and_unknown_events_are_nothing() -> None:
    answer = stream({"type": "ping"}, {"type": "news"}, *said(0, "x"), *end())
    assert answer.kinds.count("Keepalive") == 1 and answer.failure is None


def test_an_error_event_fails_the_answer_and_keeps_what_came() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    answer = stream(*said(0, "Partial")[:2], error)
    assert answer.failure and answer.failure.kind == "overloaded" and answer.failure.retryable
    assert answer.text == "Partial" and answer.message.interrupted
    nameless = b'event: error\ndata: {"message": "it broke"}\n\n'
    failed = read("anthropic-messages", nameless).failure
    assert failed and "it broke" in failed.message


@pytest.mark.parametrize("kept", ["Partial", ""])
def test_a_stream_without_its_end_is_cut(kept: str) -> None:
    answer = stream(*said(0, kept)[:2])
    assert answer.failure and answer.failure.kind == "stream_cut"
    assert answer.text == kept


def test_a_cut_thought_has_no_signature_and_a_cut_call_is_marked() -> None:
    answer = stream(*thought(0, "hm")[:2])
    assert answer.thinking == ["hm"] and answer.continuity == []
    use = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"a'}
    cut = stream(*block(0, use, delta)[:2])
    assert cut.events[-2].unfinished  # type: ignore[union-attr]


def test_blocks_left_open_by_a_finished_answer_are_closed() -> None:
    answer = stream(*thought(0, "hm")[:3], *end("max_tokens"))
    assert answer.continuity == [("p1", "signature", '"S"', "signature")]
    other = stream(*block(0, {"type": "fallback"})[:1], *said(1, "x"), *end())
    assert any(isinstance(p, VendorPart) for p in other.message.parts)


def test_a_delta_with_a_reason_but_no_stop_event_is_a_whole_answer() -> None:
    assert stream(*said(0, "x"), *end()[:1]).failure is None


def test_a_stop_without_a_reason_is_taken_as_it_is() -> None:
    assert stream(*said(0, "x"), {"type": "message_stop"}).finish == Finish("unknown", None)
    assert whole({"type": "text", "text": "x"}, reason=None).finish == Finish("unknown", None)


def test_an_openai_end_mark_and_blank_data_do_no_harm() -> None:
    body = event_stream(START, *said(0, "x"), *end()) + b"data: \n\ndata: [DONE]\n\n"
    assert read("anthropic-messages", body).text == "x"


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"[]",
        b'{"type":"error","error":{"type":"api_error","message":"m"}}',
        b'{"error":"m"}',
    ],
)
def test_a_whole_body_that_is_no_message_fails(body: bytes) -> None:
    assert read("anthropic-messages", body, streaming=False).failure


def test_events_without_their_content_are_nothing() -> None:
    answer = stream(
        {"type": "content_block_start", "index": 5},
        {"type": "content_block_stop", "index": 5},
        {"type": "message_start"},
        *said(0, "x"),
        *end(),
    )
    assert answer.text == "x"


def test_blocks_that_are_there_when_the_message_starts_are_read() -> None:
    use = {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}
    message = START["message"] | {"content": [use], "stop_reason": "tool_use"}
    begun = {"type": "message_start", "message": message}
    answer = read("anthropic-messages", event_stream(begun, {"type": "message_stop"}))
    assert answer.calls == [("f", {"a": 1})]
    assert answer.finish == Finish("tool_calls", "tool_use", None)


def test_what_comes_for_a_block_of_another_kind_is_put_into_it() -> None:
    pieces = ({"type": "x_delta", "content": "a", "n": 1}, {"type": "x_delta", "content": "b"})
    answer = stream(*block(0, {"type": "compaction", "content": None}, *pieces), *end())
    [part] = answer.message.parts
    assert isinstance(part, VendorPart)
    assert json.loads(part.data) == {"type": "compaction", "content": "ab", "n": 1}


def test_tags_in_a_compatible_servers_text_are_routed() -> None:
    answer = stream(*said(0, "<think>r</th", "ink>x"), *end())
    assert (answer.thinking, answer.text) == (["r"], "x")


def test_events_and_fields_of_another_type_are_read_as_far_as_they_go() -> None:
    answer = stream(
        {
            "type": "content_block_start",
            "index": "odd",
            "content_block": {"type": "text", "text": ""},
        },
        {"type": "news", "delta": "just text", "message": [1]},
        {"type": "content_block_delta", "index": "0", "delta": {"type": "text_delta", "text": "x"}},
        *end(),
    )
    assert answer.text == "x"


@pytest.mark.parametrize("kind", ["tool_use", "server_tool_use"])
def test_damage_inside_a_block_that_is_kept_raw_fails_the_answer_at_once(kind: str) -> None:
    start = {"type": kind, "id": "t", "name": "f", "input": {"a": "DAMAGE"}}
    body = event_stream(START, *block(0, start)).replace(b"DAMAGE", b"\xbc")
    assert read("anthropic-messages", body).failure
    assert read("anthropic-messages", body[: body.index(b"event: content_block_stop")]).failure
