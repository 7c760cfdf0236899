"""Reading openai-responses answers (field cases F021, F034, F171; vendors.md §2.2)."""

import json
from typing import Any

import pytest

from silu.types.events import Finish, VendorNote
from silu.types.parts import ServerToolPart, TextPart, ThinkingPart, VendorPart
from silu.types.usage import Usage
from tests.wire.reading import Answer, event_stream, read

DIALECT = "openai-responses"


def response(*output: Any, status: str = "completed", **more: Any) -> dict[str, Any]:
    return {"id": "resp_1", "model": "gpt-x", "status": status, "output": list(output), **more}


def added(place: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": place, "item": item}


def done(place: int, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": place, "item": item}


def delta(kind: str, place: int, text: str, **more: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "output_index": place, "delta": text, **more}


def completed(*output: Any, **more: Any) -> dict[str, Any]:
    kind = f"response.{more.pop('kind', 'completed')}"
    return {"type": kind, "response": response(*output, **more)}


def stream(*events: dict[str, Any]) -> Answer:
    start = {"type": "response.created", "response": response(status="in_progress")}
    return read(DIALECT, event_stream(start, *events))


def whole(*output: Any, **more: Any) -> Answer:
    return read(DIALECT, json.dumps(response(*output, **more)).encode(), streaming=False)


def message(*texts: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    return {"type": "message", "id": "msg_1", "role": "assistant", "content": content, **more}


def reasoning(*summary: str, sealed: str | None = "E", **more: Any) -> dict[str, Any]:
    parts = [{"type": "summary_text", "text": text} for text in summary]
    item = {"type": "reasoning", "id": "rs_1", "summary": parts, **more}
    return item | ({"encrypted_content": sealed} if sealed else {})


CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": '{"x":1}'}


def test_summary_parts_are_one_thought_with_a_blank_line_between() -> None:
    streamed = stream(
        added(0, {"type": "reasoning", "id": "rs_1", "summary": []}),
        delta("reasoning_summary_text", 0, "A", summary_index=0),
        delta("reasoning_summary_text", 0, "B", summary_index=1),
        done(0, reasoning("A", "B")),
        delta("output_text", 1, "x"),
        done(1, message("x")),
        completed(reasoning("A", "B", sealed="E again"), message("x")),
    )
    at_once = whole(reasoning("A", "B"), message("x"))
    for answer in (streamed, at_once):
        assert (answer.thinking, answer.text) == (["A\n\nB"], "x")
        [part, _] = answer.message.parts
        assert isinstance(part, ThinkingPart) and part.kind == "summary"
        items = [json.loads(d) for _, kind, d, _ in answer.continuity if kind == "reasoning_item"]
        assert items == [reasoning("A", "B")]
    assert streamed.message == at_once.message


def test_full_reasoning_text_goes_before_a_summary_of_it() -> None:
    item = reasoning("S", sealed=None, content=[{"type": "reasoning_text", "text": "full"}])
    assert whole(item, message("x")).thinking == ["full"]
    streamed = stream(
        delta("reasoning_text", 0, "fu", content_index=0),
        delta("reasoning_summary_text", 0, "S", summary_index=0),
        delta("reasoning_text", 0, "ll", content_index=0),
        done(0, item),
        done(1, message("x")),
        completed(),
    )
    assert streamed.thinking == ["full"]
    part = streamed.message.parts[0]
    assert isinstance(part, ThinkingPart) and part.kind == "full"


def test_sealed_reasoning_without_text_is_a_thought_nobody_may_read() -> None:
    for answer in (
        whole(reasoning(), CALL),
        stream(done(0, reasoning()), done(1, CALL), completed()),
    ):
        part = answer.message.parts[0]
        assert isinstance(part, ThinkingPart) and (part.kind, part.text) == ("redacted", "")
        assert answer.calls == [("f", {"x": 1})]
        assert answer.finish == Finish("tool_calls", "completed")


def test_sealed_text_that_comes_with_the_last_event_is_kept() -> None:
    """Azure (vendors.md §2.2)."""
    shown = stream(
        delta("reasoning_summary_text", 0, "A", summary_index=0),
        done(0, reasoning("A", sealed=None)),
        done(1, message("x")),
        completed(reasoning("A"), message("x")),
    )
    hidden = stream(
        done(0, reasoning(sealed=None)), done(1, message("x")), completed(reasoning(), message("x"))
    )
    for answer in (shown, hidden):
        kept = [
            (p, json.loads(d)) for p, kind, d, _ in answer.continuity if kind == "reasoning_item"
        ]
        assert kept[0][0] and kept[0][1]["encrypted_content"] == "E"


def test_reasoning_with_nothing_to_go_back_is_noted_for_the_message() -> None:
    answer = whole(reasoning(sealed=None), message("x"))
    assert answer.thinking == []
    kept = {kind: part for part, kind, *_ in answer.continuity}
    assert kept == {"message_item": "p1", "reasoning_item": None}
    cut = stream(done(0, reasoning(sealed=None)))
    assert [kind for _, kind, *_ in cut.continuity] == ["reasoning_item"]


def test_a_call_is_put_together_from_its_pieces_or_its_end() -> None:
    pieces = stream(
        added(0, CALL | {"arguments": ""}),
        delta("function_call_arguments", 0, '{"x"'),
        delta("function_call_arguments", 0, ":1}"),
        done(0, CALL),
        completed(CALL),
    )
    rest = stream(
        added(0, CALL), delta("function_call_arguments", 0, '{"x"'), done(0, CALL), completed()
    )
    late = stream(completed(CALL))
    unannounced = stream(delta("function_call_arguments", 0, '{"x":1}'), completed())
    assert pieces.calls == rest.calls == late.calls == [("f", {"x": 1})]
    assert unannounced.calls == [("", {"x": 1})]
    named_late = stream(delta("function_call_arguments", 0, '{"x"'), done(0, CALL), completed())
    assert (named_late.calls, named_late.call_ids) == ([("f", {"x": 1})], ["c1"])
    half = stream(delta("function_call_arguments", 0, '{"x"'), completed())
    assert half.failure and half.failure.kind == "stream_cut"
    [(_, kind, data, _)] = pieces.continuity
    assert (kind, json.loads(data)) == ("call_item", {"id": "fc_1"})


def test_arguments_as_an_object_and_none_at_all_are_read() -> None:
    answer = whole(CALL | {"arguments": {"x": 1}}, CALL | {"call_id": "c2", "arguments": None})
    assert answer.calls == [("f", {"x": 1}), ("f", {})]


def test_a_custom_call_keeps_its_kind() -> None:
    item = {"type": "custom_tool_call", "call_id": "c1", "name": "f", "input": "ls -l"}
    answer = whole(item, item | {"call_id": "c2", "input": {"a": 1}})
    assert answer.calls == [("f", {"input": "ls -l"}), ("f", {"input": '{"a":1}'})]
    assert json.loads(answer.continuity[0][2]) == {"type": "custom_tool_call"}


def test_an_answer_that_completes_with_half_a_call_is_cut() -> None:
    answer = stream(
        added(0, CALL), delta("function_call_arguments", 0, '{"path":"a","con'), completed()
    )
    assert answer.failure and answer.failure.kind == "stream_cut"
    assert answer.message.interrupted


def test_item_ids_may_change_from_event_to_event() -> None:
    answer = stream(
        added(0, reasoning(sealed=None) | {"id": "one"}),
        delta("reasoning_summary_text", 0, "A", item_id="two", summary_index=0),
        done(0, reasoning("A") | {"id": "three"}),
        delta("output_text", 1, "x", item_id="four"),
        done(1, message("x") | {"id": "five"}),
        completed(),
    )
    assert (answer.thinking, answer.text) == (["A"], "x")


def test_an_event_without_a_place_belongs_to_the_newest_item() -> None:
    answer = stream(
        {"type": "response.output_text.delta", "delta": "x"},
        {"type": "response.output_item.done", "item": message("x")},
        completed(),
    )
    assert answer.text == "x"


def test_text_parts_stay_apart_and_sources_stay_with_them() -> None:
    note = {"type": "url_citation", "url": "https://e.x", "title": "T"}
    item = message("a", "b", phase="final_answer")
    item["content"][1]["annotations"] = [note, "odd"]
    for answer in (
        whole(item),
        stream(
            delta("output_text", 0, "a"),
            {"type": "response.content_part.done", "output_index": 0},
            delta("output_text", 0, "b"),
            done(0, item),
            completed(),
        ),
    ):
        first, second = answer.message.parts
        assert isinstance(first, TextPart) and isinstance(second, TextPart)
        assert (first.text, second.text) == ("a", "b")
        assert [c.url for c in second.citations] == ["https://e.x"]
        [(_, kind, data, _)] = answer.continuity
        assert (kind, json.loads(data)) == (
            "message_item",
            {"id": "msg_1", "phase": "final_answer"},
        )


def test_a_refusal_is_told_as_one() -> None:
    item = message()
    item["content"] = [{"type": "refusal", "refusal": "no"}, "odd"]
    streamed = stream(delta("refusal", 0, "no"), done(0, item), completed())
    for answer in (whole(item), streamed):
        assert answer.text == "no" and answer.finish == Finish("refusal", "completed", "no")


def test_what_the_vendor_ran_is_kept_whole() -> None:
    run = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    gave = {"type": "tool_search_output", "id": "o_1"}
    packed = {"type": "compaction", "id": "cmp", "encrypted_content": "P"}
    answer = whole(run, gave, packed, message("x"))
    first, second, third = answer.message.parts[:3]
    assert isinstance(first, ServerToolPart) and first.name == "web_search_call"
    assert isinstance(second, ServerToolPart) and second.name == ""
    assert isinstance(third, VendorPart) and third.kind == "compaction"
    assert json.loads(first.data) == run
    assert [json.loads(d) for _, kind, d, _ in answer.continuity if kind == "item"] == [
        None,
        None,
        packed,
    ]


@pytest.mark.parametrize(
    ("status", "details", "finish"),
    [
        ("completed", None, Finish("stop", "completed")),
        (
            "incomplete",
            {"reason": "max_output_tokens"},
            Finish("length", "incomplete:max_output_tokens"),
        ),
        (
            "incomplete",
            {"reason": "content_filter"},
            Finish("content_filter", "incomplete:content_filter"),
        ),
        ("incomplete", None, Finish("length", "incomplete")),
    ],
)
def test_every_end_is_told(status: str, details: Any, finish: Finish) -> None:
    assert whole(message("x"), status=status, incomplete_details=details).finish == finish
    ended = completed(message("x"), kind=status, status=status, incomplete_details=details)
    assert stream(done(0, message("x")), ended).finish == finish


def test_usage_and_dropped_reasoning_are_told() -> None:
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 5},
    }
    gone = [{"type": "reasoning", "id": "rs_0", "action": "removed", "reason": "turn_boundary"}, 1]
    answer = whole(message("x"), usage=usage, input_transformations=gone)
    assert answer.usage == Usage(
        input_tokens=10,
        output_tokens=9,
        reasoning_tokens=5,
        cache_read_tokens=4,
        cache_write_tokens=2,
    )
    assert VendorNote("reasoning_removed", "rs_0", "turn_boundary") in answer.events


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "it broke"},
        {"error": {"message": "it broke"}},
        completed(
            kind="failed", status="failed", error={"code": "server_error", "message": "it broke"}
        ),
        completed(status="failed", error={"message": "it broke"}),
    ],
)
def test_failures_inside_a_stream_keep_what_came(event: dict[str, Any]) -> None:
    event.setdefault("type", "")
    answer = stream(delta("output_text", 0, "Partial"), event)
    assert answer.failure and "it broke" in answer.failure.message
    assert answer.text == "Partial" and answer.message.interrupted


