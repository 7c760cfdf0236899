"""Reading ollama-chat, mistral-chat and bedrock-converse answers, and their framings."""

import json
import struct
import zlib
from typing import Any

import pytest

from silu.types.events import Finish
from silu.types.parts import TextPart, ThinkingPart, VendorPart
from silu.types.usage import Usage
from silu.wire.eventstream import BROKEN, EXCEPTION, EventStream
from silu.wire.ndjson import NdJson
from silu.wire.sse import ALIVE
from tests.wire.reading import Answer, chunk, read, sse

# -- Ollama


def lines(*objects: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(o).encode() + b"\n" for o in objects)


def said(**message: Any) -> dict[str, Any]:
    return {"model": "q", "created_at": "t", "message": {"role": "assistant", **message}}


DONE = {"model": "q", "done": True, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 4}


def test_ollama_thinking_text_and_calls() -> None:
    call = {"id": "c1", "function": {"name": "f", "arguments": {"x": 1}}}
    bare = {"function": {"name": "g"}}
    text = {"function": {"name": "h", "arguments": '{"y":2}'}}
    body = lines(
        said(thinking="h", content=""),
        said(thinking="m"),
        said(content="hi"),
        said(tool_calls=[call, bare, text, {}]),
        DONE,
        said(content="late"),
    )
    answer = read("ollama-chat", body)
    assert (answer.thinking, answer.text) == (["hm"], "hi")
    assert answer.calls == [("f", {"x": 1}), ("g", {}), ("h", {"y": 2}), ("", {})]
    assert answer.call_ids[0] == "c1" and len(set(answer.call_ids)) == 4
    assert answer.finish == Finish("tool_calls", "stop")
    assert answer.usage == Usage(input_tokens=3, output_tokens=4)
    assert answer.continuity == [("p1", "reasoning", "null", "thinking")]


def test_ollama_whole_answers_and_lines_where_one_was_due() -> None:
    one = {**said(content="hi"), **DONE, "message": {"content": "hi"}}
    assert read("ollama-chat", json.dumps(one).encode(), streaming=False).text == "hi"
    assert read("ollama-chat", json.dumps(one, indent=1).encode(), streaming=False).text == "hi"
    many = lines(said(content="h"), said(content="i"), DONE)
    assert read("ollama-chat", many, streaming=False).text == "hi"
    assert read("ollama-chat", b"{}", streaming=False).failure
    assert read("ollama-chat", lines({"error": "m"}, DONE), streaming=False).failure


def test_ollama_errors_cuts_and_other_ends() -> None:
    answer = read("ollama-chat", lines(said(content="x"), {"error": "model crashed"}))
    assert answer.failure and "model crashed" in answer.failure.message and answer.text == "x"
    assert read("ollama-chat", lines(said(content="x"))).failure
    assert read("ollama-chat", b"<html></html>").failure
    limited = read("ollama-chat", lines(said(content="x"), DONE | {"done_reason": "length"}))
    assert limited.finish == Finish("length", "length")
    odd = read("ollama-chat", lines(said(content=7), DONE | {"done_reason": "load", "done": 1}))
    assert odd.finish and odd.finish.reason == "unknown"


def test_lines_of_json_are_cut_anywhere() -> None:
    framing = NdJson()
    assert framing.feed(b'{"a"') == [] and framing.feed(b"") == []
    assert framing.feed(b':1}\r\n\n{"b":2}') == [(b"", b'{"a":1}'), ALIVE]
    assert framing.close() == [(b"", b'{"b":2}')] and framing.close() == []


# -- Mistral


def test_mistral_thinking_chunks() -> None:
    def thinking(text: str, **more: Any) -> dict[str, Any]:
        return {"type": "thinking", "thinking": [{"type": "text", "text": text}], **more}

    answer = read(
        "mistral-chat",
        sse(
            chunk({"content": [thinking("", signature="lost")]}),
            chunk({"content": [thinking("h")]}),
            chunk({"content": ""}),
            chunk({"content": [thinking("m", signature="S", closed=None)]}),
            chunk({"content": [thinking("", closed=True), {"type": "text", "text": "a"}]}),
            chunk({"content": "b"}),
            chunk(finish="stop"),
        ),
    )
    assert (answer.thinking, answer.text) == (["hm"], "ab")
    [(part, kind, data, field)] = answer.continuity
    assert (part, kind, field) == ("p1", "thinking_chunk", "content")
    assert json.loads(data) == {"signature": "S", "closed": True}


# -- Bedrock


