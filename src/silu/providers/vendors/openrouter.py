"""OpenRouter: one `reasoning` object for all models behind it.

Sources: openrouter.ai "Reasoning Tokens", "Streaming", "Errors"; which models refuse `none` was
checked live on 2026-11-05 (vendors.md §14). Vendor-specific switches are stripped there.
"""

import re
from typing import Any

from msgspec.structs import replace

from silu.providers.facts import Facts
from silu.providers.vendor import Ask, Door, Vendor
from silu.types.levels import ORDER, Level

# "Reasoning is mandatory for this endpoint": more models than at their own vendors.
_MANDATORY = re.compile(
    r"claude-sonnet-5[.-]5|gemini-3\.[5-8]-flash|gemini-4-argon|minimax-m(?:2\.[57]|3\.1-flash)"
    r"|kimi-k2\.7-code|gpt-oss|glm-5\.3|step-3|qwen3\.8-max"
)


def _form(facts: Facts, ask: Ask) -> dict[str, Any]:
    if ask.level is Level.ADAPTIVE:
        return {"reasoning": {"enabled": True}}
    return {"reasoning": {"effort": ask.level.value if ask.on else "none"}}


def _here(facts: Facts, model: str) -> Facts:
    """Every word is taken; `max` is lowered to the model's highest. Off where it is not
    mandatory, else `minimal` is the lowest."""
    if facts.thinking == "unsupported":
        return facts
    forced = facts.forced or _MANDATORY.search(model.lower()) is not None
    return replace(
        facts,
        levels=ORDER[1:] if forced else ORDER,
        adaptive=True,
        switch_only=False,
        budgets={},
        efforts={},
        same={},
        extra={},
    )


VENDOR = Vendor(
    id="openrouter",
    label="OpenRouter",
    key_vars=("OPENROUTER_API_KEY",),
    start_models=("anthropic/claude-sonnet-5.5", "deepseek/deepseek-v4-flash"),
    models=(
        "anthropic/claude-sonnet-5.5",
        "openai/gpt-6.1-terra",
        "google/gemini-3.8-flash",
        "deepseek/deepseek-v4-flash",
        "moonshotai/kimi-k3",
        "z-ai/glm-5.2",
    ),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://openrouter.ai/api/v1",
            form=_form,
            off_is_effort=True,
            adapt=_here,
        ),
        Door(
            dialect="openai-responses",
            base_url="https://openrouter.ai/api/v1",
            form=_form,
            off_is_effort=True,
            adapt=_here,
        ),
    ),
    sources=("openrouter.ai Reasoning Tokens (2026-11)",),
)
