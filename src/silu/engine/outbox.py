"""A client's outgoing queue, bounded for what comes live."""

import asyncio
from collections import deque

from silu.engine.api import Out

MOST_BYTES = 2_000_000
MOST_FRAMES = 5_000


class Outbox:
    """Frames in order, each with the session it belongs to (`None`: the client's own).

    `put` always queues (replays and answers are bounded by what asked for them), `offer` counts
    and leaves it to its caller to have them sent.
    """

    def __init__(self, *, most_bytes: int = MOST_BYTES, most_frames: int = MOST_FRAMES) -> None:
        self.closed = False
        self._queue: deque[tuple[str | None, Out]] = deque()
        self._most_bytes = most_bytes
        self._most_frames = most_frames
        self._bytes = 0
        self._frames = 0
        self._waiter: asyncio.Future[None] | None = None

    def put(self, session_id: str | None, out: Out) -> None:
        self._queue.append((session_id, out))
        self.wake()

    def offer(self, session_id: str | None, out: Out) -> bool:
        """Queue a live frame; False when the client is too far behind."""
        if self._bytes > self._most_bytes or self._frames >= self._most_frames:
            return False
        self._bytes += len(out.data)
        self._frames += 1
        self._queue.append((session_id, out))
        return True

    @property
    def resting(self) -> bool:
        """Whether all that was taken is sent and whoever takes waits for more."""
        return self._waiter is not None and not self._waiter.done()

    def drop_sessions(self) -> set[str]:
        """Throw away what is queued of sessions; which ones those were."""
        dropped = {session_id for session_id, _ in self._queue if session_id is not None}
        self._queue = deque(item for item in self._queue if item[0] is None)
        self._bytes = self._frames = 0
        return dropped

    def drop(self, session_id: str) -> None:
        """Throw away what is queued of one session: it is left, or followed anew."""
        self._queue = deque(item for item in self._queue if item[0] != session_id)

    def due(self) -> list[Out]:
        """What `take` would give."""
        return [out for _, out in self._queue]

    def take(self) -> list[Out]:
        found = self.due()
        self._queue.clear()
        self._bytes = self._frames = 0
        return found

    async def wait(self) -> None:
        """Return when something may have been queued, or the box was closed."""
        if self._queue or self.closed:
            return
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def close(self) -> None:
        self.closed = True
        self.wake()
