"""What a vendor's own tool was asked, read from its block in each dialect's shape."""

import json
from typing import Any

import pytest

from silu.types.own_tools import asked_of

BLOCKS: list[tuple[Any, str]] = [
    ({"type": "server_tool_use", "name": "web_search", "input": {"query": "roses"}}, "roses"),
    ({"type": "web_search_call", "action": {"type": "search", "query": "roses"}}, "roses"),
    ({"type": "web_search_call", "action": {"queries": ["a", "b"]}}, "a, b"),
    (
        {"type": "web_search_call", "action": {"url": "https://rose.example"}},
        "https://rose.example",
    ),
    ({"toolCall": {"toolType": "GOOGLE_SEARCH", "args": {"queries": ["roses"]}}}, "roses"),
    ({"type": "code_interpreter_call", "code": "1"}, ""),
    ({"query": ""}, ""),
    ([1], ""),
]


@pytest.mark.parametrize(("block", "words"), BLOCKS)
def test_the_words_of_a_search_are_found_in_every_shape(block: Any, words: str) -> None:
    assert asked_of(json.dumps(block)) == words


def test_a_block_that_is_no_json_and_a_very_long_question_do_no_harm() -> None:
    assert asked_of("{") == ""
    assert len(asked_of(json.dumps({"query": "x" * 9_000}))) == 300