def framed(name: str, payload: Any, *, kind: str = "event", extra: bytes = b"") -> bytes:
    head = extra
    label = ":exception-type" if kind == "exception" else ":event-type"
    for key, value in ((":message-type", kind), (label, name)):
        head += bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(value))
        head += value.encode()
    body = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    start = struct.pack(">II", 16 + len(head) + len(body), len(head))
    whole = start + struct.pack(">I", zlib.crc32(start)) + head + body
    return whole + struct.pack(">I", zlib.crc32(whole))


def block(index: int, *deltas: Any, start: Any = None) -> bytes:
    out = b""
    if start is not None:
        out += framed("contentBlockStart", {"contentBlockIndex": index, "start": start})
    for delta in deltas:
        out += framed("contentBlockDelta", {"contentBlockIndex": index, "delta": delta})
    return out + framed("contentBlockStop", {"contentBlockIndex": index})


def stream(*pieces: bytes, stop: str = "end_turn", usage: Any = None) -> Answer:
    tail = framed("messageStop", {"stopReason": stop})
    tail += framed("metadata", {"usage": usage or {"inputTokens": 3, "outputTokens": 4}})
    return read("bedrock-converse", framed("messageStart", {"role": "assistant"}), *pieces, tail)


def whole(*content: Any, stop: str = "end_turn", **more: Any) -> Answer:
    message = {"role": "assistant", "content": list(content)}
    body = {"output": {"message": message}, "stopReason": stop, **more}
    return read("bedrock-converse", json.dumps(body).encode(), streaming=False)


USE = {"toolUse": {"toolUseId": "t1", "name": "f"}}


def test_bedrock_reasoning_text_and_calls() -> None:
    streamed = stream(
        block(
            0,
            {"reasoningContent": {"text": "h"}},
            {"reasoningContent": {"text": "m"}},
            {"reasoningContent": {"signature": "S"}},
        ),
        block(1, {"text": "h"}, {"text": "i"}),
        block(2, {"toolUse": {"input": '{"x"'}}, {"toolUse": {"input": ":1}"}}, start=USE),
        stop="tool_use",
    )
    at_once = whole(
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "S"}}},
        {"text": "hi"},
        {"toolUse": {**USE["toolUse"], "input": {"x": 1}}},
        stop="tool_use",
        usage={"inputTokens": 3, "outputTokens": 4},
    )
    for answer in (streamed, at_once):
        assert (answer.thinking, answer.text, answer.calls) == (["hm"], "hi", [("f", {"x": 1})])
        assert answer.continuity == [("p1", "signature", '"S"', "reasoningContent")]
        assert answer.finish == Finish("tool_calls", "tool_use")
        assert answer.usage == Usage(input_tokens=3, output_tokens=4)


def test_bedrock_sealed_reasoning_is_the_whole_of_its_pieces() -> None:
    sealed = [{"reasoningContent": {"redactedContent": piece}} for piece in ("QUJD", "REVG")]
    answer = stream(block(0, *sealed), block(1, {"text": "x"}))
    part = answer.message.parts[0]
    assert isinstance(part, ThinkingPart) and part.kind == "redacted"
    assert answer.continuity == [("p1", "redacted_content", '"QUJDREVG"', "redactedContent")]
    unseen = stream(block(0, {"reasoningContent": {"signature": "S"}}), block(1, {"text": "x"}))
    assert unseen.thinking == [""]
    assert stream(block(0, {"reasoningContent": {}}), block(1, {"text": "x"})).thinking == []


def test_bedrock_unsigned_reasoning_is_kept() -> None:
    answer = whole({"reasoningContent": {"reasoningText": {"text": "hm"}}}, {"text": "x"})
    assert answer.continuity == [("p1", "signature", "null", "reasoningContent")]


def test_bedrock_calls_without_input_or_start() -> None:
    answer = stream(block(0, start=USE), block(1, {"toolUse": {"input": "{}"}}, {"toolUse": {}}))
    assert answer.calls == [("f", {}), ("", {})]
    assert all(answer.call_ids)


def test_bedrock_usage_counts_cached_tokens_in() -> None:
    usage = {
        "inputTokens": 3,
        "outputTokens": 4,
        "cacheReadInputTokens": 10,
        "cacheWriteInputTokens": 1,
    }
    told = stream(block(0, {"text": "x"}), usage=usage).usage
    assert told == Usage(
        input_tokens=14, output_tokens=4, cache_read_tokens=10, cache_write_tokens=1
    )


