"""xAI: Responses first, chat second.

Sources: docs.x.ai "Reasoning" (read 2026-11), AI SDK xai 5.0.12 (vendors.md §10). Chat has no
field for the sealed items and leaves reasoning out of its output count.
"""

from typing import Any

from silu.providers.facts import Facts
from silu.providers.forms import reasoning_effort, reasoning_object
from silu.providers.vendor import Ask, Door, Vendor


def _responses(facts: Facts, ask: Ask) -> dict[str, Any]:
    return {} if facts.switch_only else reasoning_object(facts, ask)


def _chat(facts: Facts, ask: Ask) -> dict[str, Any]:
    return {} if facts.switch_only else reasoning_effort(facts, ask)


def _own_tools(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"own_tools": {"web_search": {"type": "web_search"}}}


VENDOR = Vendor(
    id="xai",
    label="xAI",
    key_vars=("XAI_API_KEY",),
    start_models=("grok-4.7", "grok-4.6"),
    models=("grok-4.7", "grok-4.6", "grok-4.5", "grok-4.3"),
    doors=(
        Door(
            dialect="openai-responses",
            base_url="https://api.x.ai/v1",
            form=_responses,
            off_is_effort=True,
            encode=_own_tools,
        ),
        Door(
            dialect="openai-chat",
            base_url="https://api.x.ai/v1",
            form=_chat,
            off_is_effort=True,
        ),
    ),
    sources=("docs.x.ai Reasoning (2026-11)",),
)
