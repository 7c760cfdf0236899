"""Xiaomi MiMo: a switch and no levels.

Source: mimo.mi.com "Deep Thinking" (read 2026-11). Sampling is forced to 1.0 and 0.95 while
thinking, without a word.
"""

from msgspec.structs import replace

from silu.providers.facts import Facts, switchable
from silu.types.levels import Level

MIMO = switchable(
    family="mimo",
    generation="2.5",
    default=Level.MEDIUM,
    sampling="not_thinking",
    # With tool calls in the history each such message must carry its reasoning, else 400.
    filler=" ",
    filler_on="tool_calls",
    extra={"template_switch": ("enable_thinking",)},
)


def facts(model: str) -> Facts | None:
    if not model.startswith("mimo"):
        return None
    if model.startswith("mimo-v2-flash"):
        return replace(MIMO, generation="2-flash", default=Level.OFF)
    return MIMO
