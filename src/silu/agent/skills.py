"""`skill`: skills are loaded on demand and run in the turn or in a sub-agent, seen from start to
end."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from silu.agent.ports import ChildWish, RunsChildren, WaitsError
from silu.agent.subagents import answer_of
from silu.tools.base import Args, Tool, ToolContext, ToolOutput, object_schema
from silu.types import facts
from silu.types.assembly import wall_ms
from silu.types.calls import ToolSpec
from silu.types.errors import ToolError
from silu.types.levels import LevelChoice
from silu.types.skills import ResultType, Skill, SkillRecord

NAME = "skill"

_MOST_FILE = 100_000
_RESULT_TYPES = ["markdown", "json", "table", "diff", "file", "image"]


def listed(skills: Iterable[Skill]) -> str:
    """The skills as the system text lists them."""
    return "\n".join(f"- {skill.name}: {skill.description}" for skill in skills)


class Skills:
    """The skills of a run: which there are, and how those that were used are doing.

    `records` are those of earlier attempts at the run. `tell` makes facts.
    """

    def __init__(
        self,
        skills: Sequence[Skill],
        records: Sequence[SkillRecord],
        tell: Callable[[facts.FactData], None],
    ) -> None:
        self._skills = {skill.name: skill for skill in skills}
        self.records = list(records)
        self._tell = tell

    def tool(self, children: RunsChildren | None, level: Callable[[], LevelChoice]) -> Tool:
        """The tool; `children` run the forked skills (`None`: they cannot run here)."""

        async def run(args: Args, context: ToolContext) -> ToolOutput:
            match args.get("action", "start"):
                case "progress":
                    return self._progress(args)
                case "finish":
                    return self._finish(args)
                case "read":
                    return ToolOutput(text=_file_of(self._known(args), str(args.get("file", ""))))
                case _:
                    skill = self._known(args)
                    if not skill.forked:
                        return self._start(skill, args, context)
                    return await self._fork(skill, args, context, children, level)

        return Tool(spec=_SPEC, effects=frozenset(), run=run, idempotent=True)

    # -------------------------------------------------------------------------- inside

    def _known(self, args: Args) -> Skill:
        name = str(args.get("name", "")).lower()
        skill = self._skills.get(name)
        if skill is None:
            known = ", ".join(self._skills) or "none"
            raise ToolError(f"there is no skill {name[:80]!r}; the skills are: {known}")
        return skill

    def _running(self) -> list[SkillRecord]:
        return [record for record in self.records if record.status == "running"]

    def _begin(self, skill: Skill, skill_id: str) -> SkillRecord:
        known = next((r for r in self.records if r.skill_id == skill_id), None)
        if known is not None:
            return known
        record = SkillRecord(
            skill_id=skill_id, name=skill.name, label=skill.label, started_at=wall_ms()
        )
        self.records.append(record)
        self._tell(facts.SkillStart(skill_id=skill_id, name=skill.name, label=skill.label))
        return record

    def _start(self, skill: Skill, args: Args, context: ToolContext) -> ToolOutput:
        self._begin(skill, context.wait_id)
        files = ", ".join(_files_of(skill)) or "none"
        asked = str(args.get("arguments", "")).strip()
        text = (
            f"Skill {skill.name} has begun.{f' It is to work on: {asked}' if asked else ''}\n"
            f"Further files of it: {files}.\n\n{skill.text}"
        )
        return ToolOutput(text=text, whole=True)

    async def _fork(
        self,
        skill: Skill,
        args: Args,
        context: ToolContext,
        children: RunsChildren | None,
        level: Callable[[], LevelChoice],
    ) -> ToolOutput:
        if children is None:
            raise ToolError(f"{skill.name} works in a sub-agent, and there are none here")
        record = self._begin(skill, context.wait_id)
        asked = str(args.get("arguments", "")).strip()
        wish = ChildWish(
            wait_id=context.wait_id,
            title=skill.label,
            prompt=f"{skill.text}\n\n# What to work on\n\n{asked or 'Nothing more was said.'}",
            mode=context.mode,
            level=level(),
            skill_id=record.skill_id,
        )
        end = await children.child(wish)
        if end is None:
            raise WaitsError(context.wait_id)
        well = end.status == "completed"
        text = answer_of(end)
        self._tell(_end(record, "done" if well else "error", text, "markdown" if well else "error"))
        return ToolOutput(text=text, ok=well)

    def _progress(self, args: Args) -> ToolOutput:
        record = self._newest(args)
        percent = args.get("percent")
        self._tell(
            facts.SkillProgress(
                skill_id=record.skill_id,
                step=_text(args, "step"),
                detail=_text(args, "detail"),
                percent=None if percent is None else min(100.0, max(0.0, float(percent))),
            )
        )
        return ToolOutput(text="Noted.", whole=True)

    def _finish(self, args: Args) -> ToolOutput:
        record = self._newest(args)
        failed = bool(args.get("failed"))
        kind = "error" if failed else str(args.get("result_type", "markdown"))
        self._tell(
            _end(
                record,
                "error" if failed else "done",
                str(args.get("result", "")),
                cast("ResultType", kind),
            )
        )
        return ToolOutput(text=f"Skill {record.name} is finished.", whole=True)

    def _newest(self, args: Args) -> SkillRecord:
        """The running skill that is meant: the named one, else the newest."""
        running = self._running()
        if name := str(args.get("name", "")).lower():
            running = [record for record in running if record.name == name]
        if not running:
            raise ToolError("no skill is at work; start one first")
        return running[-1]


def close(records: Iterable[SkillRecord], *, well: bool) -> list[facts.FactData]:
    """The run is over: a skill that nobody finished ends with it."""
    running = [record for record in records if record.status == "running"]
    if well:
        return [_end(record, "done", "", "markdown") for record in running]
    text = "The run ended before the skill was finished."
    return [_end(record, "error", text, "error") for record in running]


def _end(record: SkillRecord, status: Any, text: str, kind: ResultType) -> facts.SkillEnd:
    record.status, record.result, record.result_type = status, text, kind
    record.ended_at = wall_ms()
    return facts.SkillEnd(skill_id=record.skill_id, status=status, result=text, result_type=kind)


def _text(args: Args, name: str) -> str | None:
    value = args.get(name)
    return None if value is None else str(value)


def _files_of(skill: Skill) -> list[str]:
    """The skill's further files, by their paths inside its folder."""
    files = sorted(skill.folder.rglob("*"))[:200]
    return [
        file.relative_to(skill.folder).as_posix()
        for file in files
        if file.is_file() and file.name != "SKILL.md" and _inside(file, skill.folder)
    ]


