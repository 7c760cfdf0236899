"""Skills in folders: `NAME/SKILL.md`, with `name`, `description`, `label` and `context` at its
head. Fields of other programs mean nothing here."""

import re
from pathlib import Path

import msgspec

from silu.types import front_matter
from silu.types.errors import UserError
from silu.types.front_matter import Field
from silu.types.skills import Skill, SkillSource

FILE = "SKILL.md"
MOST_BYTES = 100_000
MOST_SKILLS = 200
MOST_DESCRIPTION = 1_024

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class Found(msgspec.Struct, kw_only=True):
    """The skills of a folder by name, and what is wrong with the others."""

    skills: dict[str, Skill]
    problems: list[str]


def read_skills(folder: Path, source: SkillSource) -> Found:
    """Blocking. A skill that leads out of the folder is no skill of it."""
    found = Found(skills={}, problems=[])
    try:
        files = sorted(folder.glob(f"*/{FILE}"))[:MOST_SKILLS]
        home = folder.resolve()
    except OSError:
        # Not there, or not for us to see: there are none.
        return found
    for file in files:
        try:
            skill = _skill(file, home, source)
            found.skills.setdefault(skill.name, skill)
        except UserError as error:
            found.problems.append(f"The skill {file.parent.name} cannot be used: {error}")
        except (OSError, UnicodeDecodeError):
            found.problems.append(f"The skill {file.parent.name} cannot be used: it is no text.")
    return found


def has_skills(folder: Path) -> bool:
    """Whether a folder has any, without reading them."""
    try:
        return next(folder.glob(f"*/{FILE}"), None) is not None
    except OSError:
        return False


def _skill(file: Path, home: Path, source: SkillSource) -> Skill:
    if not file.resolve().is_relative_to(home):
        raise UserError("It is a link to another place.", code="bad_skill")
    with file.open("rb") as opened:
        data = opened.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UserError(f"It is larger than {MOST_BYTES} bytes.", code="bad_skill")
    fields, text = front_matter.read(data.decode("utf-8"))
    name = (_words(fields, "name") or file.parent.name).lower()
    description = _words(fields, "description")
    if not _NAME.fullmatch(name):
        raise UserError("Its name has letters, digits, `-` and `_`.", code="bad_skill")
    if not description or not text.strip():
        raise UserError("It needs a `description` and instructions.", code="bad_skill")
    return Skill(
        name=name,
        description=" ".join(description.split())[:MOST_DESCRIPTION],
        text=text.strip(),
        folder=file.parent.resolve(),
        label=_words(fields, "label") or name,
        forked=_words(fields, "context") == "fork",
        source=source,
    )


def _words(fields: dict[str, Field], name: str) -> str:
    value = fields.get(name, "")
    return value if isinstance(value, str) else " ".join(value)
