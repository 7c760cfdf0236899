"""Reading openai-chat answers (field cases F009, F026–F044; vendors.md §18)."""

import json
from typing import Any

import pytest

from silu.types.events import Finish, Served, VendorNote
from silu.types.parts import ThinkingPart
from silu.types.rules import DecodeRules, TagRules
from silu.types.usage import Usage
from silu.wire import decoder
from tests.wire.reading import Answer, chunk, read, sse


def stream(
    *deltas: dict[str, Any], finish: str = "stop", rules: DecodeRules | None = None
) -> Answer:
    return read("openai-chat", sse(*map(chunk, deltas), chunk(finish=finish)), rules=rules)


def whole(message: dict[str, Any], finish: str = "stop", **more: Any) -> Answer:
    body = {"id": "r1", "choices": [{"message": message, "finish_reason": finish}], **more}
    return read("openai-chat", json.dumps(body).encode(), streaming=False)


# -- thinking


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text"])
def test_thinking_is_read_from_every_field_and_its_name_is_kept(field: str) -> None:
    streamed = stream({field: "th"}, {field: "ink"}, {"content": "answer"})
    at_once = whole({field: "think", "content": "answer"})
    for answer in (streamed, at_once):
        assert (answer.thinking, answer.text) == (["think"], "answer")
        assert answer.continuity == [("p1", "reasoning", "null", field)]


def test_many_pieces_of_thinking_are_one_block() -> None:
    answer = stream(*({"reasoning_content": "w "} for _ in range(50)), {"content": "x"})
    assert answer.thinking == ["w " * 50]
    assert answer.kinds.count("BlockEnd") == 2


def test_a_thought_mirrored_into_two_fields_is_shown_once() -> None:
    answer = stream(
        {"reasoning_content": "The", "reasoning": "The"},
        {"reasoning_content": " end", "reasoning": " end"},
        {"content": "x"},
    )
    assert answer.thinking == ["The end"]


def test_a_field_that_goes_on_under_another_name_is_not_lost() -> None:
    answer = stream({"reasoning_content": "The"}, {"reasoning": " end"}, {"content": "x"})
    assert answer.thinking == ["The end"]


def test_reasoning_and_content_in_one_piece_are_told_in_this_order() -> None:
    assert stream({"reasoning": "r", "content": "c"}).kinds[1:5] == [
        "BlockStart",
        "ThinkingDelta",
        "ContinuityData",
        "BlockEnd",
    ]


def test_empty_pieces_neither_open_nor_close_a_block() -> None:
    answer = stream(
        {"reasoning_content": "", "content": ""},
        {"reasoning_content": "a", "content": ""},
        {"reasoning_content": None, "content": None},
        {"reasoning_content": "b", "content": "\n"},
        {"reasoning_content": "c"},
        {"content": "x", "reasoning_content": ""},
    )
    assert (answer.thinking, answer.text) == (["abc"], "\nx")


def test_an_empty_reasoning_field_is_a_value() -> None:
    answer = stream({"reasoning_content": ""}, {"content": "x"})
    assert answer.continuity == [(None, "reasoning", '""', "reasoning_content")]
    assert answer.thinking == []
    assert stream({"reasoning": ""}, {"content": "x"}).continuity[0][3] == "reasoning"


def test_thinking_may_begin_again_after_text() -> None:
    answer = stream({"reasoning": "a"}, {"content": "b"}, {"reasoning": "c"}, {"content": "d"})
    assert [p.text for p in answer.message.parts if hasattr(p, "text")] == ["a", "b", "c", "d"]  # type: ignore[union-attr]


def test_content_as_an_array_is_routed_by_the_kind_of_its_parts() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "r"}]}
    answer = stream({"content": [thought]}, {"content": [{"type": "text", "text": "a"}, "b", 7]})
    assert (answer.thinking, answer.text) == (["r"], "ab")


def test_a_refusal_in_an_array_is_told() -> None:
    answer = stream({"content": [{"type": "refusal", "refusal": "no"}]})
    assert answer.finish == Finish("refusal", "stop", "no")


def test_reasoning_as_an_object_is_read() -> None:
    assert stream({"reasoning": {"content": "r"}}, {"content": "a"}).thinking == ["r"]


