"""Mistral: efforts on the newer small, medium and large, Magistral always on.

Sources: docs.mistral.ai "Reasoning" and "Native reasoning (deprecated)", mistralai 3.7.0 (read
2026-11). `none` thinks minimally, without a thinking chunk. What small and medium do when
nothing is sent is not documented.
"""

import re

from silu.providers.facts import Facts, always_on, up_to
from silu.types.levels import Level
from silu.types.rules import STANDARD_TAGS, TagRules

# Raw servers without a reasoning parser show the model's own marks (vLLM's parsers, 2026-11).
_TAGS = TagRules(pairs=(*STANDARD_TAGS, ("[THINK]", "[/THINK]")))

HYBRID = Facts(family="mistral", generation="small-4", levels=(Level.OFF, Level.HIGH), tags=None)
LARGE_4 = Facts(
    family="mistral", generation="large-4", levels=up_to(Level.HIGH, off=False), tags=None
)
# `prompt_mode` is how the deprecated line is asked.
MAGISTRAL = always_on(
    family="mistral", generation="magistral", extra={"prompt_mode": "reasoning"}, tags=_TAGS
)
_LOCAL = always_on(family="mistral", generation="ministral-reasoning", tags=_TAGS)
_SILENT = Facts(family="mistral", generation="plain", thinking="unsupported", tags=None)


def facts(model: str) -> Facts | None:
    if not re.match(
        r"mistral|ministral|magistral|codestral|devstral|pixtral|open-mi[sx]tral", model
    ):
        return None
    if model.startswith("magistral"):
        return MAGISTRAL
    if "reasoning" in model:
        return _LOCAL
    dated = re.search(r"-(2\d{3})$", model)
    if model.startswith("mistral-large") and (re.match(r"mistral-large-(?:[4-9]|latest)", model)):
        return LARGE_4
    if re.match(r"mistral-(?:small|medium)", model):
        old = dated is not None and int(dated[1]) < 2603
        return _SILENT if old or re.search(r"3\.[0-4]|-3$", model) else HYBRID
    return _SILENT
