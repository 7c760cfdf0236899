"""Reading gemini-generate answers (field cases F022–F025, F061–F064, F094)."""

import json
from typing import Any

import pytest

from silu.types.events import Finish
from silu.types.parts import ServerToolPart, TextPart, ThinkingPart, VendorPart
from silu.types.usage import Usage
from tests.wire.reading import Answer, read, sse

DIALECT = "gemini-generate"


def chunk(*parts: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": list(parts), "role": "model"}}
    if finish:
        candidate["finishReason"] = finish
    candidate |= more.pop("candidate", {})
    return {"candidates": [candidate], "modelVersion": "gemini-x", "responseId": "r1", **more}


def stream(*chunks: dict[str, Any]) -> Answer:
    return read(DIALECT, sse(*chunks, done=False))


def whole(*parts: Any, finish: str = "STOP", **more: Any) -> Answer:
    body = json.dumps(chunk(*parts, finish=finish, **more)).encode()
    return read(DIALECT, body, streaming=False)


def signatures(answer: Answer) -> list[tuple[str | None, str]]:
    return [
        (p, json.loads(d)) for p, kind, d, _ in answer.continuity if kind == "thought_signature"
    ]


def test_only_the_flag_makes_a_thought() -> None:
    parts = [{"text": "hm", "thought": True}, {"text": "answer", "thoughtSignature": "S"}]
    for answer in (whole(*parts), stream(chunk(parts[0]), chunk(parts[1], finish="STOP"))):
        assert (answer.thinking, answer.text) == (["hm"], "answer")
        assert signatures(answer) == [("p2", "S")]


def test_the_same_answer_streamed_and_whole_gives_the_same_message() -> None:
    parts = [{"text": "hm", "thought": True}, {"text": "x"}]
    assert stream(chunk(*parts, finish="STOP")).message == whole(*parts).message


def test_a_signature_on_an_empty_last_part_belongs_to_the_text() -> None:
    answer = stream(
        chunk({"text": "Hi"}), chunk({"text": "", "thoughtSignature": "S"}, finish="STOP")
    )
    assert [type(p).__name__ for p in answer.message.parts] == ["TextPart"]
    assert signatures(answer) == [("p1", "S")]
    alone = stream(chunk({"text": "", "thoughtSignature": "S"}, finish="STOP"))
    assert signatures(alone) == [(None, "S")] and alone.message.parts == []


def test_a_part_of_nothing_but_a_signature_is_no_output() -> None:
    answer = stream(chunk({"text": "Hi"}), chunk({"thoughtSignature": "S"}, finish="STOP"))
    assert signatures(answer) == [("p1", "S")] and answer.kinds.count("BlockStart") == 1
    assert stream(chunk({"text": "Hi"}, {"thought": False}, finish="STOP")).text == "Hi"


def test_two_signatures_never_share_a_part() -> None:
    parts = [{"text": "a", "thoughtSignature": "S"}, {"text": "b", "thoughtSignature": "T"}]
    for answer in (whole(*parts), stream(chunk(*parts, finish="STOP"))):
        assert [p.text for p in answer.message.parts if isinstance(p, TextPart)] == ["a", "b"]
        assert signatures(answer) == [("p1", "S"), ("p2", "T")]
    third = stream(chunk(parts[0], {"text": "", "thoughtSignature": "U"}, finish="STOP"))
    assert signatures(third) == [("p1", "S"), (None, "U")]


def test_a_thought_may_carry_the_signature() -> None:
    answer = whole({"text": "hm", "thought": True, "thoughtSignature": "S"}, {"text": "x"})
    assert isinstance(answer.message.parts[0], ThinkingPart)
    assert signatures(answer) == [("p1", "S")]


def test_parts_of_a_whole_answer_stay_apart() -> None:
    answer = whole({"text": "a"}, {"text": "b"})
    assert [p.text for p in answer.message.parts if isinstance(p, TextPart)] == ["a", "b"]


def test_parallel_calls_keep_their_order_and_the_first_its_signature() -> None:
    calls = [
        {"functionCall": {"name": "f", "args": {"x": 1.0}, "id": "g1"}, "thoughtSignature": "S"},
        {"functionCall": {"name": "g"}},
    ]
    answer = stream(chunk(*calls), chunk(finish="STOP"))
    assert answer.calls == [("f", {"x": 1.0}), ("g", {})]
    assert answer.call_ids[0] == "g1" and answer.call_ids[1]
    assert signatures(answer) == [("p1", "S")]
    ids = [json.loads(d) for _, kind, d, _ in answer.continuity if kind == "function_call"]
    assert ids == ["g1", None]
    assert answer.finish == Finish("tool_calls", "STOP")


def in_pieces(*args: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"functionCall": {"partialArgs": list(args), **more}}


def test_arguments_that_come_one_by_one_are_put_together() -> None:
    on = {"willContinue": True}
    begun = {"functionCall": {"name": "f", **on}, "thoughtSignature": "S"}
    answer = stream(
        chunk(begun),
        chunk(in_pieces({"jsonPath": "$.a.b[0].c", "stringValue": "x", **on}, **on)),
        chunk(in_pieces({"jsonPath": "$.a.b[0].c", "stringValue": "y"}, **on)),
        chunk({"functionCall": on}),
        chunk(in_pieces({"jsonPath": "$['d e'][1]", "numberValue": 0.5}, **on)),
        chunk(in_pieces({"jsonPath": "$.g", "nullValue": "NULL_VALUE"}, **on)),
        chunk(in_pieces({"jsonPath": '$["t"]', "boolValue": True})),
        chunk({"functionCall": {"name": "g", **on}}),
        chunk({"functionCall": {"name": "h", "args": {"n": 1}}}),
        chunk({"text": ""}, finish="STOP"),
    )
    first = {"a": {"b": [{"c": "xy"}]}, "d e": [None, 0.5], "g": None, "t": True}
    assert answer.calls == [("f", first), ("g", {}), ("h", {"n": 1})]
    assert answer.finish == Finish("tool_calls", "STOP", None)
    assert signatures(answer) == [("p1", "S")]


def test_a_call_cut_among_its_pieces_is_marked_and_keeps_what_came() -> None:
    piece = {"jsonPath": "$.a", "stringValue": "x", "willContinue": True}
    begun = {"functionCall": {"name": "f", "partialArgs": [piece], "willContinue": True}}
    answer = stream(chunk(begun))
    assert answer.failure and answer.failure.kind == "stream_cut"
    assert answer.calls == [("f", {"a": "x"})]
    assert answer.message.interrupted


@pytest.mark.parametrize("path", ["", "$", "$.a[", "$[0]", "$.s.t", "$.l[99999]", "$.l.x"])
def test_a_path_that_leads_nowhere_fails_the_answer(path: str) -> None:
    on = {"willContinue": True}
    started = [{"jsonPath": "$.s", "stringValue": "x"}, {"jsonPath": "$.l[0]", "numberValue": 1}]
    answer = stream(
        chunk({"functionCall": {"name": "f", "partialArgs": started, **on}}),
        chunk(in_pieces({"jsonPath": path, "stringValue": "x"}, **on)),
        chunk({"text": ""}, finish="STOP"),
    )
    assert answer.failure and answer.failure.kind == "bad_data"


def test_tags_in_its_text_are_routed_too() -> None:
    answer = stream(
        chunk({"text": "<thinking>x</think"}), chunk({"text": "ing>answer"}, finish="STOP")
    )
    assert (answer.thinking, answer.text) == (["x"], "answer")


def test_code_the_vendor_ran_and_other_parts_are_kept_whole() -> None:
    code = {"executableCode": {"code": "1+1", "id": "e1"}, "thoughtSignature": "S"}
    gave = {"codeExecutionResult": {"output": "2", "id": "e1"}}
    picture = {"inlineData": {"mimeType": "image/png", "data": "AA"}}
    odd = {"toolCall": "text"}
    answer = whole(code, gave, picture, odd, {"text": "2"})
    first, second, third, fourth = answer.message.parts[:4]
    assert isinstance(first, ServerToolPart) and (first.name, first.call_id) == (
        "code_execution",
        "e1",
    )
    assert json.loads(first.data) == {"executableCode": {"code": "1+1", "id": "e1"}}
    assert isinstance(second, ServerToolPart) and second.name == ""
    assert isinstance(third, VendorPart) and third.kind == "inlineData"
    assert isinstance(fourth, ServerToolPart) and fourth.call_id is None
    assert signatures(answer) == [("p1", "S")]


def test_usage_holds_thoughts_and_tool_prompts() -> None:
    usage = {"promptTokenCount": 12, "candidatesTokenCount": 30, "thoughtsTokenCount": 90}
    last = usage | {"toolUsePromptTokenCount": 5, "cachedContentTokenCount": 3}
    answer = stream(
        chunk({"text": "a"}, usageMetadata=usage),
        chunk({"text": "b"}, usageMetadata=usage),
        chunk(finish="STOP", usageMetadata=last),
        {"usageMetadata": None},
        {"usageMetadata": "odd"},
    )
    assert answer.usage == Usage(
        input_tokens=17, output_tokens=120, reasoning_tokens=90, cache_read_tokens=3
    )
    assert answer.kinds.count("UsageReport") == 2


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "content_filter"),
        ("CONTINUATION", "pause"),
        ("SOMETHING_NEW", "unknown"),
    ],
)
def test_every_end_is_told(raw: str, reason: str) -> None:
    answer = whole({"text": "x"}, finish=raw, candidate={"finishMessage": "why"})
    assert answer.finish == Finish(reason, raw, "why")  # type: ignore[arg-type]


