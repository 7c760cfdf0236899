"""Hosts of open weights: Cerebras, Together, Fireworks, NVIDIA, SiliconFlow.

Sources: docs.together.ai, docs.fireworks.ai, AI SDK cerebras 3.0.59, SiliconFlow's manual as in
vendors.md §12 and §15 (2026-11). Where a host lists no words for a family, nothing is sent until
a person asks.
"""

from typing import Any

from msgspec.structs import replace

from silu.providers.facts import SWITCH_ON, Facts, up_to
from silu.providers.forms import enable_thinking, reasoning_effort, template_kwargs, word
from silu.providers.vendor import Ask, Door, Turn, Vendor
from silu.types.levels import Level


def words(facts: Facts, model: str) -> Facts:
    """none, low, medium, high by model; the family decides what it makes of them."""
    if facts.thinking == "unsupported" or facts.family == "gpt-oss":
        return facts
    default = Level.OFF if facts.default is Level.OFF else None
    return replace(
        facts,
        levels=up_to(Level.HIGH, off=not facts.forced),
        default=default,
        switch_only=False,
        budgets={},
        efforts={},
        same={},
        adaptive=False,
    )


def switch(facts: Facts, model: str) -> Facts:
    """On or off, where the family has an off."""
    if facts.thinking != "supported" or facts.family == "gpt-oss":
        return facts
    default = facts.default if facts.default in {None, Level.OFF} else SWITCH_ON
    levels = (SWITCH_ON,) if facts.forced else (Level.OFF, SWITCH_ON)
    return replace(
        facts, levels=levels, switch_only=True, default=default, budgets={}, adaptive=False
    )


def _together(facts: Facts, ask: Ask) -> dict[str, Any]:
    body: dict[str, Any] = {"reasoning": {"enabled": ask.on}}
    if ask.on and not facts.switch_only and not facts.budgets:
        body["reasoning_effort"] = word(facts, ask.level)
    return body


def _together_here(facts: Facts, model: str) -> Facts:
    return switch(facts, model) if facts.budgets else facts


def _parsed(facts: Facts, turn: Turn) -> dict[str, Any]:
    return {"reasoning_format": "parsed"} if facts.thinking == "supported" else {}


def _preserved(facts: Facts, turn: Turn) -> dict[str, Any]:
    return {"reasoning_history": "preserved"} if turn.thinking and turn.complete else {}


def _plain(facts: Facts, thinking: bool) -> dict[str, Any]:
    # Content in array form provokes echo loops on DeepSeek there (2026).
    return {"plain_content": True}


def _siliconflow(facts: Facts, model: str) -> Facts:
    """`enable_thinking` for hybrids, with a budget of 128 to 32768; DeepSeek V4 by efforts."""
    if facts.thinking != "supported":
        return facts
    if facts.budgets:
        budgets = {level: min(value, 32768) for level, value in facts.budgets.items()}
        return replace(facts, budgets=budgets, budget_min=128, budget_max=32768)
    if facts.family == "deepseek" and facts.generation == "v4-flash":
        return replace(facts, levels=(Level.OFF, Level.HIGH, Level.MAX))
    return switch(facts, model)


def _field(name: str) -> Any:
    def rules(facts: Facts, thinking: bool) -> dict[str, Any]:
        return {"echo_field": name}

    return rules


CEREBRAS = Vendor(
    id="cerebras",
    label="Cerebras",
    key_vars=("CEREBRAS_API_KEY",),
    start_models=("gpt-oss-120b",),
    models=("gpt-oss-120b",),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://api.cerebras.ai/v1",
            form=reasoning_effort,
            off_is_effort=True,
            adapt=words,
            body_rules=_parsed,
            # Seen to refuse `reasoning_content` in a message (vendors.md §21).
            encode=_field("reasoning"),
        ),
    ),
)
TOGETHER = Vendor(
    id="together",
    label="Together",
    key_vars=("TOGETHER_API_KEY",),
    start_models=("deepseek-ai/DeepSeek-V4-Flash", "openai/gpt-oss-120b"),
    models=("deepseek-ai/DeepSeek-V4-Flash", "openai/gpt-oss-120b", "moonshotai/Kimi-K3"),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://api.together.ai/v1",
            form=_together,
            adapt=_together_here,
        ),
    ),
)
FIREWORKS = Vendor(
    id="fireworks",
    label="Fireworks",
    key_vars=("FIREWORKS_API_KEY",),
    start_models=("accounts/fireworks/models/deepseek-v4-flash",),
    models=("accounts/fireworks/models/deepseek-v4-flash",),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://api.fireworks.ai/inference/v1",
            form=reasoning_effort,
            off_is_effort=True,
            adapt=words,
            body_rules=_preserved,
        ),
    ),
)
NVIDIA = Vendor(
    id="nvidia",
    label="NVIDIA NIM",
    key_vars=("NVIDIA_API_KEY",),
    start_models=("openai/gpt-oss-120b",),
    models=("openai/gpt-oss-120b", "deepseek-ai/deepseek-v4-flash"),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://integrate.api.nvidia.com/v1",
            form=template_kwargs,
            adapt=switch,
            encode=_plain,
        ),
    ),
)
SILICONFLOW = Vendor(
    id="siliconflow",
    label="SiliconFlow",
    key_vars=("SILICONFLOW_API_KEY",),
    start_models=("deepseek-ai/DeepSeek-V4-Flash", "Qwen/Qwen3-8B"),
    models=("deepseek-ai/DeepSeek-V4-Flash", "Qwen/Qwen3-8B", "zai-org/GLM-4.6"),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://api.siliconflow.cn/v1",
            form=enable_thinking,
            adapt=_siliconflow,
            encode=_field("reasoning_content"),
        ),
    ),
)

VENDORS = (CEREBRAS, TOGETHER, FIREWORKS, NVIDIA, SILICONFLOW)