def test_a_failure_without_a_word_is_a_failure() -> None:
    assert stream({"type": "response.failed"}).failure
    assert stream(completed(kind="failed", status="failed")).failure
    nameless = read(DIALECT, b'event: error\ndata: {"message": "it broke"}\n\n')
    assert nameless.failure and "it broke" in nameless.failure.message


@pytest.mark.parametrize(
    "body", [b"{}", b'{"error":{"message":"m"}}', b'{"error":{"message":"m"},"output":[]}']
)
def test_a_document_that_is_no_response_fails(body: bytes) -> None:
    assert read(DIALECT, body, streaming=False).failure


def test_a_stream_without_its_terminal_event_is_cut() -> None:
    answer = stream(added(0, CALL), delta("function_call_arguments", 0, '{"x'))
    assert answer.failure and answer.failure.kind == "stream_cut"
    assert answer.events[-2].unfinished  # type: ignore[union-attr]


def test_pings_marks_and_unknown_events_do_no_harm() -> None:
    body = event_stream(
        {"type": "keepalive"},
        {"type": "response.mcp_call_arguments.delta", "delta": {"an": "object"}},
        {"type": "response.output_item.added", "output_index": 0},
        {"type": "response.output_item.done", "output_index": 0},
        {"type": "response.output_text.delta", "delta": None},
        {"type": "response.reasoning_text.delta"},
        {"type": "response.reasoning_summary_text.delta"},
        {"type": "response.function_call_arguments.delta"},
        {"type": "response.in_progress"},
        done(1, message("x")),
        {"type": "response.completed"},
    )
    answer = read(DIALECT, body + b"data: \n\ndata: [DONE]\n\n")
    assert answer.text == "x" and answer.finish == Finish("unknown", None)
    assert answer.kinds.count("Keepalive") == 1


def test_an_item_told_twice_is_read_once() -> None:
    assert stream(done(0, message("x")), done(0, message("x")), completed(message("x"))).text == "x"


def test_an_item_that_ends_as_something_else_leaves_no_block_open() -> None:
    answer = stream(added(0, CALL), done(0, message("x")), completed())
    assert answer.calls == [("f", {})] and answer.text == "x"