def test_thinking_in_tags_is_routed_and_its_tags_are_kept() -> None:
    answer = stream({"content": "<th"}, {"content": "ink>\nab</think>\n\nc"})
    assert (answer.thinking, answer.text) == (["ab"], "c")
    part = answer.message.parts[0]
    assert isinstance(part, ThinkingPart) and part.kind == "tagged"
    [(_, kind, data, field)] = answer.continuity
    assert (kind, field) == ("tags", "content")
    assert json.loads(data) == [[0, "<think>"], [0, "\n"], [2, "</think>"], [2, "\n\n"]]


def test_a_lone_end_tag_moves_what_was_shown() -> None:
    answer = stream({"content": "hm, well\n"}, {"content": "</think>\n"}, {"content": "yes"})
    assert (answer.thinking, answer.text) == (["hm, well\n"], "yes")
    assert "Reroute" in answer.kinds


def test_an_empty_tagged_thought_is_nothing_but_its_tags_are_kept() -> None:
    answer = stream({"content": "<think>\n\n</think>\n\nhi"})
    assert (answer.thinking, answer.text) == ([], "hi")
    assert json.loads(answer.continuity[0][2]) == [[0, "<think>\n\n</think>\n\n"]]


def test_text_on_both_sides_of_an_empty_late_thought_is_kept() -> None:
    rules = DecodeRules(tags=TagRules(late_blocks=True))
    answer = stream({"content": "a <think></think>b"}, rules=rules)
    assert answer.text == "a b"


def test_a_thought_sent_in_its_field_and_in_tags_is_shown_once() -> None:
    answer = stream(
        {"reasoning_content": "one two", "content": "<think>one"},
        {"reasoning_content": " three", "content": " two thr"},
        {"content": "ee</think>x"},
    )
    assert (answer.thinking, answer.text) == (["one two three"], "x")


def test_tagged_thinking_that_differs_from_the_field_is_shown_too() -> None:
    answer = stream(
        {"reasoning_content": "one"},
        {
            "content": "<think>on",
        },
        {"content": "ly</think>x"},
    )
    assert (answer.thinking, answer.text) == (["one", "only"], "x")


def test_a_profile_may_say_that_copies_are_thoughts_of_their_own() -> None:
    rules = DecodeRules(tags=TagRules(drop_copy=False))
    answer = stream({"reasoning": "a"}, {"content": "<think>a</think>x"}, rules=rules)
    assert answer.thinking == ["a", "a"]


def test_a_profile_without_tags_leaves_content_alone() -> None:
    answer = stream({"content": "<think>a</think>x"}, rules=DecodeRules(tags=None))
    assert (answer.thinking, answer.text) == ([], "<think>a</think>x")


def test_an_implicitly_opened_answer_that_never_closes_is_the_answer() -> None:
    rules = DecodeRules(tags=TagRules(implicit_open=True))
    done = stream({"content": "just "}, {"content": "an answer"}, rules=rules)
    assert (done.thinking, done.text) == ([], "just an answer")
    cut = stream({"content": "a long thou"}, finish="length", rules=rules)
    assert (cut.thinking, cut.text, cut.message.interrupted) == (["a long thou"], "", True)


def test_a_tag_that_never_closes_stays_a_thought_and_is_marked() -> None:
    answer = stream({"content": "<think>still thinking"})
    assert answer.thinking == ["still thinking"]
    [end] = [e for e in answer.events if type(e).__name__ == "BlockEnd"]
    assert end.unfinished  # type: ignore[union-attr]


def test_a_summary_is_named_one() -> None:
    answer = stream({"reasoning": "s"}, {"content": "x"}, rules=DecodeRules(summary=True))
    part = answer.message.parts[0]
    assert isinstance(part, ThinkingPart) and part.kind == "summary"


def test_sealed_reasoning_beside_a_summary_is_kept() -> None:
    answer = stream({"reasoning_content": "s", "encrypted_content": "AAA"}, {"content": "x"})
    assert (None, "encrypted_content", '"AAA"', "encrypted_content") in answer.continuity


# -- reasoning_details


