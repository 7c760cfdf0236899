"""Reading openai-chat answers: calls in every shape (field cases F026–F029, F034)."""

from typing import Any

import pytest

from silu.types.rules import DecodeRules
from tests.wire.chat_answers import stream, whole
from tests.wire.reading import Answer, chunk, read, sse


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
