"""Stop sequences, kept by us: not every vendor takes them, and thinking models take them least."""

from collections.abc import Sequence

from silu.types.events import StreamEvent, TextDelta


class StopFilter:
    """Ends the answer text before the first of `stops`; `hit` tells that it did.

    Text that may be the beginning of one is held back until it is known.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = [stop for stop in stops if stop]
        self._longest = max(map(len, self._stops), default=0)
        self._held = ""
        self._index = 0
        self.hit = False

    def feed(self, event: StreamEvent) -> list[StreamEvent]:
        """The events that may go out now."""
        if not self._stops or self.hit:
            return [] if self.hit else [event]
        if not isinstance(event, TextDelta):
            return [*self._release(len(self._held)), event]
        self._held += event.text
        self._index = event.index
        cuts = [at for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if cuts:
            out = self._release(min(cuts))
            self.hit = True
            return out
        return self._release(len(self._held) - self._waiting())

    def _waiting(self) -> int:
        """How many of the last characters may be the beginning of a stop."""
        for size in range(min(self._longest - 1, len(self._held)), 0, -1):
            tail = self._held[-size:]
            if any(stop.startswith(tail) for stop in self._stops):
                return size
        return 0

    def _release(self, size: int) -> list[StreamEvent]:
        text, self._held = self._held[:size], self._held[size:]
        return [TextDelta(self._index, text)] if text else []