def test_details_are_put_together_and_kept_whole() -> None:
    answer = stream(
        {
            "reasoning": "a",
            "reasoning_details": [
                {"type": "reasoning.text", "text": "a", "index": 0, "format": None}
            ],
        },
        {
            "reasoning": "b",
            "reasoning_details": [{"type": "reasoning.text", "text": "b", "index": 0}],
        },
        {
            "reasoning_details": [
                {"type": "reasoning.text", "signature": "S", "format": "f", "index": 0}
            ]
        },
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "D", "index": 0}, 5]},
        {"content": "x"},
    )
    assert answer.thinking == ["ab"]
    kept = [data for _, kind, data, _ in answer.continuity if kind == "reasoning_details"]
    assert [json.loads(data) for data in kept] == [
        [
            {"type": "reasoning.text", "text": "ab", "index": 0, "format": "f", "signature": "S"},
            {"type": "reasoning.encrypted", "data": "D", "index": 0},
        ]
    ]


def test_details_alone_are_shown() -> None:
    entries = [{"type": "reasoning.summary", "summary": "s", "index": 0}]
    answer = stream({"reasoning_details": entries}, {"content": "x"})
    assert answer.thinking == ["s"]
    assert answer.continuity[0][3] == "reasoning_details"


def test_encrypted_details_alone_are_a_thought_nobody_may_read() -> None:
    answer = stream(
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "D"}]}, {"content": "x"}
    )
    part = answer.message.parts[0]
    assert isinstance(part, ThinkingPart) and (part.kind, part.text) == ("redacted", "")


def test_two_signed_details_stay_two() -> None:
    first = {"type": "reasoning.text", "text": "a", "signature": "S", "index": 0}
    second = {"type": "reasoning.text", "text": "b", "signature": "T", "index": 0}
    answer = whole({"content": "x", "reasoning_details": [first, second]})
    assert json.loads(answer.continuity[-1][2]) == [first, second]


def test_cumulative_details_replace_what_they_repeat() -> None:
    pieces = ["We", "We add", "We add", " it"]
    deltas = [
        {"reasoning_details": [{"type": "reasoning.text", "text": t, "index": 0}]} for t in pieces
    ]
    answer = stream(*deltas, {"content": "x"}, rules=DecodeRules(cumulative_details=True))
    assert answer.thinking == ["We add it"]
    assert json.loads(answer.continuity[-1][2])[0]["text"] == "We add it"


# -- calls


def call(
    index: int | None = None, id: str | None = None, name: str | None = None, args: Any = None
) -> Any:
    function: dict[str, Any] = {}
    if name is not None:
        function["name"] = name
    if args is not None:
        function["arguments"] = args
    made: dict[str, Any] = {"function": function}
    if index is not None:
        made["index"] = index
    if id is not None:
        made["id"] = id
    return made


def calls(*pieces: Any, together: bool = False) -> Answer:
    deltas = [{"tool_calls": list(pieces)}] if together else [{"tool_calls": [p]} for p in pieces]
    return stream(*deltas, finish="tool_calls")


CALLS: list[tuple[str, list[Any], list[tuple[str, Any]]]] = [
    (
        "no index",
        [call(id="a", name="f", args='{"x":'), call(args="1}"), call(id="b", name="g", args="{}")],
        [("f", {"x": 1}), ("g", {})],
    ),
    (
        "the same index for two ids",
        [call(0, "a", "f", '{"p":1}'), call(0, "b", "f", '{"p":2}')],
        [("f", {"p": 1}), ("f", {"p": 2})],
    ),
    (
        "the same index for two ids that alternate",
        [
            call(0, "a", "f", '{"p":'),
            call(0, "b", "g", '{"q":'),
            call(0, "a", args="1}"),
            call(0, "b", args="2}"),
        ],
        [("f", {"p": 1}), ("g", {"q": 2})],
    ),
    (
        "alternating pieces keyed by index",
        [
            call(0, "a", "f", '{"a":'),
            call(1, "b", "g", '{"b":'),
            call(0, args="1}"),
            call(1, args="2}"),
        ],
        [("f", {"a": 1}), ("g", {"b": 2})],
    ),
    ("no id at all", [call(0, name="f", args="{"), call(0, args="}")], [("f", {})]),
    (
        "id and name in every piece",
        [call(0, "a", "f", '{"a"'), call(0, "a", "f", ":1}")],
        [("f", {"a": 1})],
    ),
    (
        "name in every piece, no id",
        [call(0, name="f", args='{"a"'), call(0, name="f", args=":1}")],
        [("f", {"a": 1})],
    ),
    (
        "whole calls on one index without ids",
        [
            call(0, name="f", args='{"a":1}'),
            call(0, name="f", args='{"a":2}'),
            call(0, name="g", args="{}"),
        ],
        [("f", {"a": 1}), ("f", {"a": 2}), ("g", {})],
    ),
    (
        "neither index nor id",
        [
            call(name="f", args='{"a":'),
            call(args="1}"),
            call(name="g", args="{}"),
            call(name="g", args="{}"),
        ],
        [("f", {"a": 1}), ("g", {}), ("g", {})],
    ),
    (
        "the name comes later",
        [call(0, "a", args=""), call(0, name="f", args='{"a":1}')],
        [("f", {"a": 1})],
    ),
    ("the id comes later", [call(0, name="f"), call(0, "a", args='{"a":1}')], [("f", {"a": 1})]),
    ("arguments as an object", [call(0, "a", "f", {"x": {"y": 1}})], [("f", {"x": {"y": 1}})]),
    ("no arguments", [call(0, "a", "f")], [("f", {})]),
    ("an empty piece", [call(0, "a", "f", "{}"), call(3)], [("f", {})]),
    ("an index as text", [{**call(None, "a", "f", "{}"), "index": "0"}], [("f", {})]),
]


