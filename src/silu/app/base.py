"""What the groups of services share: the parts they work with, and what a level comes to."""

import asyncio
from pathlib import Path

import msgspec

from silu.app.folders import resolved
from silu.config import Settings
from silu.config.settings import load_preferences, save_preferences
from silu.config.written import read_agents
from silu.engine import Hub, LocalEngine
from silu.providers.client import Client
from silu.store import Store
from silu.store.api import Session
from silu.types.agents import Agent
from silu.types.capabilities import LevelSource, ModelInfo
from silu.types.errors import UserError
from silu.types.facts import LevelState
from silu.types.levels import LevelChoice, parse_level


class Services:
    """The parts every group of services works with; `wiring.App` puts them together."""

    settings: Settings
    store: Store
    client: Client
    hub: Hub
    engine: LocalEngine
    _looked_around: asyncio.Task[list[ModelInfo]]

    async def _default_model(self) -> str:
        """Where nothing is chosen. Waits for the first look around: a local server counts."""
        await self._looked_around
        return self.client.default_model()

    async def _model_of(self, session: Session) -> str:
        return session.model or await self._default_model()

    def agent(self, name: str) -> Agent:
        """An agent of the config folder; blocking. `UserError` code `unknown_agent` when its file
        is gone or cannot be used: it may have been kept from tools that others have."""
        written = read_agents(self.settings.paths.agents_folder)
        found = written.found.get(name)
        if found is None:
            why = next((p for p in written.problems if p.startswith(f"{name}.md ")), "")
            raise UserError(
                f"There is no agent {name}. {why}".rstrip(),
                code="unknown_agent",
                setting="agent",
                fix="Choose another agent, or put its file right.",
            )
        return found

    async def agent_of(self, session: Session) -> Agent | None:
        """Who answers in a session; `None` is silu itself."""
        if session.agent is None:
            return None
        return await asyncio.to_thread(self.agent, session.agent)

    def trusts(self, folder: Path) -> bool:
        """Whether the person trusts what a folder brings: its commands and skills."""
        real = resolved(str(folder))
        trusted = self.settings.preferences.trusted_folders
        return any(real.is_relative_to(resolved(one)) for one in trusted)

    async def _prefer(self, **changes: object) -> None:
        """Keep what was chosen and put it in force at once; variables of the process win."""
        paths = self.settings.paths
        kept = msgspec.structs.replace(await asyncio.to_thread(load_preferences, paths), **changes)
        await asyncio.to_thread(save_preferences, paths, kept)
        self.settings = self.client.settings = self.settings.with_preferences(kept)

    def _level_state(
        self, ref: str, level: LevelChoice | None, agent: Agent | None = None
    ) -> LevelState:
        """What a level comes to for a model; an unknown model resolves to nothing sent."""
        asked, source = level_in_force(level, agent)
        try:
            found = self.client.resolve(ref, asked, source=source)
        except UserError as exc:
            # The session's model is gone (an endpoint was removed): say so beside the level.
            return LevelState(
                requested=str(asked), effective="unset", source=source, notes=[str(exc)]
            )
        return LevelState(
            requested=found.requested,
            effective=found.effective,
            source=found.source,
            notes=list(found.notes),
        )

    async def _level_of(self, session: Session) -> LevelState:
        return await self._level_at(await self._model_of(session), session)

    async def _level_at(self, ref: str, session: Session) -> LevelState:
        """What the session's level comes to at a model."""
        try:
            agent = await self.agent_of(session)
        except UserError:
            # Its turns say so; the level is shown as it is without an agent.
            agent = None
        return self._level_state(ref, session.level, agent)


def level_in_force(
    level: LevelChoice | None, agent: Agent | None
) -> tuple[LevelChoice, LevelSource]:
    """The session's level, else its agent's, else the model's own, and whose it is."""
    if level is not None:
        return level, "session"
    if agent is not None and agent.level is not None:
        return parse_level(agent.level), "agent"
    return "default", "model"


def optional_level(word: str | None) -> LevelChoice | None:
    return None if word is None else known_level(word)


def known_level(word: str) -> LevelChoice:
    try:
        return parse_level(word)
    except ValueError as exc:
        raise UserError(f"{exc}.", code="bad_level", setting="level") from exc
