"""OpenAI's GPT and o-series.

Sources: OpenAI SDK 3.57.0 types and its effort table, client catalogues (2026-10), recorded
answers for the defaults (vendors.md §2.1). `minimal` exists on the first GPT-5 generation only;
5.1 to 5.4 do not think unless told.
"""

import re

from msgspec.structs import replace

from silu.providers.facts import Facts, up_to
from silu.types.levels import Level

_VERSION = re.compile(r"gpt-(\d+)(?:\.(\d+))?(?:-|$)")
_ALWAYS_6 = re.compile(r"gpt-(?:6-astra|6\.1-sol|6\.2-(?:astra|sol)|5\.6-cyber|6-cyber)")

O_SERIES = Facts(
    family="gpt",
    generation="o",
    levels=up_to(Level.HIGH, off=False),
    default=Level.MEDIUM,
    summaries_only=True,
    sampling="never",
    tags=None,
)
FIVE = replace(O_SERIES, generation="5", levels=up_to(Level.HIGH, off=False, start=Level.MINIMAL))
FIVE_PRO = replace(O_SERIES, generation="5-pro", levels=(Level.HIGH,), default=Level.HIGH)
CODEX = replace(O_SERIES, generation="5-codex")
FIVE_1 = replace(
    O_SERIES, generation="5.1", levels=up_to(Level.HIGH), default=Level.OFF, sampling="only_off"
)
FIVE_2 = replace(FIVE_1, generation="5.2", levels=up_to(Level.XHIGH))
FIVE_5 = replace(FIVE_2, generation="5.5", default=Level.MEDIUM)
LATER_PRO = replace(
    O_SERIES, generation="5.2-pro", levels=up_to(Level.XHIGH, off=False, start=Level.MEDIUM)
)
FIVE_6 = replace(FIVE_5, generation="5.6", levels=up_to(Level.MAX))
SIX = replace(FIVE_6, generation="6", sampling="never")
SIX_ALWAYS = replace(SIX, generation="6-astra", levels=up_to(Level.MAX, off=False))
# Reasoning behind an edited prefix is removed without a word from 6.2 on.
SIX_2 = replace(SIX_ALWAYS, generation="6.2", prefix_bound=True)
# `…-chat-latest` of 5.1 to 5.3: medium, and nothing else is taken.
CHAT_FIXED = replace(O_SERIES, generation="5.1-chat", levels=(Level.MEDIUM,))
_SILENT = Facts(family="gpt", generation="4", thinking="unsupported", tags=None)


def facts(model: str) -> Facts | None:
    if re.match(r"o[134](?:-|$)", model):
        return O_SERIES
    if re.match(r"(?:chatgpt|codex-mini)", model):
        return CODEX if model.startswith("codex") else _SILENT
    if not model.startswith("gpt-") or model.startswith("gpt-oss"):
        return None
    found = _VERSION.match(model)
    if found is None:
        return _SILENT
    return _by_version(model, (int(found[1]), int(found[2] or 0)))


def _by_version(model: str, version: tuple[int, int]) -> Facts:
    if version < (5, 0):
        return _SILENT
    if "chat-latest" in model:
        return _SILENT if version == (5, 0) else CHAT_FIXED
    if "-pro" in model:
        return FIVE_PRO if version == (5, 0) else LATER_PRO
    if _ALWAYS_6.match(model):
        return SIX_2 if version >= (6, 2) else SIX_ALWAYS
    if "codex" in model and version <= (5, 1):
        return CODEX
    # Known of 6: 6-sol, 6-luna, 6.1-terra. What is newer gets the newest rules.
    return next((found for limit, found in _PLAIN if version <= limit), SIX_2)


_PLAIN: tuple[tuple[tuple[int, int], Facts], ...] = (
    ((5, 0), FIVE),
    ((5, 1), FIVE_1),
    ((5, 4), FIVE_2),
    ((5, 5), FIVE_5),
    ((5, 99), FIVE_6),
    ((6, 1), SIX),
)
