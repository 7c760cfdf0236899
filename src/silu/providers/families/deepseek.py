"""DeepSeek: V4.x flash and pro, the V3 hybrids on other hosts, R1.

Sources: api-docs.deepseek.com "Thinking Mode" and "Rate Limit" (read 2026-11); echo and filler
behaviour from clients (vendors.md §4.3). `deepseek-chat` and `deepseek-reasoner` were retired on
2026-07-24; whoever still serves them serves V4 flash.
"""

import re

from msgspec.structs import replace

from silu.providers.facts import Facts, always_on, switchable
from silu.types.levels import Level

# The server maps minimal to low and medium, xhigh to high; these three differ.
V4_FLASH = Facts(
    family="deepseek",
    generation="v4-flash",
    levels=(Level.OFF, Level.LOW, Level.HIGH, Level.MAX),
    default=Level.HIGH,
    # Accepted while thinking, but without any effect.
    sampling="not_thinking",
    # 400 "Thinking mode does not support this tool_choice".
    tool_choice_thinking=("auto", "none"),
    # Every assistant message goes back with its reasoning once tools are in play; clients send
    # it always. A single space passes where a message never had any; made-up text does not.
    echo="all",
    filler=" ",
    filler_on="assistant",
    extra={"template_switch": ("enable_thinking", "thinking")},
)
# V4-pro's list is high and max only (catalogue of 2026-10; the server may take low).
V4_PRO = replace(V4_FLASH, generation="v4-pro", levels=(Level.OFF, Level.HIGH, Level.MAX))

V3_HYBRID = replace(
    switchable(family="deepseek", generation="v3.1", default=Level.OFF),
    echo="loop",
    extra={"template_switch": ("enable_thinking", "thinking")},
)
# R1 refuses its own reasoning in the history.
R1 = replace(always_on(family="deepseek", generation="r1"), echo="never")
_SILENT = Facts(family="deepseek", generation="v3", thinking="unsupported")


def facts(model: str) -> Facts | None:
    if "deepseek" not in model and "mai-ds-r1" not in model:
        return None
    if "r1" in model.replace("deepseek-", "").split("-"):
        return R1
    if re.search(r"coder|deepseek-v[12]\b|deepseek-v3(?:-\d+)?$|deepseek-(?:llm|vl)", model):
        return _SILENT
    if re.search(r"v3[.-][1-9]\b|v3\.[1-9]", model):
        return V3_HYBRID
    if "pro" in model.split("-"):
        return V4_PRO
    # deepseek-chat was the name for "do not think" on the same weights.
    return replace(V4_FLASH, default=Level.OFF) if model == "deepseek-chat" else V4_FLASH
