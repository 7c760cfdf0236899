"""Groq.

Sources: Groq SDK 1.7.0, AI SDK groq 4.0.84 (vendors.md §12, 2026-11). Thinking comes and goes
back as `reasoning`; `reasoning_content` in a message is refused.
"""

from typing import Any

from msgspec.structs import replace

from silu.providers.facts import SWITCH_ON, Facts, up_to
from silu.providers.forms import reasoning_effort
from silu.providers.vendor import Ask, Door, Turn, Vendor
from silu.types.levels import Level


def _form(facts: Facts, ask: Ask) -> dict[str, Any]:
    return {} if facts.forced and facts.switch_only else reasoning_effort(facts, ask)


def _here(facts: Facts, model: str) -> Facts:
    if facts.family != "qwen" or facts.thinking != "supported":
        return facts
    if facts.generation == "3.8":
        # high runs the native xhigh.
        return replace(facts, levels=up_to(Level.HIGH), default=Level.MEDIUM, same={}, budgets={})
    return replace(
        facts,
        levels=(Level.OFF, SWITCH_ON),
        switch_only=True,
        default=SWITCH_ON,
        efforts={SWITCH_ON: "default"},
        budgets={},
    )


def _parsed(facts: Facts, turn: Turn) -> dict[str, Any]:
    # `raw` would be refused with tools; gpt-oss always answers parsed.
    return {"reasoning_format": "parsed"} if facts.family in {"qwen", "deepseek"} else {}


def _rules(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"echo_field": "reasoning", "max_tokens_field": "max_completion_tokens"}


VENDOR = Vendor(
    id="groq",
    label="Groq",
    key_vars=("GROQ_API_KEY",),
    start_models=("openai/gpt-oss-120b", "qwen/qwen3.8-32b"),
    models=("openai/gpt-oss-120b", "openai/gpt-oss-20b"),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://api.groq.com/openai/v1",
            form=_form,
            off_is_effort=True,
            adapt=_here,
            body_rules=_parsed,
            encode=_rules,
        ),
    ),
    sources=("Groq SDK 1.7.0 (2026-11)",),
)
