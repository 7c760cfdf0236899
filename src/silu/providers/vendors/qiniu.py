"""Qiniu's aggregator.

Sources: Qiniu's manual and metadata (anomalyco/models.dev#2860), bowenQT/qiniu-ai-sdk (vendors.md
§15, 2026-11). `thinking.type` is documented for Doubao, Qwen3, GLM and MiniMax up to M2.5; for
the rest an effort is taken, and whether off works is not known.
"""

from typing import Any

from msgspec.structs import replace

from silu.providers.facts import SWITCH_ON, Facts
from silu.providers.forms import reasoning_effort, thinking_type
from silu.providers.vendor import Ask, Door, Vendor
from silu.types.levels import Level

_SWITCHED = frozenset({"doubao", "qwen", "glm", "minimax"})


def _form(facts: Facts, ask: Ask) -> dict[str, Any]:
    if facts.family in _SWITCHED:
        return {"thinking": {"type": "enabled" if ask.on else "disabled"}}
    return reasoning_effort(facts, ask) if ask.on else thinking_type(facts, ask)


def _here(facts: Facts, model: str) -> Facts:
    if facts.thinking != "supported":
        return facts
    if facts.family in _SWITCHED:
        on = (SWITCH_ON,) if facts.forced else (Level.OFF, SWITCH_ON)
        default = facts.default if facts.default in {None, Level.OFF} else SWITCH_ON
        return replace(
            facts, levels=on, switch_only=True, default=default, budgets={}, adaptive=False
        )
    on = (Level.LOW, Level.MEDIUM, Level.HIGH)
    levels = on if facts.forced else (Level.OFF, *on)
    note = "Whether this aggregator really switches this model off is not known."
    return replace(
        facts,
        levels=levels,
        default=None,
        budgets={},
        efforts={},
        same={},
        adaptive=False,
        switch_only=False,
        extra={**facts.extra, "off_note": note, "off": None},
    )


def _rules(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"echo_field": "reasoning_content"}


VENDOR = Vendor(
    id="qiniu",
    label="Qiniu",
    rank=9,
    key_vars=("QINIU_API_KEY",),
    start_models=("deepseek-v4-flash", "deepseek-v3.1"),
    models=("deepseek-v4-flash", "deepseek-v4-pro", "glm-5.2", "kimi-k2.6", "qwen3-max"),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://api.qnaigc.com/v1",
            form=_form,
            adapt=_here,
            encode=_rules,
        ),
    ),
    sources=("Qiniu manual and client evidence, vendors.md §15 (2026-11)",),
)
