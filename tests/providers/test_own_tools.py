"""Tools that a vendor runs itself: asked for in its own words, and left out elsewhere."""

import json
from typing import Any

import pytest

from silu.config import Settings
from silu.providers.prepare import Prepared, prepare
from silu.providers.profile import profile_for, split_ref
from silu.types.calls import CallRequest, ToolSpec
from silu.types.levels import Level
from silu.types.parts import Message, TextPart

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}
FUNCTION = ToolSpec(name="look", description="d", parameters=SCHEMA)
SEARCH = ToolSpec(name="web_search", description="d", parameters=SCHEMA, vendor_run=True)

ASKED = {
    "anthropic/claude-sonnet-5-5": {
        "type": "web_search_20250305",
        "name": "web_search",
        "max_uses": 8,
    },
    "minimax/MiniMax-M3": {"type": "web_search_20250305", "name": "web_search"},
    "openai/gpt-6.1-terra": {"type": "web_search"},
    "xai/grok-4.6": {"type": "web_search"},
    "gemini/gemini-3.8-flash": {"googleSearch": {}},
}
WITHOUT = ("deepseek/deepseek-v4-pro", "gemini/gemini-2.5-flash", "ollama/qwen3:8b")


def made(settings: Settings, ref: str, *tools: ToolSpec) -> Prepared:
    said = [Message(role="user", id="u", parts=[TextPart(text="hi", id="t")])]
    request = CallRequest(model=ref, messages=said, tools=list(tools), level=Level.HIGH)
    return prepare(profile_for(*split_ref(ref)), request, settings=settings)


@pytest.mark.parametrize("ref", ASKED)
def test_a_vendor_that_searches_is_asked_to_beside_the_functions(
    settings: Settings, ref: str
) -> None:
    body = json.loads(made(settings, ref, FUNCTION, SEARCH).http.body)
    function, search = body["tools"]
    assert "look" in json.dumps(function) and "web_search" not in json.dumps(function)
    assert {k: v for k, v in search.items() if k != "cache_control"} == ASKED[ref]
    alone = json.loads(made(settings, ref, SEARCH).http.body)
    assert len(alone["tools"]) == 1
    assert profile_for(*split_ref(ref)).capability.own_tools == ("web_search",)


def test_gemini_shows_what_its_search_did_so_that_it_can_go_back(settings: Settings) -> None:
    body = json.loads(made(settings, "gemini/gemini-3.8-flash", FUNCTION, SEARCH).http.body)
    assert body["toolConfig"] == {"includeServerSideToolInvocations": True}


@pytest.mark.parametrize("ref", WITHOUT)
def test_a_vendor_without_a_search_is_not_asked_and_that_is_told(
    settings: Settings, ref: str
) -> None:
    prepared = made(settings, ref, FUNCTION, SEARCH)
    assert b"search" not in prepared.http.body.lower()
    told = "web_search is left out: this model's vendor does not run it."
    assert told in prepared.resolution.notes
    assert profile_for(*split_ref(ref)).capability.own_tools == ()
