"""The system text in its fixed order: identity, capabilities by mode, rules and AGENTS.md, the
person's prompt, skills, environment. Read once an epoch."""

import platform
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from string import Template

from silu.agent.briefs import Brief
from silu.agent.notices import escape
from silu.agent.planning import statement
from silu.tools.base import Tool

_FOLDER = Path(__file__).parent / "prompts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the system text tells of the place: `date` is the day as people write it."""

    workspace: Path
    date: str
    language: str
    tag: str


def system_text(tools: Iterable[Tool], place: Surroundings, brief: Brief) -> str:
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
    sections = [
        escape(brief.persona, place.tag).strip() or _section("identity", values),
        _section("capabilities", values),
        _section("rules", values),
        *(_quoted("agents", place, r.text, path=r.path) for r in brief.rules),
        _quoted("prompt", place, brief.prompt),
        _quoted("skills", place, brief.skills),
        _section("environment", values),
    ]
    return "\n\n".join(section for section in sections if section)


def _quoted(name: str, place: Surroundings, text: str, *, path: str = "") -> str:
    """A section around words that are not silu's own: they cannot spell the session's tag."""
    if not text.strip():
        return ""
    return _section(name, {"text": escape(text.strip(), place.tag), "path": path})


def _section(name: str, values: dict[str, str]) -> str:
    text = (_FOLDER / f"{name}.md").read_text(encoding="utf-8").strip()
    return Template(text).substitute(values)
