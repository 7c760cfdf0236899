"""Live fan-out: each frame is encoded once and queued for every client that follows its session.

Deltas go out at once; those of one tick (16 ms) after the first are joined. Facts come from the
store's commits, in order. A client that joins reads what it missed from the log and the text of
open blocks from here, so that nothing is missing or sent twice.
"""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from silu.engine.api import Out
from silu.engine.hub_client import LIST, HubClient
from silu.engine.live import LiveRun, delta_frame
from silu.store import Session, Store
from silu.store.database import Trouble
from silu.store.ids import now_ms
from silu.store.sessions import counter, items
from silu.store.sql import Tx
from silu.types import facts as f
from silu.types import frames

TICK = 0.016
_LIST_DELAY = 0.05

_encode = msgspec.json.Encoder().encode
LevelOf = Callable[[Session], Awaitable[f.LevelState | None]]


class Channel:
    """One session's live side: who follows it, what its running run has shown."""

    __slots__ = ("clients", "due", "joining", "pending", "run", "session_id", "ticked")

    def __init__(self, session_id: str, due: "dict[HubClient, None]") -> None:
        self.session_id = session_id
        self.due = due
        self.clients: list[HubClient] = []
        self.joining: dict[object, list[tuple[int, Out]]] = {}
        self.run: LiveRun | None = None
        self.pending: dict[str, list[f.DeltaData]] = {}
        self.ticked = -1

    @property
    def idle(self) -> bool:
        return not self.clients and not self.joining and self.run is None

    def send(self, out: Out) -> None:
        """Offer a frame to all who follow; the hub delivers it."""
        self.due.update(dict.fromkeys(self.clients))
        for client in tuple(self.clients):
            client.offer(self.session_id, out)

    def flush(self) -> bool:
        """Send the deltas that were held back; True when there were any."""
        if not self.pending:
            return False
        pending, self.pending = self.pending, {}
        for pieces in pending.values():
            self.send(self.encoded(_joined(pieces)))
        return True

    def encoded(self, data: f.DeltaData) -> Out:
        return delta_frame(self.session_id, self.run.run_id if self.run else "", data)


