"""ModelScope's inference API: open weights under Model Studio's switch.

Sources: datawhalechina/hello-agents#230, musistudio/claude-code-router#948 (vendors.md §15,
2026-11): thinking without streaming is refused, also when nothing was asked for. Text-only
content goes as a plain string.
"""

from typing import Any

from msgspec.structs import replace

from silu.providers.facts import SWITCH_ON, Facts
from silu.providers.forms import enable_thinking
from silu.providers.vendor import Door, Vendor
from silu.types.levels import Level


def _here(facts: Facts, model: str) -> Facts:
    """The switch is what is known to reach the model; levels are not documented."""
    if facts.thinking != "supported":
        return facts
    on = (SWITCH_ON,) if facts.forced else (Level.OFF, SWITCH_ON)
    # Open weights of Qwen think by default, whatever the commercial models do.
    default = facts.default if facts.default in {None, Level.OFF} else SWITCH_ON
    return replace(facts, levels=on, switch_only=True, default=default, budgets={}, adaptive=False)


def _rules(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"plain_content": True, "echo_field": "reasoning_content"}


VENDOR = Vendor(
    id="modelscope",
    label="ModelScope",
    rank=10,
    key_vars=("MODELSCOPE_API_KEY",),
    start_models=("Qwen/Qwen3-235B-A22B", "Qwen/Qwen3-8B"),
    models=(
        "Qwen/Qwen3-235B-A22B",
        "Qwen/Qwen3-8B",
        "ZhipuAI/GLM-4.6",
        "deepseek-ai/DeepSeek-V3.1",
    ),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://api-inference.modelscope.cn/v1",
            form=enable_thinking,
            adapt=_here,
            stream_only=True,
            encode=_rules,
        ),
    ),
    sources=("client evidence, vendors.md §15 (2026-11)",),
)
