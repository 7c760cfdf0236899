"""What the groups of services share: the parts they work with, and what a level comes to."""

import asyncio

from silu.config import Settings
from silu.engine import Hub, LocalEngine
from silu.providers.client import Client
from silu.store import Store
from silu.store.api import Session
from silu.types.capabilities import ModelInfo
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

    def _level_state(self, ref: str, level: LevelChoice | None) -> LevelState:
        """What a level comes to for a model; an unknown model resolves to nothing sent."""
        asked = "default" if level is None else level
        source = "model" if level is None else "session"
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
        return self._level_state(await self._model_of(session), session.level)


def optional_level(word: str | None) -> LevelChoice | None:
    return None if word is None else known_level(word)


def known_level(word: str) -> LevelChoice:
    try:
        return parse_level(word)
    except ValueError as exc:
        raise UserError(f"{exc}.", code="bad_level", setting="level") from exc