def _file_of(skill: Skill, name: str) -> str:
    file = skill.folder / name
    if not name or not _inside(file, skill.folder) or not file.is_file():
        there = ", ".join(_files_of(skill)) or "none"
        raise ToolError(f"{skill.name} has no file {name[:200]!r}; its files are: {there}")
    try:
        with file.open("rb") as opened:
            return opened.read(_MOST_FILE).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ToolError(f"{name[:200]} of {skill.name} is no text that can be read") from error


def _inside(file: Path, folder: Path) -> bool:
    return file.resolve().is_relative_to(folder)


_SPEC = ToolSpec(
    name=NAME,
    description=Path(__file__).with_name("skill.md").read_text(encoding="utf-8").strip(),
    parameters=object_schema(
        {
            "action": {"type": "string", "enum": ["start", "read", "progress", "finish"]},
            "name": {"type": "string", "maxLength": 64},
            "arguments": {"type": "string", "maxLength": 20_000},
            "file": {"type": "string", "maxLength": 500},
            "step": {"type": "string", "maxLength": 200},
            "detail": {"type": "string", "maxLength": 1_000},
            "percent": {"type": "number", "minimum": 0, "maximum": 100},
            "result": {"type": "string", "maxLength": 200_000},
            "result_type": {"type": "string", "enum": _RESULT_TYPES},
            "failed": {"type": "boolean"},
        },
        required=("action",),
    ),
)
