"""Reading openai-chat answers: where thinking stands (field cases F009, F036–F039)."""

import json

import pytest

from silu.types.events import Finish
from silu.types.parts import ThinkingPart
from silu.types.rules import DecodeRules, TagRules
from tests.wire.chat_answers import stream, whole

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


def test_a_mirror_that_comes_a_piece_later_adds_only_what_goes_on_from_it() -> None:
    answer = stream(
        {"reasoning": "The"},
        {"reasoning_content": "The"},
        {"reasoning": " end"},
        {"reasoning_content": " end"},
        {"reasoning_content": " is near"},
        {"content": "x"},
    )
    assert answer.thinking == ["The end is near"]


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
