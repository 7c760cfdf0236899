"""Xiaomi MiMo, chat and the Anthropic dialect.

Source: mimo.mi.com "Deep Thinking" (read 2026-11).
"""

from typing import Any

from silu.providers.facts import Facts
from silu.providers.forms import anthropic_thinking, thinking_type
from silu.providers.vendor import Door, Vendor


def _rules(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"echo_field": "reasoning_content", "max_tokens_field": "max_completion_tokens"}


def _unsigned(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"unsigned_ok": True}


VENDOR = Vendor(
    id="mimo",
    label="Xiaomi MiMo",
    rank=7,
    key_vars=("XIAOMI_API_KEY", "MIMO_API_KEY"),
    start_models=("mimo-v2.6-pro", "mimo-v2.5-pro"),
    models=("mimo-v2.6-pro", "mimo-v2.6-flash", "mimo-v2.5-pro", "mimo-v2.5", "mimo-v2-flash"),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://api.xiaomimimo.com/v1",
            form=thinking_type,
            encode=_rules,
        ),
        Door(
            dialect="anthropic-messages",
            base_url="https://api.xiaomimimo.com/anthropic",
            auth="x-api-key",
            headers={"anthropic-version": "2023-06-01"},
            form=anthropic_thinking,
            encode=_unsigned,
        ),
    ),
    sources=("mimo.mi.com Deep Thinking (2026-11)",),
)
