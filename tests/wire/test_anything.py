"""Bytes from nowhere: no crash, no hang, and an answer or a failure in the end."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silu.types.rules import DecodeRules, TagRules
from silu.wire import DIALECTS
from tests.wire.reading import read, sse

_leaf = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.text(max_size=6), st.floats(allow_nan=False)
)
KEYS = (
    "choices delta message content reasoning reasoning_content reasoning_details tool_calls index "
    "id function name arguments finish_reason usage error type text thinking signature data "
    "content_block stop_reason candidates parts functionCall args output item summary status "
    "response done tool_use input messageStart contentBlockDelta reasoningContent"
)
_keys = st.sampled_from(KEYS.split())
KINDS = (
    "content_block_start content_block_delta content_block_stop message_start message_delta "
    "message_stop thinking text tool_use thinking_delta text_delta reasoning function_call "
    "response.output_item.added response.output_item.done response.output_text.delta "
    "response.completed stop end_turn error"
)
_kinds = st.sampled_from(KINDS.split())
_json: st.SearchStrategy[Any] = st.recursive(
    st.one_of(_leaf, _kinds),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_keys, inner, max_size=4)),
    max_leaves=14,
)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("streaming", [True, False])
@settings(max_examples=60, deadline=None)
@given(body=st.binary(max_size=200))
def test_any_bytes_are_read_to_an_end(dialect: str, streaming: bool, body: bytes) -> None:
    answer = read(dialect, body, streaming=streaming)
    assert answer.failure is not None or answer.finish is not None


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=150, deadline=None)
@given(objects=st.lists(_json, max_size=4))
def test_any_json_is_read_to_an_end(dialect: str, objects: list[Any]) -> None:
    for body, streaming in (
        (sse(*objects), True),
        (b"\n".join(json.dumps(o).encode() for o in objects), True),
        (json.dumps(objects[0] if objects else None).encode(), False),
    ):
        answer = read(dialect, body, streaming=streaming)
        assert answer.failure is not None or answer.finish is not None


@pytest.mark.parametrize("dialect", DIALECTS)
@given(body=st.binary(max_size=80), status=st.sampled_from([400, 401, 404, 429, 500, 503]))
def test_any_error_body_is_a_failure_with_its_status(
    dialect: str, body: bytes, status: int
) -> None:
    failure = read(dialect, body, status=status).failure
    assert failure is not None and failure.status == status and failure.message


_words = st.sampled_from(
    ["<think>", "</think>", "思考🙂", "a", " ", "\n", "```", "`", "<", "x < y"]
)


@settings(max_examples=100, deadline=None)
@given(
    pieces=st.lists(st.tuples(st.booleans(), st.lists(_words, max_size=4)), max_size=8),
    late=st.booleans(),
    implicit=st.booleans(),
)
def test_no_word_of_an_answer_is_lost(
    pieces: list[tuple[bool, list[str]]], late: bool, implicit: bool
) -> None:
    """Fields and tags mixed at will: all that is no tag and no space comes out again, in order."""
    rules = DecodeRules(tags=TagRules(late_blocks=late, implicit_open=implicit, drop_copy=False))
    deltas = [
        {"choices": [{"delta": {("reasoning" if own else "content"): "".join(words)}}]}
        for own, words in pieces
    ]
    last = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    answer = read("openai-chat", sse(*deltas, last), rules=rules)

    def bare(text: str) -> str:
        for tag in ("<think>", "</think>"):
            text = text.replace(tag, "")
        return "".join(text.split())

    said = "".join(word for _, words in pieces for word in words)
    shown = "".join(p.text for p in answer.message.parts if hasattr(p, "text"))  # type: ignore[union-attr]
    assert sorted(bare(shown)) == sorted(bare(said))
