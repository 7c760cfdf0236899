"""Calls written as markup into thinking or text (field case F030)."""

import pytest

from silu.wire.stray_calls import StrayCall, speaks_of_a_call, stray_calls


def test_whole_calls_are_found_in_order() -> None:
    text = (
        'I will look.\n<tool_call>\n{"name": "f", "arguments": {"x": {"y": 1}}}\n</tool_call>\n'
        "<tool_call><function=g>\n<parameter=path>\na b\n</parameter>\n"
        "<parameter=n>3</parameter>\n</function></tool_call>"
        '<tool_call>{"name": "h", "arguments": "{}"}</tool_call>'
        '<tool_call>{"name": "i"}</tool_call>'
    )
    assert speaks_of_a_call(text)
    assert stray_calls(text) == [
        StrayCall(name="f", arguments='{"x":{"y":1}}'),
        StrayCall(name="g", arguments='{"path":"a b","n":3}'),
        StrayCall(name="h", arguments="{}"),
        StrayCall(name="i", arguments="{}"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        # gpt-oss (Harmony), with the recipient behind the channel, before it, and cut at the end
        'commentary to=functions.f <|constrain|>json<|message|>{"x":1}<|call|>',
        '<|start|>assistant to=functions.f<|channel|>commentary json<|message|> {"x":1} <|end|>',
        'Look. to=functions.f <|message|>{"x":1}',
        # Kimi K2
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0"
        '<|tool_call_argument_begin|>{"x":1}<|tool_call_end|><|tool_calls_section_end|>',
    ],
)
def test_calls_in_a_models_own_marks_are_found(text: str) -> None:
    assert speaks_of_a_call(text)
    assert stray_calls(text) == [StrayCall(name="f", arguments='{"x":1}')]


@pytest.mark.parametrize(
    "text",
    [
        'to=functions.f <|message|>{"x":1',
        '<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"x"<|tool_call_end|>',
        '<tool_call>{"name": "f", "arguments": {"x"',
        '<tool_call>{"arguments": {}}</tool_call>',
        '<tool_call>{"name": "f", "arguments": "half {"}</tool_call>',
        "<function=f><parameter=x>1",
    ],
)
def test_half_a_call_is_noticed_and_not_taken_for_one(text: str) -> None:
    assert speaks_of_a_call(text) and stray_calls(text) == []


def test_ordinary_text_speaks_of_none() -> None:
    assert not speaks_of_a_call("call f(x) when <b>tools</b> are needed")
