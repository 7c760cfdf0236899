"""Google Gemini and Gemma.

Sources: Google GenAI SDK 3.6.1 types, ai.google.dev "latest model" and "What's new in Gemini
3.7" (read 2026-11), LangChain profiles for the defaults (vendors.md §3.1). `thinkingLevel` on a
model before 3 answers 400, `thinkingBudget` is refused on 4: one field, never both.
"""

import re

from msgspec.structs import replace

from silu.providers.facts import Facts, up_to
from silu.types.levels import Level

_VERSION = re.compile(r"gemini-(\d)(?:[.](\d))?-?([a-z]*)(-lite)?")

FLASH_25 = Facts(
    family="gemini",
    generation="2.5-flash",
    levels=(Level.OFF, Level.MINIMAL, Level.LOW, Level.MEDIUM, Level.HIGH),
    # −1: the model decides, which is what runs when nothing is sent.
    default=Level.ADAPTIVE,
    adaptive=True,
    budgets={
        Level.ADAPTIVE: -1,
        Level.MINIMAL: 1024,
        Level.LOW: 2048,
        Level.MEDIUM: 8192,
        Level.HIGH: 24576,
    },
    budget_min=512,
    budget_max=24576,
    summaries_only=True,
)
FLASH_LITE_25 = replace(FLASH_25, generation="2.5-flash-lite", default=Level.OFF)
PRO_25 = replace(
    FLASH_25,
    generation="2.5-pro",
    levels=(Level.MINIMAL, Level.LOW, Level.MEDIUM, Level.HIGH, Level.MAX),
    same={Level.XHIGH: Level.MAX},
    budgets={**FLASH_25.budgets, Level.MINIMAL: 512, Level.MAX: 32768},
    budget_min=128,
    budget_max=32768,
    # 0 is refused: "This model only works in thinking mode."
    quiet_budget=128,
)
PRO_3 = Facts(
    family="gemini",
    generation="3-pro",
    levels=(Level.LOW, Level.HIGH),
    default=Level.HIGH,
    summaries_only=True,
    extra={"signed_calls": True},
)
PRO_31 = replace(PRO_3, generation="3.1-pro", levels=up_to(Level.HIGH, off=False))
FLASH_3 = replace(
    PRO_3, generation="3-flash", levels=up_to(Level.HIGH, off=False, start=Level.MINIMAL)
)
FLASH_35 = replace(FLASH_3, generation="3.5-flash", default=Level.MEDIUM)
FLASH_LITE_3 = replace(FLASH_3, generation="3-flash-lite", default=Level.MINIMAL)
FLASH_37 = replace(PRO_31, generation="3.7-flash", default=Level.MEDIUM)
ARGON = replace(FLASH_37, generation="4-argon")
# The scale was re-based on 2026-11-11: xhigh is the top.
HYDROGEN = replace(PRO_31, generation="4-hydrogen", levels=up_to(Level.XHIGH, off=False))
GEMMA_4 = replace(
    PRO_3,
    family="gemma",
    generation="4",
    levels=(Level.MINIMAL, Level.HIGH),
    default=None,
    extra={"template_switch": ("enable_thinking",)},
)
_SILENT = Facts(family="gemini", generation="2.0", thinking="unsupported")


def facts(model: str) -> Facts | None:
    if model.startswith("gemma"):
        newer = re.match(r"gemma-?([4-9])", model)
        return GEMMA_4 if newer else replace(_SILENT, family="gemma", generation="3")
    if not model.startswith("gemini"):
        return None
    found = _VERSION.match(model)
    if found is None:
        return _latest(model)
    return _by_version((int(found[1]), int(found[2] or 0)), found[3], lite=bool(found[4]))


def _latest(model: str) -> Facts:
    """`gemini-flash-latest` and the like."""
    if "lite" in model:
        return FLASH_LITE_3
    if "flash" in model:
        return FLASH_37
    return PRO_31 if "pro" in model else HYDROGEN


def _by_version(version: tuple[int, int], line: str, *, lite: bool) -> Facts:
    if version < (2, 5):
        return _SILENT
    if version == (2, 5):
        if line == "pro":
            return PRO_25
        return FLASH_LITE_25 if lite else FLASH_25
    if version < (4, 0):
        return _three(version[1], line, lite=lite)
    return ARGON if line in {"argon", "carbon"} else HYDROGEN


def _three(minor: int, line: str, *, lite: bool) -> Facts:
    if line == "pro":
        return PRO_3 if minor == 0 else PRO_31
    if lite:
        return FLASH_LITE_3
    if minor >= 7:
        return FLASH_37
    return FLASH_3 if minor < 5 else FLASH_35