def test_bedrock_sources_and_other_blocks() -> None:
    cited = {"content": [{"text": "a"}, {"text": ""}], "citations": [{"title": "T"}, {"title": 1}]}
    answer = whole({"citationsContent": cited}, {"image": {"format": "png"}}, {"text": ""})
    text, picture = answer.message.parts
    assert isinstance(text, TextPart) and [c.title for c in text.citations] == ["T", None]
    assert isinstance(picture, VendorPart) and picture.kind == "image"
    streamed = stream(block(0, {"text": "a"}, {"citation": {"title": "T"}}))
    [part] = streamed.message.parts
    assert isinstance(part, TextPart) and len(part.citations) == 1


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("max_tokens", "length"),
        ("guardrail_intervened", "content_filter"),
        ("model_context_window_exceeded", "context_overflow"),
        ("new_one", "unknown"),
    ],
)
def test_bedrock_ends(raw: str, reason: str) -> None:
    for answer in (stream(block(0, {"text": "x"}), stop=raw), whole({"text": "x"}, stop=raw)):
        assert answer.finish and (answer.finish.reason, answer.finish.raw) == (reason, raw)


def test_bedrock_failures() -> None:
    start = framed("messageStart", {"role": "assistant"})
    text = framed("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "x"}})
    for body, kind in (
        (framed("throttlingException", {"message": "slow"}, kind="exception"), "rate_limit"),
        (framed("modelTimeoutException", b"no JSON", kind="exception"), "timeout"),
        (framed("messageStop", {"stopReason": "malformed_tool_use"}), "bad_request"),
        (b"\x00" * 40, "bad_data"),
        (b"", "stream_cut"),
    ):
        answer = read("bedrock-converse", start + text + body)
        assert answer.failure and answer.failure.kind == kind, kind
        assert answer.text == "x"
    for document in (b"{}", b'{"message":"no"}', b'{"output":{}}', b'{"output":7}'):
        assert read("bedrock-converse", document, streaming=False).failure
    assert whole({"text": "x"}, stop="malformed_model_output").failure


def test_bedrock_blocks_left_open_are_closed() -> None:
    cut = framed("contentBlockStart", {"contentBlockIndex": 0, "start": USE})
    cut += framed(
        "contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": '{"'}}}
    )
    answer = read("bedrock-converse", cut)
    assert answer.events[-2].unfinished  # type: ignore[union-attr]
    thought = framed(
        "contentBlockDelta", {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "h"}}}
    )
    assert read("bedrock-converse", thought).continuity == []
    assert stream(thought).continuity == [("p1", "signature", "null", "reasoningContent")]


def test_bedrock_events_without_content_and_misfits_do_no_harm() -> None:
    answer = stream(
        framed("contentBlockDelta", {"contentBlockIndex": 0}),
        framed("contentBlockStart", {"contentBlockIndex": 0, "start": {}}),
        framed("news", b""),
        framed("contentBlockDelta", {"contentBlockIndex": "odd", "delta": {"text": "x"}}),
    )
    assert answer.text == "x"


def test_a_bedrock_stream_where_a_document_was_due_is_read() -> None:
    body = framed("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "x"}})
    body += framed("messageStop", {"stopReason": "end_turn"})
    assert read("bedrock-converse", body, streaming=False).text == "x"


# -- the AWS event stream


def test_messages_are_cut_anywhere_and_all_headers_are_stepped_over() -> None:
    extra = (
        b"\x01a\x00" + b"\x01b\x04" + bytes(4) + b"\x01c\x06\x00\x02xx" + b"\x01d\x09" + bytes(16)
    )
    body = framed("one", {"a": 1}, extra=extra) + framed("two", b"")
    expected = [(b"one", b'{"a": 1}'), (b"two", b"")]
    at_once = EventStream()
    assert at_once.feed(body) == expected and at_once.close() == []
    bit_by_bit = EventStream()
    assert [e for i in range(len(body)) for e in bit_by_bit.feed(body[i : i + 1])] == expected
    assert bit_by_bit.feed(b"") == []


def test_damage_is_told_once_and_ends_it() -> None:
    good = framed("one", {"a": 1})
    for damaged in (
        b"\xff" * 16,
        good[:20] + b"!" + good[21:],
        good[:-1] + bytes([good[-1] ^ 1]),
        struct.pack(">II", 1 << 30, 4) + bytes(8),
    ):
        framing = EventStream()
        found = framing.feed(good + damaged)
        assert found[0] == (b"one", b'{"a": 1}') and found[1][0] == BROKEN
        assert framing.feed(good) == []


@pytest.mark.parametrize("head", [b"\x05a", b"\x01a\x07\x00", b"\x01a\x0f", b"\x01a"])
def test_unreadable_headers_are_damage(head: bytes) -> None:
    start = struct.pack(">II", 16 + len(head), len(head))
    body = start + struct.pack(">I", zlib.crc32(start)) + head
    body += struct.pack(">I", zlib.crc32(body))
    assert EventStream().feed(body)[0][0] == BROKEN


def test_an_exception_keeps_its_name() -> None:
    assert EventStream().feed(framed("boom", {}, kind="exception"))[0][0] == EXCEPTION + b"boom"