@pytest.mark.parametrize("raw", ["MALFORMED_FUNCTION_CALL", "MISSING_THOUGHT_SIGNATURE"])
def test_some_ends_are_failures(raw: str) -> None:
    answer = stream(chunk({"text": "x"}), chunk(finish=raw))
    assert answer.failure and answer.failure.code == raw and answer.text == "x"


def test_a_blocked_prompt_is_told() -> None:
    feedback = {"blockReason": "SAFETY", "blockReasonMessage": "no"}
    for streaming in (True, False):
        body = json.dumps({"promptFeedback": feedback}).encode()
        answer = read(
            DIALECT, sse(body.decode(), done=False) if streaming else body, streaming=streaming
        )
        assert answer.finish == Finish("content_filter", "SAFETY", "no")
    assert read(DIALECT, b'{"promptFeedback":{}}', streaming=False).failure


def test_sources_are_kept_with_the_text() -> None:
    chunks = [{"web": {"uri": "https://e.x", "title": "T"}}, {"web": 1}, 2]
    grounding = {"groundingMetadata": {"groundingChunks": chunks}}
    answer = stream(chunk({"text": "x"}, finish="STOP", candidate=grounding))
    [part] = answer.message.parts
    assert isinstance(part, TextPart)
    assert [(c.url, c.title) for c in part.citations] == [("https://e.x", "T")]
    assert whole({"text": "x"}, candidate=grounding).text == "x"