@pytest.mark.parametrize(("what", "pieces", "wanted"), CALLS, ids=[case[0] for case in CALLS])
def test_calls_are_put_together_from_every_shape(
    what: str, pieces: list[Any], wanted: list[tuple[str, Any]]
) -> None:
    for answer in (calls(*pieces), calls(*pieces, together=True)):
        assert answer.calls == wanted, what
        assert len(set(answer.call_ids)) == len(wanted) and all(answer.call_ids)


def test_a_whole_answer_keeps_its_calls_apart_whatever_their_index() -> None:
    message = {
        "content": None,
        "tool_calls": [call(0, name="f", args='{"a":1}'), call(0, name="f", args='{"a":1}')],
    }
    assert whole(message, "tool_calls").calls == [("f", {"a": 1}), ("f", {"a": 1})]


def test_a_made_id_is_stable_and_differs_between_answers() -> None:
    one = calls(call(0, name="f"), call(1, name="g"))
    again = calls(call(0, name="f"), call(1, name="g"))
    assert one.call_ids == again.call_ids
    body = sse(chunk({"tool_calls": [call(0, name="f")]}), chunk(finish="tool_calls"))
    seeded = read("openai-chat", body, rules=DecodeRules(call_seed="x"))
    assert seeded.call_ids[0] not in one.call_ids


def test_a_call_whose_name_never_came_is_told_without_one() -> None:
    assert [c[0] for c in calls(call(0, "a", args="{}")).calls] == [""]


def test_the_old_form_of_a_call_is_read() -> None:
    answer = stream(
        {"function_call": {"name": "f", "arguments": '{"a":'}},
        {"function_call": {"arguments": "1}"}},
        finish="function_call",
    )
    assert answer.calls == [("f", {"a": 1})]
    assert answer.finish and answer.finish.reason == "tool_calls"


def test_a_custom_call_is_read() -> None:
    answer = stream(
        {"tool_calls": [{"index": 0, "id": "a", "custom": {"name": "f", "input": "{}"}}]},
        finish="tool_calls",
    )
    assert answer.calls == [("f", {})]


def test_text_between_thinking_and_calls_has_its_place() -> None:
    answer = stream(
        {"reasoning": "r"},
        {"content": "I look."},
        {"tool_calls": [call(0, "a", "f", "{}")]},
        finish="tool_calls",
    )
    assert [type(p).__name__ for p in answer.message.parts] == [
        "ThinkingPart",
        "TextPart",
        "ToolCallPart",
    ]


def test_a_call_cut_in_its_arguments_is_marked_and_the_answer_is_interrupted() -> None:
    body = sse(chunk({"tool_calls": [call(0, "a", "f", '{"path":"a","con')]}), done=False)
    answer = read("openai-chat", body)
    assert answer.failure and answer.failure.kind == "stream_cut"
    assert answer.message.interrupted
    assert answer.events[-2].unfinished  # type: ignore[union-attr]
    limited = stream({"tool_calls": [call(0, "a", "f", '{"pa')]}, finish="length")
    assert limited.message.interrupted and limited.failure is None


# -- the end


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("tool_calls", "tool_calls"),
        ("content_filter", "content_filter"),
        ("sensitive", "content_filter"),
        ("model_context_window_exceeded", "context_overflow"),
        ("brand_new", "unknown"),
    ],
)
def test_the_vendors_word_for_the_end_is_kept(raw: str, reason: str) -> None:
    finish = stream({"content": "x"}, finish=raw).finish
    assert finish and (finish.reason, finish.raw) == (reason, raw)


