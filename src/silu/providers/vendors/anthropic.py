"""Anthropic, first party.

Sources: Anthropic SDK 2.14.0 types, platform.claude.com documentation (read 2026-11).
"""

from typing import Any

from silu.providers.facts import Facts
from silu.providers.forms import anthropic_thinking, claude_headers
from silu.providers.vendor import Door, Vendor

_SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 8}
"""The first version of the tool: every model takes it (platform.claude.com "Web search tool")."""


def _encode(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"cache_marks": True, "own_tools": {"web_search": _SEARCH}}


VENDOR = Vendor(
    id="anthropic",
    label="Anthropic",
    rank=0,
    key_vars=("ANTHROPIC_API_KEY",),
    start_models=("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"),
    models=(
        "claude-opus-5-5",
        "claude-sonnet-5-5",
        "claude-haiku-5-5",
        "claude-fable-5-2",
        "claude-opus-5",
        "claude-sonnet-5",
        "claude-opus-4-8",
        "claude-opus-4-7",
        "claude-opus-4-6",
        "claude-sonnet-4-6",
        "claude-opus-4-5",
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
    ),
    doors=(
        Door(
            dialect="anthropic-messages",
            base_url="https://api.anthropic.com",
            auth="x-api-key",
            headers={"anthropic-version": "2023-06-01"},
            form=anthropic_thinking,
            header_rules=claude_headers,
            encode=_encode,
        ),
    ),
    notes={"auth": "Keys are made at console.anthropic.com."},
    sources=("Anthropic SDK 2.14.0 types (2026-11)", "platform.claude.com (2026-11)"),
)
