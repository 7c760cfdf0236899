"""MiniMax: M2 always thinks, M3 has a switch, M3.1 has efforts.

Sources: platform.minimax.io "OpenAI API" and "Tool use & interleaved thinking" (read 2026-11),
client catalogues (vendors.md §9). The complete message goes back, thinking included: nothing is
refused without it, but tool loops fall apart.
"""

import re

from msgspec.structs import replace

from silu.providers.facts import Facts, always_on, switchable, up_to
from silu.types.levels import Level
from silu.types.rules import STANDARD_TAGS, TagRules

# Without a parser the raw model shows <mm:think>; late and repeated blocks are its habit.
_TAGS = TagRules(pairs=(*STANDARD_TAGS, ("<mm:think>", "</mm:think>")), late_blocks=True)

M2 = always_on(
    family="minimax",
    generation="m2",
    # Temperature 0 is refused; the range is above 0 to 1.
    temperature_range=(0.01, 1.0),
    keep_tags=True,
    tags=_TAGS,
)
# `adaptive` or `disabled`; `enabled` answers 400 on other hosts.
M3 = replace(
    switchable(family="minimax", generation="m3", default=Level.MEDIUM, adaptive=True),
    temperature_range=(0.01, 1.0),
    keep_tags=True,
    tags=_TAGS,
)
M3_1 = replace(
    M3,
    generation="m3.1",
    levels=up_to(Level.MAX, off=False),
    default=Level.ADAPTIVE,
    switch_only=False,
)


def facts(model: str) -> Facts | None:
    if not re.match(r"minimax|abab", model):
        return None
    found = re.match(r"minimax-m(\d)(?:\.(\d))?", model)
    if found is None:
        silent = Facts(family="minimax", generation="text", thinking="unsupported")
        return silent if re.match(r"abab|minimax-text", model) else M3_1
    version = (int(found[1]), int(found[2] or 0))
    if version < (3, 0):
        return M2
    return M3 if version == (3, 0) else M3_1
