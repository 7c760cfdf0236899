"""What people say to a running turn; satisfies `Runs` of `agent.ports`."""

import asyncio

from silu.types.facts import Mode
from silu.types.levels import LevelChoice


class RunControl:
    """Lives as long as one attempt at a run. Steering is durable before it stands here."""

    def __init__(self, mode: Mode, steering: list[tuple[int, str]]) -> None:
        self._mode: Mode = mode
        self._level: LevelChoice | None = None
        self._steering = steering
        self._taken = 0
        self._cancelled = asyncio.Event()

    def set_level(self, level: LevelChoice) -> None:
        self._level = level

    def set_mode(self, mode: Mode) -> None:
        self._mode = mode

    def steer(self, number: int, text: str) -> None:
        self._steering.append((number, text))

    def cancel(self) -> None:
        self._cancelled.set()

    def level(self) -> LevelChoice | None:
        return self._level

    def mode(self) -> Mode:
        return self._mode

    def take_steering(self) -> list[str]:
        said, self._steering = self._steering, []
        if said:
            self._taken = said[-1][0]
        return [text for _, text in said]

    def taken(self) -> int:
        """The newest steering the turn has taken; the next write makes that durable."""
        return self._taken

    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    async def wait_cancelled(self) -> None:
        await self._cancelled.wait()
