"""Notices when a model makes the same calls again and again."""

from collections.abc import Sequence

from silu.agent.settings import Limits
from silu.types.parts import Message, ToolCallPart, ToolResultPart

_WARN_AT = 3


class Repeats:
    """Counts rounds in a row with the same calls and the same results."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._last: object = None
        self._count = 0

    def over(self, calls: Sequence[ToolCallPart], results: Message) -> bool:
        """Count a round; True when the run should end for it."""
        given = [part for part in results.parts if isinstance(part, ToolResultPart)]
        round_ = (
            [(call.name, call.arguments) for call in calls],
            [(part.status, part.shown) for part in given],
        )
        self._count = self._count + 1 if round_ == self._last else 1
        self._last = round_
        failing = all(part.status != "ok" for part in given)
        return self._count >= (self._limits.failing if failing else self._limits.repeated)

    @property
    def warn(self) -> bool:
        """True right after a round that was the same for the third time."""
        return self._count == _WARN_AT