class Hub:
    """The fan-out of one process. `level_of` fills a snapshot's level (the resolver's affair)."""

    def __init__(
        self,
        store: Store,
        *,
        level_of: Callable[[Session], Awaitable[f.LevelState | None]] | None = None,
    ) -> None:
        self.store = store
        self.level_of = level_of
        self._channels: dict[str, Channel] = {}
        self._dirty: list[Channel] = []
        self._tick = 0
        self._timer: asyncio.TimerHandle | None = None
        self._clients: set[HubClient] = set()
        self._list_clients: set[HubClient] = set()
        self._due: dict[HubClient, None] = {}
        self._delivering = False
        self._touched: set[str] = set()
        self._list_task: asyncio.Task[None] | None = None
        store.listen(self._committed)
        store.on_trouble(self._in_trouble)

    def client(self) -> "HubClient":
        """A new connection; it must be closed."""
        made = HubClient(self)
        self._clients.add(made)
        return made

    def forget(self, client: "HubClient") -> None:
        self._clients.discard(client)
        self._list_clients.discard(client)

    def running(self) -> dict[str, int]:
        """Sessions with a running run → milliseconds since it began (for heartbeats)."""
        now = now_ms()
        return {
            session_id: now - channel.run.started_at
            for session_id, channel in self._channels.items()
            if channel.run is not None
        }

    # ------------------------------------------------------------------ for the engine

    def run_started(self, session_id: str, run_id: str, started_at: int) -> None:
        """A run begins or goes on in this process."""
        channel = self.channel(session_id)
        channel.flush()
        self.deliver()
        channel.run = LiveRun(run_id, started_at)

    def run_ended(self, session_id: str, run_id: str) -> None:
        """Its last fact has been told; its text is the store's from now on."""
        channel = self._channels.get(session_id)
        if channel is None or channel.run is None or channel.run.run_id != run_id:
            return
        channel.flush()
        self.deliver()
        channel.run = None
        self.forget_idle(channel)

    def delta(self, session_id: str, data: f.DeltaData) -> None:
        """New text of a block of the running run: sent now, or with the rest of this tick."""
        channel = self._channels[session_id]
        assert channel.run is not None
        channel.run.add(data)
        if not channel.clients:
            return
        if channel.ticked != self._tick:
            channel.ticked = self._tick
            channel.send(channel.encoded(data))
            if not self._delivering:
                # What other sessions say in this turn of the loop goes out with it.
                self._delivering = True
                asyncio.get_running_loop().call_soon(self.deliver)
        else:
            if not channel.pending:
                self._dirty.append(channel)
            channel.pending.setdefault(data.block_id, []).append(data)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(TICK, self._next_tick)

    # ------------------------------------------------------------------- for clients

    def channel(self, session_id: str) -> Channel:
        found = self._channels.get(session_id)
        if found is None:
            found = self._channels[session_id] = Channel(session_id, self._due)
        return found

    def forget_idle(self, channel: Channel) -> None:
        if channel.idle:
            self._channels.pop(channel.session_id, None)

    def follow_list(self, client: "HubClient", on: bool) -> None:
        if on:
            self._list_clients.add(client)
        else:
            self._list_clients.discard(client)

    # ------------------------------------------------------------------------ inside

    def deliver(self) -> None:
        """Let go out what was offered since the last time: of several sessions together."""
        self._delivering = False
        if not self._due:
            return
        due = list(self._due)
        self._due.clear()
        for client in due:
            client.deliver()

    def _in_trouble(self, trouble: Trouble | None) -> None:
        """Tell everyone why nothing moves; facts cannot, they would have to be kept first."""
        if trouble not in _TROUBLES:
            return
        code, message = _TROUBLES[trouble]
        error = f.ErrorInfo(kind="user", code=code, message=message, retryable=True)
        for client in tuple(self._clients):
            client.push(frames.ErrorFrame(frame_id=None, data=error))

    def _next_tick(self) -> None:
        self._tick += 1
        self._timer = None
        dirty, self._dirty = self._dirty, []
        for channel in dirty:
            if channel.flush():
                channel.ticked = self._tick
        self.deliver()
        if dirty:
            self._timer = asyncio.get_running_loop().call_later(TICK, self._next_tick)

    def _committed(self, facts: list[frames.FactFrame], touched: set[str]) -> None:
        for frame in facts:
            channel = self._channels.get(frame.session_id)
            if channel is not None:
                self._publish(channel, frame)
        self.deliver()
        if touched and self._list_clients:
            self._touched |= touched
            if self._list_task is None:
                self._list_task = asyncio.get_running_loop().create_task(self._tell_list())

    def _publish(self, channel: Channel, frame: frames.FactFrame) -> None:
        channel.flush()
        if channel.run is not None and frame.run_id == channel.run.run_id:
            channel.run.note(frame)
        if not channel.clients and not channel.joining:
            return
        out = Out(frame.n, _encode(frame))
        for late in channel.joining.values():
            late.append((frame.n, out))
        channel.send(out)

    async def _tell_list(self) -> None:
        """Send the lines that changed within a short while as one frame."""
        try:
            await asyncio.sleep(_LIST_DELAY)
            touched, self._touched = self._touched, set()

            def read(tx: Tx) -> frames.ListFrame:
                lines = items(tx, touched)
                gone = touched - {line.id for line in lines}
                return frames.ListFrame(data=lines, n=counter(tx), gone=sorted(gone))

            frame = await self.store.read(read)
        finally:
            self._list_task = None
        out = Out(None, _encode(frame))
        for client in tuple(self._list_clients):
            client.offer(LIST, out)
            client.deliver()
        if self._touched and self._list_clients:
            self._list_task = asyncio.get_running_loop().create_task(self._tell_list())


def _joined(pieces: list[f.DeltaData]) -> f.DeltaData:
    first = pieces[0]
    if len(pieces) == 1:
        return first
    return f.DeltaData(
        message_id=first.message_id,
        block_id=first.block_id,
        attempt=first.attempt,
        kind=pieces[-1].kind,
        offset=first.offset,
        text="".join([piece.text for piece in pieces]),
    )


_TROUBLES: dict[Trouble, tuple[str, str]] = {
    "locked": ("locked", "The database is locked by another program; the run waits for it."),
    "full": ("disk_full", "The disk is full: the run waits until there is space again."),
    "gone": ("database_unreachable", "The database cannot be reached; the run waits for it."),
}
