"""xAI Grok.

Sources: docs.x.ai "Reasoning" (read 2026-11), AI SDK 5.0.12, recorded answers (vendors.md §10).
Retired names (grok-3, grok-4-0709, grok-4-fast…, grok-4-1-fast…) run 4.3 now.
"""

import re

from msgspec.structs import replace

from silu.providers.facts import Facts, always_on, up_to
from silu.types.levels import Level

GROK_43 = Facts(
    family="grok", generation="4.3", levels=up_to(Level.HIGH), default=Level.LOW, tags=None
)
GROK_45 = replace(
    GROK_43, generation="4.5", levels=up_to(Level.HIGH, off=False), default=Level.HIGH
)
GROK_46 = replace(GROK_45, generation="4.6", levels=up_to(Level.XHIGH, off=False))
MINI_3 = replace(GROK_43, generation="3-mini", levels=(Level.OFF, Level.LOW, Level.HIGH))
# Thinks, and takes no effort.
NO_EFFORT = always_on(family="grok", generation="4", tags=None)
_SILENT = Facts(family="grok", generation="2", thinking="unsupported", tags=None)


def facts(model: str) -> Facts | None:
    if not model.startswith("grok"):
        return None
    if "non-reasoning" in model or re.match(r"grok-(?:1|2|beta|vision)\b", model):
        return _SILENT
    if model.startswith("grok-3-mini"):
        return MINI_3
    if "multi-agent" in model or re.match(r"grok-(?:code|4\.20)", model):
        return NO_EFFORT
    found = re.match(r"grok-(\d)(?:\.(\d+))?(?:-|$)", model)
    if found is None:
        return GROK_46
    version = (int(found[1]), int(found[2] or 0))
    if version <= (4, 3):
        return GROK_43
    return GROK_46 if version >= (4, 6) else GROK_45
