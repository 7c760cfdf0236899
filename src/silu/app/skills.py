"""Skills: the person's, those of a folder they trust, and the built-in ones."""

import asyncio
from pathlib import Path

import silu.agent
from silu.app.base import Services
from silu.config.skills import Found, has_skills, read_skills
from silu.types.skills import Skill, SkillList, SkillView

PROJECT_SKILLS = Path(".agents") / "skills"

BUILT_IN = Path(silu.agent.__file__).parent / "built_in_skills"


class Skills(Services):
    """Services of the list of skills."""

    async def skills(self, session_id: str | None = None) -> SkillList:
        """What a session's turns can use; without one, what every session's can."""
        workspace = None
        if session_id is not None:
            folder = (await self.store.session(session_id)).workspace
            workspace = Path(folder) if folder else None
        found, untrusted = await asyncio.to_thread(self._found, workspace)
        views = [
            SkillView(
                name=skill.name,
                label=skill.label,
                description=skill.description,
                forked=skill.forked,
                source=skill.source,
            )
            for skill in found.skills.values()
        ]
        return SkillList(skills=views, untrusted=untrusted, problems=found.problems)

    def skills_of(self, workspace: Path) -> list[Skill]:
        """The skills of a turn in a folder. Blocking."""
        return list(self._found(workspace)[0].skills.values())

    def _found(self, workspace: Path | None) -> tuple[Found, bool]:
        """All skills by name; of two of one name the person's counts, then the project's. Whether
        the folder has skills that are not trusted."""
        found = read_skills(self.settings.paths.skills_folder, "person")
        untrusted = False
        if workspace is not None:
            folder = workspace / PROJECT_SKILLS
            if self.trusts(workspace):
                _add(found, read_skills(folder, "project"))
            else:
                untrusted = has_skills(folder)
        _add(found, read_skills(BUILT_IN, "built_in"))
        found.skills = dict(sorted(found.skills.items()))
        return found, untrusted


def _add(found: Found, more: Found) -> None:
    for name, skill in more.skills.items():
        found.skills.setdefault(name, skill)
    found.problems += more.problems
