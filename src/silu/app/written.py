"""Agents and commands that the person wrote, and which folders' own commands are read."""

import asyncio
import re
import shlex
from pathlib import Path

from msgspec import structs

from silu.app.base import Services
from silu.config.written import read_agents, read_commands
from silu.types.agents import BUILT_IN, AgentList, Command, CommandList

PROJECT_COMMANDS = Path(".agents") / "commands"

_SLASH = re.compile(r"/([A-Za-z0-9][\w-]*)(?:\s+(.*))?", re.S)
_PLACE = re.compile(r"\$(ARGUMENTS|[1-9])")


class WrittenOnes(Services):
    """Services of the agent picker and of what is sent with a slash."""

    async def agents(self) -> AgentList:
        """The built-in agent, then those of the config folder by name."""
        written = await asyncio.to_thread(read_agents, self.settings.paths.agents_folder)
        return AgentList(agents=[BUILT_IN, *written.found.values()], problems=written.problems)

    async def commands(self, session_id: str | None = None) -> CommandList:
        """The person's commands, and those of the session's folder when they trust it; of two of
        one name the person's own counts."""
        workspace = None
        if session_id is not None:
            workspace = (await self.store.session(session_id)).workspace
        return await asyncio.to_thread(self._commands, Path(workspace) if workspace else None)

    async def expanded(self, session_id: str, text: str) -> Command | None:
        """The command that a message calls, its text with the arguments filled in; `None` for a
        message that calls none and is sent as it is."""
        called = _SLASH.fullmatch(text.strip())
        if called is None:
            return None
        known = {command.name: command for command in (await self.commands(session_id)).commands}
        command = known.get(called[1].lower())
        if command is None:
            return None
        return structs.replace(command, text=filled(command.text, called[2] or ""))

    def _commands(self, workspace: Path | None) -> CommandList:
        own = read_commands(self.settings.paths.commands_folder)
        commands = dict(own.found)
        problems = list(own.problems)
        untrusted = False
        if workspace is not None and (folder := workspace / PROJECT_COMMANDS).is_dir():
            untrusted = not self.trusts(workspace)
            if not untrusted:
                project = read_commands(folder)
                problems += project.problems
                for name, command in project.found.items():
                    commands.setdefault(name, structs.replace(command, source="project"))
        return CommandList(
            commands=[commands[name] for name in sorted(commands)],
            untrusted=untrusted,
            problems=problems,
        )


def filled(text: str, arguments: str) -> str:
    """`$ARGUMENTS` is all that follows the name, `$1` … `$9` its words (quotes keep words
    together); where the text has no place for them they come after it."""
    words = _words(arguments)

    def value(place: re.Match[str]) -> str:
        if place[1] == "ARGUMENTS":
            return arguments.strip()
        at = int(place[1]) - 1
        return words[at] if at < len(words) else ""

    if _PLACE.search(text) is None:
        return f"{text}\n\n{arguments.strip()}".strip()
    return _PLACE.sub(value, text)


def _words(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:
        # A quote that is not closed is a character like others.
        return arguments.split()
