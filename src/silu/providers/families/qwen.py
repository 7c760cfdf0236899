"""Alibaba Qwen, as Model Studio serves it and as open weights.

Sources: help.aliyun.com Model Studio "Deep thinking" (read 2026-11), models.dev
`providers/alibaba` (2026-08-04), Qwen model cards for sampling advice (vendors.md §6).
"""

import re

from msgspec.structs import replace

from silu.providers.facts import Facts
from silu.types.levels import Level

_RECOMMENDED = {
    "thinking": {"temperature": 0.6, "top_p": 0.95},
    "off": {"temperature": 0.7, "top_p": 0.8},
}

# ≤ 3.7: a switch and a budget; the top level is "no budget", which is what runs by default.
HYBRID = Facts(
    family="qwen",
    generation="3",
    levels=(Level.OFF, Level.MINIMAL, Level.LOW, Level.MEDIUM, Level.HIGH, Level.MAX),
    same={Level.XHIGH: Level.MAX},
    default=Level.MAX,
    budgets={Level.MINIMAL: 1024, Level.LOW: 4096, Level.MEDIUM: 8192, Level.HIGH: 32768},
    budget_min=1,
    # 400 "tool_choice … required or object in thinking mode".
    tool_choice_thinking=("auto", "none"),
    echo="loop",
    recommended=_RECOMMENDED,
    extra={"template_switch": ("enable_thinking",)},
)
# Older commercial models do not think unless told.
COMMERCIAL = replace(HYBRID, generation="3-commercial", default=Level.OFF)
# 3.8 and 4: efforts instead of budgets (never both); high is another word for xhigh.
EFFORT = replace(
    HYBRID,
    generation="3.8",
    levels=(Level.OFF, Level.LOW, Level.MEDIUM, Level.XHIGH),
    same={Level.HIGH: Level.XHIGH},
    default=Level.XHIGH,
    budgets={},
)
_ALWAYS = replace(
    HYBRID, generation="3-thinking", levels=tuple(x for x in HYBRID.levels if x is not Level.OFF)
)
# "The value of the enable_thinking parameter is restricted to True."
_ALWAYS_EFFORT = replace(
    EFFORT, generation="3.8-preview", levels=tuple(x for x in EFFORT.levels if x is not Level.OFF)
)
_SILENT = Facts(family="qwen", generation="instruct", thinking="unsupported")

# `preserve_thinking` keeps old reasoning in the context (vendors.md §6.1).
_PRESERVES = re.compile(r"qwen3\.6-(?:plus|max)|qwen3\.[78]|qwen-?[4-9]")


def facts(model: str) -> Facts | None:
    if not re.match(r"(?:qwen|qwq|qvq)", model):
        return None
    found = _generation(model)
    if _PRESERVES.match(model):
        return replace(found, echo="all", extra={**found.extra, "preserve": True})
    return found


def _generation(model: str) -> Facts:
    if re.search(r"^q[wv]q|-thinking", model):
        return _ALWAYS
    if re.search(r"instruct|coder|qwen-?[12](?:\.|\b)|qwen-(?:max|long|vl|mt)|omni|-vl-", model):
        return _SILENT
    if model.startswith("qwen3.8-max-preview"):
        return _ALWAYS_EFFORT
    if re.match(r"qwen3\.[89]|qwen-?[4-9]", model):
        return EFFORT
    if re.match(r"qwen-(?:plus|flash|turbo)|qwen3-max", model):
        return COMMERCIAL
    if re.match(r"qwen-?3", model):
        return HYBRID
    return EFFORT
