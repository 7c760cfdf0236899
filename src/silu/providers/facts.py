"""What is true of a model family, whoever serves it. Filled in by `families/`, read by all.

Sources of the facts are named where they are stated: in the family files.
"""

from typing import Any, Literal

import msgspec

from silu.types.capabilities import Support
from silu.types.levels import ORDER, Level
from silu.types.rules import STANDARD_TAGS, EchoScope, TagRules

Sampling = Literal["free", "not_thinking", "only_off", "never"]
"""When temperature and top_p may be sent: always; dropped while thinking; only with an explicit
off; never."""

ALL_CHOICES: tuple[str, ...] = ("auto", "none", "required", "named")
SWITCH_ON = Level.MEDIUM
"""The level that stands for "on" where a model can only be switched."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """One model generation.

    `levels` have each a distinct effect, quietest first, with `OFF` only where thinking can be
    switched off. `default` is what runs when nothing is sent (`None`: unknown). `same` names
    words the model takes for another level (Qwen: high is xhigh). `efforts` and `budgets` give
    the vendor's word or token count of a level; a level missing in `efforts` is sent by its own
    name. `quiet_budget` is the least budget of a model that cannot be switched off.
    """

    family: str
    generation: str = ""
    thinking: Support = "supported"
    levels: tuple[Level, ...] = ()
    default: Level | None = None
    adaptive: bool = False
    switch_only: bool = False
    summaries_only: bool = False
    same: dict[Level, Level] = {}
    efforts: dict[Level, str] = {}
    budgets: dict[Level, int] = {}
    budget_min: int = 0
    budget_max: int | None = None
    quiet_budget: int | None = None
    sampling: Sampling = "free"
    one_of_sampling: bool = False
    temperature_range: tuple[float, float] | None = None
    recommended: dict[str, dict[str, float]] = {}
    tool_choice: tuple[str, ...] = ALL_CHOICES
    tool_choice_thinking: tuple[str, ...] | None = None
    echo: EchoScope = "all"
    filler: str | None = None
    filler_on: Literal["nowhere", "tool_calls", "assistant"] = "nowhere"
    keep_tags: bool = False
    tags: TagRules | None = TagRules()
    prefix_bound: bool = False
    extra: dict[str, Any] = {}

    @property
    def forced(self) -> bool:
        """True when the model always thinks."""
        return self.thinking == "supported" and bool(self.levels) and Level.OFF not in self.levels

    @property
    def thinking_levels(self) -> tuple[Level, ...]:
        """The levels above off."""
        return tuple(level for level in self.levels if level is not Level.OFF)


UNKNOWN = Facts(
    family="unknown",
    thinking="unknown",
    levels=(Level.LOW, Level.MEDIUM, Level.HIGH),
    tags=TagRules(pairs=STANDARD_TAGS),
)
"""A model nobody has heard of: nothing is sent by default, everything is read."""


def up_to(top: Level, *, off: bool = True, start: Level = Level.LOW) -> tuple[Level, ...]:
    """The levels from `start` to `top`, with off in front unless the model is always on."""
    span = ORDER[ORDER.index(start) : ORDER.index(top) + 1]
    return (Level.OFF, *span) if off else span


def switchable(**more: Any) -> Facts:
    """A family that thinks or does not, with no levels between."""
    return Facts(levels=(Level.OFF, SWITCH_ON), switch_only=True, **more)


def always_on(**more: Any) -> Facts:
    """A family that always thinks, at one level."""
    return Facts(levels=(SWITCH_ON,), switch_only=True, default=SWITCH_ON, **more)
