"""OpenAI, first party: Responses first, chat as the second dialect.

Sources: OpenAI SDK 3.57.0 types (2026-11). GPT-6 needs Responses for tools, and only Responses
gives the summaries and the sealed items that keep reasoning across calls.
"""

from typing import Any

from silu.providers.facts import Facts
from silu.providers.forms import reasoning_effort, responses_reasoning
from silu.providers.vendor import Door, Vendor


def _chat(facts: Facts, thinking: bool) -> dict[str, Any]:
    # Chat takes no thought back and refuses `max_tokens` for reasoning models.
    return {"max_tokens_field": "max_completion_tokens", "echo": "never"}


def _responses(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"own_tools": {"web_search": {"type": "web_search"}}}


def _summaries(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"summary": True}


VENDOR = Vendor(
    id="openai",
    label="OpenAI",
    rank=1,
    key_vars=("OPENAI_API_KEY",),
    start_models=("gpt-6.2-sol", "gpt-6.1-terra", "gpt-5.6-terra", "gpt-5.5"),
    models=(
        "gpt-6.2-sol",
        "gpt-6.2-astra",
        "gpt-6.1-terra",
        "gpt-6.1-sol",
        "gpt-6-luna",
        "gpt-5.6-sol",
        "gpt-5.6-terra",
        "gpt-5.6-luna",
        "gpt-5.5",
        "gpt-5.4",
        "gpt-5.4-mini",
        "gpt-5",
    ),
    doors=(
        Door(
            dialect="openai-responses",
            base_url="https://api.openai.com/v1",
            form=responses_reasoning,
            off_is_effort=True,
            encode=_responses,
            decode=_summaries,
        ),
        Door(
            dialect="openai-chat",
            base_url="https://api.openai.com/v1",
            form=reasoning_effort,
            off_is_effort=True,
            encode=_chat,
        ),
    ),
    notes={"auth": "Keys are made at platform.openai.com."},
    sources=("OpenAI SDK 3.57.0 types (2026-11)",),
)
