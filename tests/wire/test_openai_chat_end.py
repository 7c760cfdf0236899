"""Reading openai-chat answers: how they end, count and fail (field cases F031–F035, F042–F044)."""

import json
from typing import Any

import pytest

from silu.types.events import Finish, Served, VendorNote
from silu.types.rules import DecodeRules
from silu.types.usage import Usage
from silu.wire import decoder
from tests.wire.chat_answers import stream, whole
from tests.wire.reading import chunk, read, sse

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


def test_a_first_chunk_that_says_nothing_is_not_taken_for_the_introduction() -> None:
    empty = {"choices": [], "id": "", "model": "", "prompt_filter_results": []}
    answer = read("openai-chat", sse(empty, chunk({"content": "x"}), chunk({}, "stop")))
    assert [e for e in answer.events if isinstance(e, Served)] == [Served("m-1", "r1")]


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


def test_a_message_at_the_end_of_a_stream_fills_what_did_not_come() -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": "{}"}}
    message = {"reasoning_content": "why", "content": "ab", "tool_calls": [call]}
    last = {"choices": [{"delta": {}, "message": message, "finish_reason": "tool_calls"}]}
    for told in ({}, {"content": "ab"}, {"reasoning_content": "why"}, {"tool_calls": [call]}):
        answer = read("openai-chat", sse(chunk(told), last))
        assert answer.thinking == ["why"]
        assert answer.call_ids == ["c"]
        assert answer.text == ("" if "tool_calls" in told else "ab")


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
