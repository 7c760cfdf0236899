"""Anthropic Claude, every generation that thinks.

Sources: Anthropic SDK 2.14.0 types and platform.claude.com "Troubleshooting thinking",
"Preserved thinking" (read 2026-11); effort lists and limits also seen in client catalogues
(2026-10/11). Budgets of the older generation are silu's own (seed contract).
"""

import re

from msgspec.structs import replace

from silu.providers.facts import Facts, up_to
from silu.types.levels import Level

_NEW = re.compile(r"claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_OLD = re.compile(r"claude-(\d)(?:[-.](\d))?-(?:opus|sonnet|haiku)")
_AUTO_ONLY = ("auto", "none")
_EFFORTS_ALL = up_to(Level.MAX)

# ≤ 4.5: `enabled` with a budget, off when nothing is sent. While thinking only temperature 1,
# and no tool choice that forces a tool.
BUDGET = Facts(
    family="claude",
    generation="4.5",
    levels=(Level.OFF, Level.MINIMAL, Level.LOW, Level.MEDIUM, Level.HIGH, Level.MAX),
    same={Level.XHIGH: Level.MAX},
    default=Level.OFF,
    budgets={
        Level.MINIMAL: 2000,
        Level.LOW: 4000,
        Level.MEDIUM: 8000,
        Level.HIGH: 16000,
        Level.MAX: 32000,
    },
    budget_min=1024,
    sampling="not_thinking",
    one_of_sampling=True,
    tool_choice_thinking=_AUTO_ONLY,
    summaries_only=True,
    tags=None,
    extra={"interleaved": True},
)

# 4.6: adaptive with an effort; the list has no xhigh.
ADAPTIVE_46 = Facts(
    family="claude",
    generation="4.6",
    levels=(Level.OFF, Level.LOW, Level.MEDIUM, Level.HIGH, Level.MAX),
    default=Level.OFF,
    adaptive=True,
    sampling="not_thinking",
    one_of_sampling=True,
    summaries_only=True,
    tags=None,
)

# 4.7, 4.8: budgets and sampling parameters answer 400; thinking text is withheld unless asked for.
ADAPTIVE_47 = replace(
    ADAPTIVE_46, generation="4.7", levels=_EFFORTS_ALL, sampling="never", extra={"display": True}
)

# opus-5, sonnet-5: thinks when nothing is sent. opus-5 refuses xhigh and max while disabled, so
# no effort is sent with `disabled`.
FIVE = replace(ADAPTIVE_47, generation="5", default=Level.HIGH)

# From 5.5 on (and fable/mythos 5.1) thinking is bound to the whole prefix.
HAIKU_55 = replace(FIVE, generation="haiku-5.5", prefix_bound=True)
SONNET_55 = replace(
    HAIKU_55,
    generation="sonnet-5.5",
    tool_choice=_AUTO_ONLY,
    extra={
        "display": True,
        # No upfront thinking; only with an effort up to high, and without display.
        "off": {"thinking": {"type": "between_tools"}, "output_config": {"effort": "low"}},
        "off_note": "This model cannot be switched off; it thinks only between tool calls.",
    },
)
OPUS_55 = replace(
    HAIKU_55,
    generation="opus-5.5",
    levels=up_to(Level.MAX, off=False),
    default=Level.MEDIUM,
    tool_choice=_AUTO_ONLY,
)
FABLE_5 = replace(FIVE, generation="fable-5", levels=up_to(Level.MAX, off=False))
FABLE_51 = replace(FABLE_5, generation="fable-5.1", prefix_bound=True, tool_choice=_AUTO_ONLY)

_SILENT = Facts(family="claude", generation="3.5", thinking="unsupported", tags=None)


def facts(model: str) -> Facts | None:
    if not model.startswith("claude"):
        return None
    if old := _OLD.match(model):
        version = (int(old[1]), int(old[2] or 0))
        # 3.7 is the first that thinks; it shows its thinking in full.
        full = replace(BUDGET, generation="3.7", summaries_only=False)
        return full if version >= (3, 7) else _SILENT
    if re.match(r"claude-(?:instant|v?[12]\b)", model):
        return _SILENT
    new = _NEW.match(model)
    # A name of another shape is newer than this file.
    return FABLE_51 if new is None else _by_line(new[1], (int(new[2]), int(new[3] or 0)))


def _by_line(line: str, version: tuple[int, int]) -> Facts:
    """A version this file does not know gets the newest rules of its line."""
    if line not in {"opus", "sonnet", "haiku"}:
        return FABLE_5 if line in {"fable", "mythos"} and version < (5, 1) else FABLE_51
    if version <= (4, 5):
        return BUDGET
    if version == (4, 6):
        return ADAPTIVE_46
    if version < (5, 0):
        return replace(ADAPTIVE_47, generation=f"4.{version[1]}")
    if version < (5, 5):
        return FIVE
    return {"opus": OPUS_55, "sonnet": SONNET_55, "haiku": HAIKU_55}[line]