@pytest.mark.parametrize("raw", ["error", "network_error", "insufficient_system_resource"])
def test_some_ends_are_failures(raw: str) -> None:
    answer = stream({"content": "x"}, finish=raw)
    assert answer.failure and answer.text == "x"


def test_a_finish_reason_on_every_chunk_does_not_end_the_answer() -> None:
    answer = read(
        "openai-chat", sse(chunk({"content": "a"}, "stop"), chunk({"content": "b"}, "stop"))
    )
    assert answer.text == "ab"
    assert answer.kinds.count("Finish") == 1


def test_a_missing_end_mark_after_a_finish_reason_is_no_error() -> None:
    answer = read("openai-chat", sse(chunk({"content": "a"}), chunk(finish="stop"), done=False))
    assert answer.failure is None


def test_nothing_after_the_end_mark_is_read() -> None:
    body = sse(chunk({"content": "a"}), chunk(finish="stop")) + sse(chunk({"content": "b"}))
    assert read("openai-chat", body).text == "a"


def test_a_stream_without_an_end_is_cut_and_what_came_is_kept() -> None:
    answer = read("openai-chat", sse(chunk({"reasoning_content": "thinking a"}), done=False))
    assert answer.failure and answer.failure.kind == "stream_cut"
    assert answer.thinking == ["thinking a"]
    assert answer.message.interrupted


def test_an_end_mark_without_a_finish_reason_is_a_cut() -> None:
    assert read("openai-chat", sse(chunk({"content": "a"}))).failure


def test_keep_alives_are_told_and_a_few_of_them_end_a_finished_answer() -> None:
    reader = decoder("openai-chat", rules=DecodeRules(), streaming=True)
    reader.feed(b": keep-alive\n\n" + sse(chunk({"content": "a"}), done=False))
    reader.feed(sse(chunk(finish="stop"), done=False))
    assert not reader.ended
    assert len(reader.feed(b": keep-alive\n\n")) == 1 and not reader.ended
    events = reader.feed(b": keep-alive\n\n: keep-alive\n\n")
    assert reader.ended and events[-1] == Finish("stop", "stop")
    assert reader.feed(sse({"choices": [], "usage": {"prompt_tokens": 3}}, done=False))
    assert reader.close() == []


def test_damage_behind_a_finished_answer_is_let_go() -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 3}}
    body = sse(chunk({"content": "a"}), chunk(finish="stop"), usage, "what?", done=False)
    answer = read("openai-chat", body)
    assert answer.failure is None and answer.text == "a"


def test_the_served_model_and_the_response_are_told_once() -> None:
    answer = stream({"content": "a"}, {"content": "b"})
    assert [e for e in answer.events if isinstance(e, Served)] == [Served("m-1", "r1")]
    assert not [e for e in answer.events if isinstance(e, VendorNote)]


def test_a_second_choice_is_not_mixed_in() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": None}]}
    answer = read("openai-chat", sse(chunk({"content": "a"}), other, chunk(finish="stop")))
    assert answer.text == "a"


def test_a_refusal_is_told_as_one() -> None:
    answer = stream({"refusal": "I will not."})
    assert answer.text == "I will not."
    assert answer.finish == Finish("refusal", "stop", "I will not.")


def test_sources_are_kept_with_the_text() -> None:
    answer = whole(
        {
            "content": "x",
            "annotations": [
                {"type": "url_citation", "url_citation": {"url": "https://e.x", "title": "T"}},
                {"url": "https://f.x"},
                "odd",
            ],
        }
    )
    [part] = answer.message.parts
    assert [(c.url, c.title) for c in part.citations] == [  # type: ignore[union-attr]
        ("https://e.x", "T"),
        ("https://f.x", None),
    ]


def test_a_message_repeated_at_the_end_of_a_stream_is_not_shown_twice() -> None:
    last = {"choices": [{"delta": {}, "message": {"content": "ab"}, "finish_reason": "stop"}]}
    assert read("openai-chat", sse(chunk({"content": "ab"}), last)).text == "ab"
    assert read("openai-chat", sse(last)).text == "ab"


# -- usage


