"""The system text: identity, capabilities by mode, rules, then the rest; read once an epoch."""

import platform
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from string import Template

from silu.agent.planning import statement
from silu.tools.base import Tool

_FOLDER = Path(__file__).parent / "prompts"
_ORDER = ("identity", "capabilities", "rules", "environment")


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the system text tells of the place: `date` is the day as people write it."""

    workspace: Path
    date: str
    language: str
    tag: str


def system_text(tools: Iterable[Tool], place: Surroundings) -> str:
    """The whole text, sections in their fixed order, parted by blank lines."""
    known = list(tools)
    values = {
        "plan": statement("plan", known),
        "build": statement("build", known),
        "tag": place.tag,
        "workspace": str(place.workspace),
        "date": place.date,
        "platform": platform.system(),
        "language": place.language,
    }
    return "\n\n".join(_section(name, values) for name in _ORDER)


def _section(name: str, values: dict[str, str]) -> str:
    text = (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
    return Template(text).substitute(values)
