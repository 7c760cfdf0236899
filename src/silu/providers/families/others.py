"""Families of one or two models each: Step, Hunyuan, Nova, Muse, Ring.

Sources: vendors.md §13 and §15 (vendor documentation and SDKs as named there, 2026-11).
"""

import re

from msgspec.structs import replace

from silu.providers.facts import Facts, always_on, switchable, up_to
from silu.types.levels import Level

STEP_37 = Facts(family="step", generation="3.7", levels=up_to(Level.HIGH, off=False))
STEP_35 = replace(STEP_37, generation="3.5", levels=(Level.LOW, Level.HIGH))
HUNYUAN = switchable(family="hunyuan", generation="3", default=Level.OFF)
HUNYUAN_THINKING = always_on(family="hunyuan", generation="2-thinking")
NOVA_2 = Facts(family="nova", generation="2", levels=up_to(Level.HIGH), default=Level.OFF)
# Its sealed items are bound to the caller.
MUSE = Facts(
    family="muse",
    levels=up_to(Level.XHIGH, off=False, start=Level.MINIMAL),
    summaries_only=True,
)
RING = Facts(family="ring", levels=(Level.HIGH, Level.XHIGH))


def facts(model: str) -> Facts | None:
    if model.startswith("step-"):
        return STEP_35 if model.startswith("step-3.5") else STEP_37
    if re.match(r"hunyuan|hy\d", model):
        return HUNYUAN_THINKING if "thinking" in model or "-t1" in model else HUNYUAN
    if re.match(r"nova-2", model):
        return NOVA_2
    if model.startswith("muse"):
        return MUSE
    return RING if model.startswith("ring-") else None