def test_a_second_candidate_is_not_mixed_in() -> None:
    answer = stream(
        chunk({"text": "x"}, finish="STOP"), chunk({"text": "y"}, candidate={"index": 1})
    )
    assert answer.text == "x"


def test_the_array_form_of_a_stream_is_read() -> None:
    body = json.dumps([chunk({"text": "a"}), chunk({"text": "b"}, finish="STOP")]).encode()
    for streaming in (True, False):
        assert read(DIALECT, body, streaming=streaming).text == "ab"
    failed = json.dumps([{"error": {"code": 503, "message": "m"}}, chunk({"text": "b"})]).encode()
    answer = read(DIALECT, failed)
    assert answer.failure and answer.failure.kind == "overloaded" and answer.text == ""


def test_errors_are_told() -> None:
    error = {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}
    answer = stream(chunk({"text": "x"}), error)
    assert answer.failure and answer.failure.kind == "rate_limit" and answer.text == "x"
    assert read(DIALECT, b'event: error\ndata: {"message":"m"}\n\n').failure
    assert read(DIALECT, b"{}", streaming=False).failure
    assert stream(chunk({"text": "x"})).failure


def test_a_whole_answer_without_a_finish_reason_is_taken_as_it_is() -> None:
    body = json.dumps(chunk({"text": "x"})).encode()
    assert read(DIALECT, body, streaming=False).finish == Finish("unknown", None)


def test_marks_and_misfits_do_no_harm() -> None:
    body = sse("", {"candidates": {"odd": 1}}, chunk({"text": 5}, {"text": "x"}, finish="STOP"))
    answer = read(DIALECT, body)
    assert answer.text.endswith("x")
