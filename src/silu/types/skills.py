"""Skills: tested ways of doing a kind of work, kept as folders with a `SKILL.md`."""

from pathlib import Path
from typing import Literal

import msgspec

ResultType = Literal["markdown", "json", "table", "diff", "file", "image", "error"]
SkillSource = Literal["project", "person", "built_in"]


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """A skill: `text` are its instructions, `folder` is where its further files lie. `forked`: it
    runs in a sub-agent and its final answer is the result."""

    name: str
    description: str
    text: str
    folder: Path
    label: str = ""
    forked: bool = False
    source: SkillSource = "person"


class SkillRecord(msgspec.Struct, kw_only=True):
    """One use of a skill in a run, as `metadata.skillExecutions` keeps it; times are milliseconds
    since 1970 UTC."""

    skill_id: str
    name: str
    label: str
    status: Literal["running", "done", "error"] = "running"
    result: str = ""
    result_type: ResultType = "markdown"
    started_at: int | None = None
    ended_at: int | None = None


class SkillView(msgspec.Struct, frozen=True, kw_only=True):
    """A skill as the settings show it."""

    name: str
    label: str
    description: str
    forked: bool
    source: SkillSource


class SkillList(msgspec.Struct, kw_only=True):
    """The skills of a session, or of any. `untrusted`: its folder has skills that stay unread
    until the person trusts that folder; `problems` are those that cannot be used, in sentences."""

    skills: list[SkillView]
    untrusted: bool
    problems: list[str]