def test_usage_is_told_once_and_the_last_report_stands() -> None:
    def used(n: int) -> dict[str, Any]:
        return {"prompt_tokens": 5, "completion_tokens": n, "total_tokens": 5 + n}

    answer = read(
        "openai-chat",
        sse(
            chunk({"content": "a"}, usage=used(20)),
            chunk({"content": "b"}, usage=used(70)),
            chunk(finish="stop"),
            {"choices": [], "usage": used(140)},
            {"choices": [], "usage": used(140)},
        ),
    )
    assert answer.usage == Usage(input_tokens=5, output_tokens=140)
    assert answer.kinds.count("UsageReport") == 3


def test_usage_inside_the_choice_is_read() -> None:
    last = chunk(finish="stop")
    last["choices"][0]["usage"] = {"prompt_tokens": 3, "completion_tokens": 4}
    assert read("openai-chat", sse(chunk({"content": "a"}), last)).usage.output_tokens == 4


def test_groqs_and_llamacpps_own_places_for_usage_are_read() -> None:
    groq = chunk(finish="stop", x_groq={"usage": {"prompt_tokens": 3, "completion_tokens": 4}})
    assert read("openai-chat", sse(chunk({"content": "a"}), groq)).usage.input_tokens == 3
    local = chunk(finish="stop", timings={"prompt_n": 3, "cache_n": 2, "predicted_n": 7})
    usage = read("openai-chat", sse(chunk({"content": "a"}), local)).usage
    assert usage == Usage(input_tokens=5, output_tokens=7, cache_read_tokens=2)


# -- failures


def test_an_error_inside_a_stream_fails_the_answer_and_keeps_what_came() -> None:
    error = {"choices": [], "error": {"code": 502, "message": "m"}}
    answer = read("openai-chat", sse(chunk({"content": "Partial"}), error))
    assert answer.failure and (answer.failure.code, answer.failure.kind) == ("502", "server")
    assert answer.text == "Partial"
    assert answer.message.interrupted


@pytest.mark.parametrize(
    "error",
    [
        {"error": "plain words"},
        {"object": "error", "message": "m", "code": 400},
        {"type": "error", "message": "m"},
        {"choices": [{"delta": {}, "error": {"message": "m"}}]},
    ],
)
def test_errors_in_other_shapes_fail_the_answer_too(error: dict[str, Any]) -> None:
    assert read("openai-chat", sse(chunk({"content": "a"}), error)).failure


def test_the_errors_own_words_stand_above_a_finish_reason_that_only_says_error() -> None:
    last = chunk(finish="error")
    last["choices"][0]["error"] = {"message": "the real reason"}
    failure = read("openai-chat", sse(chunk({"content": "a"}), last)).failure
    assert failure and "the real reason" in failure.message


def test_blank_data_and_more_choices_do_no_harm() -> None:
    second = chunk({"content": "no"}, "stop")
    second["choices"][0]["index"] = 1
    assert (
        read("openai-chat", sse("", chunk({"content": "a"}), second, chunk(finish="stop"))).text
        == "a"
    )


def test_an_end_tag_behind_thinking_of_another_field_moves_nothing() -> None:
    answer = stream({"content": "abc\n"}, {"reasoning": "r"}, {"content": "</think>\nx"})
    assert (answer.thinking, answer.text) == (["r"], "abc\nx")


def test_bytes_after_the_end_are_not_read() -> None:
    reader = decoder("openai-chat", rules=DecodeRules(), streaming=False)
    reader.feed(b"{}")
    reader.close()
    assert reader.feed(b"more") == []


def test_an_error_event_fails_the_answer() -> None:
    answer = read("openai-chat", b'event: error\ndata: {"message": "it broke"}\n\n')
    assert answer.failure and "it broke" in answer.failure.message


def test_an_error_after_the_finish_reason_still_fails_the_answer() -> None:
    last = chunk(finish="stop", error={"message": "m", "code": 502})
    assert read("openai-chat", sse(chunk({"content": "a"}), last)).failure


def test_a_plain_error_body_on_a_stream_is_read() -> None:
    answer = read("openai-chat", b'{"error":{"message":"context too long"}}')
    assert answer.failure and answer.failure.kind == "context_overflow"
    assert "context too long" in answer.failure.message


def test_a_whole_answer_on_a_stream_is_read() -> None:
    body = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
    assert read("openai-chat", b"\n", json.dumps(body).encode()).text == "hi"


