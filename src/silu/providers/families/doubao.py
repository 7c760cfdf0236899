"""ByteDance Doubao Seed: a switch with `auto`, and efforts while it is on.

Source: Volcengine Ark documentation as in vendors.md §15 (2026-11). The default differs by
model and is not documented for all.
"""

import re

from msgspec.structs import replace

from silu.providers.facts import Facts, up_to
from silu.types.levels import Level
from silu.types.rules import STANDARD_TAGS, TagRules

SEED = Facts(
    family="doubao",
    generation="2",
    levels=up_to(Level.HIGH, start=Level.MINIMAL),
    adaptive=True,
    sampling="not_thinking",
    tags=TagRules(pairs=(*STANDARD_TAGS, ("<seed:think>", "</seed:think>"))),
)


def facts(model: str) -> Facts | None:
    if not re.match(r"doubao|seed-", model):
        return None
    if re.search(r"1[.-]5(?!.*think)|lite-\d+k|pro-\d+k", model):
        return replace(SEED, generation="1.5", thinking="unsupported")
    return SEED
