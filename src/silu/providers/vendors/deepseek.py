"""DeepSeek, first party, over its OpenAI and its Anthropic dialect.

Sources: api-docs.deepseek.com "Thinking Mode" and "Rate Limit" (read 2026-11).
"""

from typing import Any

from silu.providers.facts import Facts
from silu.providers.forms import anthropic_thinking, thinking_type
from silu.providers.vendor import Door, Vendor


def _chat(facts: Facts, thinking: bool) -> dict[str, Any]:
    # "system" only: role developer answers 400 "unknown variant".
    return {"echo_field": "reasoning_content", "max_tokens_field": "max_tokens"}


def _messages(facts: Facts, thinking: bool) -> dict[str, Any]:
    # Its thinking blocks carry no signature.
    return {"unsigned_ok": True}


VENDOR = Vendor(
    id="deepseek",
    label="DeepSeek",
    rank=3,
    key_vars=("DEEPSEEK_API_KEY",),
    start_models=("deepseek-flash", "deepseek-v4-flash"),
    models=("deepseek-flash", "deepseek-v4.1-flash", "deepseek-v4-flash", "deepseek-v4-pro"),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://api.deepseek.com",
            form=thinking_type,
            encode=_chat,
        ),
        Door(
            dialect="anthropic-messages",
            base_url="https://api.deepseek.com/anthropic",
            auth="x-api-key",
            headers={"anthropic-version": "2023-06-01"},
            form=anthropic_thinking,
            encode=_messages,
        ),
    ),
    notes={
        "auth": "Keys are made at platform.deepseek.com.",
        "quota": "The account has no balance left; top it up at platform.deepseek.com.",
    },
    sources=("api-docs.deepseek.com Thinking Mode (2026-11)",),
)
