"""Moonshot Kimi, first party: chat and the Anthropic dialect.

Sources: the vendor's clients kimi-code and kimi-cli (2026-08), platform.moonshot.ai as in
vendors.md §5. A key of the Chinese platform needs its own host, and so does one of Kimi Code
(https://api.kimi.com/coding/v1): SILU_KIMI_URL.
"""

from typing import Any

from silu.providers.facts import Facts
from silu.providers.forms import anthropic_thinking, thinking_type, word
from silu.providers.vendor import Ask, Door, Turn, Vendor, own_url


def _chat(facts: Facts, ask: Ask) -> dict[str, Any]:
    # K3 has an effort and no `thinking` field, K2 a switch and no effort.
    if facts.switch_only:
        return thinking_type(facts, ask)
    return {"reasoning_effort": word(facts, ask.level)}


def _code(facts: Facts, ask: Ask) -> dict[str, Any]:
    # Kimi Code takes the effort inside the switch (its manual; kimi-code, 2026-08).
    if facts.switch_only:
        return thinking_type(facts, ask)
    return {"thinking": {"type": "enabled", "effort": word(facts, ask.level)}}


def _keep(facts: Facts, turn: Turn) -> dict[str, Any]:
    # k2.6 forgets the reasoning of earlier turns unless told to keep it.
    keeps = facts.extra.get("keep") and turn.thinking
    return {"thinking": {"keep": "all"}} if keeps else {}


def _rules(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"echo_field": "reasoning_content", "max_tokens_field": "max_completion_tokens"}


def _unsigned(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"unsigned_ok": True}


VENDOR = Vendor(
    id="kimi",
    label="Moonshot Kimi",
    rank=4,
    key_vars=("MOONSHOT_API_KEY", "KIMI_API_KEY"),
    start_models=("kimi-k3.1-pro", "kimi-k3"),
    models=("kimi-k3.1-pro", "kimi-k3", "kimi-k2.7-code", "kimi-k2.6", "kimi-k2.5"),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://api.moonshot.ai/v1",
            place=own_url("SILU_KIMI_URL"),
            form=_chat,
            body_rules=_keep,
            encode=_rules,
        ),
        Door(
            dialect="openai-chat",
            base_url="https://api.kimi.com/coding/v1",
            form=_code,
            body_rules=_keep,
            encode=_rules,
        ),
        Door(
            dialect="anthropic-messages",
            base_url="https://api.moonshot.ai/anthropic",
            auth="x-api-key",
            headers={"anthropic-version": "2023-06-01"},
            form=anthropic_thinking,
            encode=_unsigned,
        ),
    ),
    notes={
        "auth": "Keys of api.moonshot.cn need SILU_KIMI_URL=https://api.moonshot.cn/v1, those of "
        "Kimi Code SILU_KIMI_URL=https://api.kimi.com/coding/v1."
    },
    sources=("MoonshotAI/kimi-code (2026-08)", "AI SDK moonshotai 3.0.60 (2026-10)"),
)
