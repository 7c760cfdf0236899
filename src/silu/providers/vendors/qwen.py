"""Alibaba Model Studio (DashScope): Qwen, and other families under Qwen's switches.

Sources: help.aliyun.com Model Studio "Deep thinking" and "Error codes" (read 2026-11).
Always streamed: many models refuse thinking on whole answers. Other regions: SILU_QWEN_URL.
"""

from typing import Any

from msgspec.structs import replace

from silu.providers.facts import SWITCH_ON, Facts
from silu.providers.forms import anthropic_thinking, enable_thinking
from silu.providers.vendor import Door, Turn, Vendor, own_url
from silu.types.levels import Level


def here(facts: Facts, model: str) -> Facts:
    """Foreign families take `enable_thinking` too; DeepSeek V4 with high or max beside it."""
    if facts.family in {"qwen", "unknown"} or facts.thinking != "supported":
        return facts
    if facts.family == "deepseek" and not facts.switch_only:
        return replace(facts, levels=(Level.OFF, Level.HIGH, Level.MAX))
    default = facts.default if facts.default in {None, Level.OFF} else SWITCH_ON
    levels = (SWITCH_ON,) if facts.forced else (Level.OFF, SWITCH_ON)
    return replace(facts, levels=levels, switch_only=True, default=default, adaptive=False)


def _preserve(facts: Facts, turn: Turn) -> dict[str, Any]:
    # Reasoning of earlier turns stays in the context only where it is asked for.
    preserves = facts.extra.get("preserve") and turn.thinking
    return {"preserve_thinking": True} if preserves else {}


def _rules(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"echo_field": "reasoning_content", "filler": None, "filler_on": "nowhere"}


def _unsigned(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"unsigned_ok": True}


VENDOR = Vendor(
    id="qwen",
    label="Alibaba Qwen",
    rank=5,
    key_vars=("DASHSCOPE_API_KEY", "QWEN_API_KEY"),
    start_models=("qwen4-max", "qwen3.8-max"),
    models=(
        "qwen4-max",
        "qwen3.8-max",
        "qwen3.8-flash",
        "qwen3.7-max",
        "qwen3.7-plus",
        "qwen3.6-plus",
        "qwen3-max",
    ),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
            place=own_url("SILU_QWEN_URL"),
            form=enable_thinking,
            adapt=here,
            body_rules=_preserve,
            stream_only=True,
            encode=_rules,
        ),
        Door(
            dialect="anthropic-messages",
            base_url="https://dashscope.aliyuncs.com/apps/anthropic",
            auth="x-api-key",
            headers={"anthropic-version": "2023-06-01"},
            form=anthropic_thinking,
            adapt=here,
            encode=_unsigned,
        ),
    ),
    sources=("help.aliyun.com Model Studio, Deep thinking (2026-11)",),
)