def test_a_stream_where_a_whole_answer_was_due_is_read() -> None:
    body = sse(chunk({"content": "hi"}), chunk(finish="stop"))
    assert read("openai-chat", body, streaming=False).text == "hi"


def test_a_web_page_names_the_base_url() -> None:
    page = b"<!doctype html><title>Welcome</title>"
    for streaming in (True, False):
        failure = read("openai-chat", page, streaming=streaming).failure
        assert failure and failure.kind == "not_an_api"
        assert "base URL" in failure.message and failure.setting == "base_url"
    later = read("openai-chat", sse(chunk({"content": "a"}), "<html>", done=False)).failure
    assert later and later.kind == "not_an_api"


def test_data_that_never_becomes_json_is_an_error() -> None:
    answer = read("openai-chat", sse(chunk({"content": "a"}), "what?", chunk({"content": "b"})))
    assert answer.failure and answer.failure.kind == "bad_data"
    assert answer.text == "a"


def test_a_body_cut_inside_a_character_is_a_cut() -> None:
    body = sse(chunk({"content": "思"}), done=False)
    cut = body[: body.index("思".encode()) + 1]
    answer = read("openai-chat", cut)
    assert answer.failure and answer.failure.kind == "stream_cut"
    whole_body = '{"choices":[{"message":{"content":"思'.encode()[:-1]
    failure = read("openai-chat", whole_body, streaming=False).failure
    assert failure and failure.kind == "stream_cut"


@pytest.mark.parametrize("body", [b"", b"\n \n"])
def test_no_answer_at_all_is_a_cut(body: bytes) -> None:
    for streaming in (True, False):
        failure = read("openai-chat", body, streaming=streaming).failure
        assert failure and failure.kind == "stream_cut" and failure.retryable


@pytest.mark.parametrize("body", [b"{}", b"[]", b"12", b'{"choices":[]}', b'"hi"', b"nothing here"])
def test_json_that_is_no_answer_is_an_error(body: bytes) -> None:
    failure = read("openai-chat", body, streaming=False).failure
    assert failure and failure.kind == "bad_data"


def test_a_detail_with_a_good_status_is_an_error() -> None:
    failure = read("openai-chat", b'{"detail":"Not Found"}', streaming=False).failure
    assert failure and "Not Found" in failure.message


def test_a_whole_answer_without_a_finish_reason_is_taken_as_it_is() -> None:
    answer = read("openai-chat", b'{"choices":[{"message":{"content":"x"}}]}', streaming=False)
    assert answer.text == "x" and answer.finish == Finish("unknown", None)


def test_blank_lines_before_a_whole_answer_are_signs_of_life() -> None:
    body = b'{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}'
    answer = read("openai-chat", b"\n", b"\n", body, streaming=False)
    assert answer.kinds.count("Keepalive") == 2
    assert answer.text == "x"


def test_an_error_status_is_read_whole_even_when_it_looks_like_a_stream() -> None:
    body = b'data: {"error":{"code":"400","message":"Param Incorrect","param":"reasoning_content'
    body += b' must be passed back","type":""}}\n\n'
    failure = read("openai-chat", body, status=400).failure
    assert failure and failure.status == 400
    assert "must be passed back" in failure.message


def test_fields_of_another_type_are_read_as_far_as_they_go() -> None:
    odd = {
        "choices": [
            {
                "index": "0",
                "delta": {
                    "content": {"text": "a"},
                    "reasoning_content": [{"text": "r"}],
                    "tool_calls": [
                        {"index": 0.5, "id": 7, "function": {"name": "f", "arguments": [1]}},
                        "odd",
                    ],
                },
                "finish_reason": 5,
            },
            "odd",
        ],
        "usage": {"prompt_tokens": 1},
    }
    answer = read("openai-chat", sse(odd, chunk(finish="stop")))
    assert (answer.thinking, answer.text) == (["r"], "a")
    assert answer.call_ids == ["7"]
    assert read("openai-chat", sse({"choices": "odd"}, chunk(finish="stop"))).failure is None
    failure = read("openai-chat", sse("[1]")).failure
    assert failure and failure.kind == "bad_data"


def test_a_cut_in_the_counting_behind_a_finished_answer_is_no_failure() -> None:
    body = sse(chunk({"content": "a"}), chunk(finish="stop"), done=False)
    answer = read("openai-chat", body + b'data: {"choices":[],"usage":{"prompt')
    assert answer.failure is None and answer.finish == Finish("stop", "stop")
