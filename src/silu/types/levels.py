"""Thinking levels: the words a person uses, before any vendor is involved."""

from enum import StrEnum
from typing import Literal


class Level(StrEnum):
    """How much a model should think. `ADAPTIVE` leaves the amount to the model."""

    OFF = "off"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"
    ADAPTIVE = "adaptive"


LevelChoice = Level | Literal["default", "unset"]
"""What can be asked for: a level, the model's own default, or "send nothing"."""

ORDER: tuple[Level, ...] = (
    Level.OFF,
    Level.MINIMAL,
    Level.LOW,
    Level.MEDIUM,
    Level.HIGH,
    Level.XHIGH,
    Level.MAX,
)
"""The levels that can be compared, quietest first; `ADAPTIVE` stands outside."""

_ALIASES: dict[str, LevelChoice] = {
    "none": Level.OFF,
    "on": "default",
    "auto": Level.ADAPTIVE,
    "ultra": Level.MAX,
    "default": "default",
    "unset": "unset",
}


def parse_level(word: str) -> LevelChoice:
    """Read a level or one of its aliases, in any case; raise `ValueError` naming the choices."""
    key = word.strip().lower()
    if key in _ALIASES:
        return _ALIASES[key]
    try:
        return Level(key)
    except ValueError:
        choices = ", ".join([*(level.value for level in Level), *_ALIASES])
        raise ValueError(f"unknown thinking level {word!r}; use one of: {choices}") from None
