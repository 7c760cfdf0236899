"""One connection to the hub: what it missed, then what happens, in one bounded queue."""

from typing import TYPE_CHECKING

import msgspec

from silu.engine import replay
from silu.engine.api import AtOnce, Out
from silu.engine.live import LiveBlock, delta_frame
from silu.engine.outbox import Outbox
from silu.types import facts as f
from silu.types import frames

if TYPE_CHECKING:
    from silu.engine.hub import Channel, Hub

LIST = ""
"""Stands for the sidebar where a session's id would be."""

_encode = msgspec.json.Encoder().encode
_Late = list[tuple[int, Out]]


class HubClient:
    """Satisfies `api.HubClientApi`; made by `Hub.client()`."""

    def __init__(self, hub: "Hub", box: Outbox | None = None) -> None:
        self._hub = hub
        self._box = box or Outbox()
        self._following: dict[str, Channel] = {}
        self._joining: dict[str, object] = {}
        self._behind: set[str] = set()
        self._list_n = 0
        self.at_once: AtOnce | None = None

    async def subscribe(
        self, session_id: str, *, since: int = 0, blocks: dict[str, int] | None = None
    ) -> None:
        """Follow a session; what it missed is queued before this returns.

        `since` is the last fact it has, `blocks` how many code points it has of a block. A
        second call for the same session starts it anew. `UserError` code `unknown_session`.
        """
        self.unsubscribe(session_id)
        await self._join(session_id, since=since, blocks=blocks or {}, whole=False)

    def unsubscribe(self, session_id: str) -> None:
        """Leave a session; what is queued of it is not sent any more."""
        self._behind.discard(session_id)
        self._joining.pop(session_id, None)
        self._box.drop(session_id)
        channel = self._following.pop(session_id, None)
        if channel is not None:
            self._leave(channel)
            self._hub.forget_idle(channel)

    async def subscribe_list(self, *, since: int = 0) -> None:
        """Follow the sidebar: first what changed after `since`, all of it for 0."""
        self._hub.follow_list(self, True)
        page = await self._hub.store.list_sessions(since=since)
        self._list_n = page.n
        frame = frames.ListFrame(data=page.sessions, n=page.n, gone=page.gone)
        self._box.put(LIST, Out(None, _encode(frame)))

    def unsubscribe_list(self) -> None:
        self._behind.discard(LIST)
        self._hub.follow_list(self, False)

    def push(self, frame: msgspec.Struct) -> None:
        """Queue an own frame (`ack`, `error`, `heartbeat`), in order with the rest."""
        self._box.put(None, Out(None, _encode(frame)))

    async def take(self) -> list[Out]:
        """All frames that are due; waits for the first; `[]` only once the client is closed."""
        while True:
            found = self._box.take()
            if found or self._box.closed:
                return found
            if not self._behind:
                await self._box.wait()
            elif (session_id := self._behind.pop()) == LIST:
                await self.subscribe_list(since=self._list_n)
            else:
                await self._join(session_id, since=0, blocks={}, whole=True)

    def close(self) -> None:
        for session_id in tuple(self._following):
            self.unsubscribe(session_id)
        self._hub.forget(self)
        self._box.close()

    def offer(self, session_id: str, out: Out) -> None:
        """Queue a live frame, for `deliver` to send. One too many, and what is queued of sessions
        gives way to snapshots, made once the client has read the rest."""
        if self._box.offer(session_id, out):
            return
        for dropped in {session_id, *self._box.drop_sessions()}:
            if dropped == LIST:
                self._behind.add(LIST)
            elif (channel := self._following.get(dropped)) is not None:
                self._leave(channel)
                self._behind.add(dropped)
        self._box.wake()

    def deliver(self) -> None:
        """Send what was offered: here and now where the connection takes it, because waking a
        task for every frame and page costs more than the frame; else by whoever takes."""
        box = self._box
        if not box.resting:
            return
        if self.at_once is not None and self.at_once(box.due()):
            box.take()
        else:
            box.wake()

    def _leave(self, channel: "Channel") -> None:
        if self in channel.clients:
            channel.clients.remove(self)

    async def _join(
        self, session_id: str, *, since: int, blocks: dict[str, int], whole: bool
    ) -> None:
        channel = self._hub.channel(session_id)
        late: _Late = []
        # Whoever joins the session after this one, or leaves it, takes its place.
        this = self._joining[session_id] = object()
        channel.joining[this] = late
        try:
            missed = await self._missed(channel, since=since, blocks=blocks, whole=whole)
            # From here on nothing awaits: no frame can slip in between.
            if self._box.closed or self._joining.get(session_id) is not this:
                return
            channel.flush()
            self._hub.deliver()
            newer = [(n, out) for n, out in late if n > missed.head]
            for out in _frames(channel, missed, blocks, newer):
                self._box.put(session_id, out)
            channel.clients.append(self)
            self._following[session_id] = channel
        finally:
            del channel.joining[this]
            if self._joining.get(session_id) is this:
                del self._joining[session_id]
            self._hub.forget_idle(channel)

    async def _missed(
        self, channel: "Channel", *, since: int, blocks: dict[str, int], whole: bool
    ) -> replay.Replay:
        """Read what the store has. When a run began or ended meanwhile, the text that was only
        here may be only there now: read again."""
        while True:
            run = channel.run
            found = await self._hub.store.read(
                lambda tx: replay.read(
                    tx, channel.session_id, since=since, known=blocks, whole=whole
                )
            )
            if found.snapshot is not None and found.session and self._hub.level_of:
                found.snapshot.level = await self._hub.level_of(found.session)
            if channel.run is run:
                return found


def _frames(
    channel: "Channel", missed: replay.Replay, known: dict[str, int], late: _Late
) -> list[Out]:
    newer = [out for _, out in late]
    if missed.snapshot is None:
        return [*_replayed(channel, missed, known), *newer]
    _overlay(channel, missed.snapshot)
    frame = frames.SnapshotFrame(
        session_id=channel.session_id, run_id=missed.run_id, data=missed.snapshot
    )
    return [Out(None, _encode(frame)), *newer]


def _overlay(channel: "Channel", data: frames.SnapshotData) -> None:
    """Let the live text of the running run stand for what the store has of it so far."""
    live = channel.run.blocks.values() if channel.run else ()
    attempts = {block.message_id: block.attempt for block in live}
    shown = {block.block_id for block in live}
    kept = [
        block
        for block in data.blocks
        if block.block_id not in shown
        and block.attempt >= attempts.get(block.message_id, block.attempt)
    ]
    data.blocks = [*kept, *(block.snapshot() for block in live)]


def _replayed(channel: "Channel", missed: replay.Replay, known: dict[str, int]) -> list[Out]:
    """The missed facts in order, the text of each block before the fact that closes it; then
    what is lacking of open blocks, and of those that closed while this was read."""
    live: dict[str, LiveBlock] = channel.run.blocks if channel.run else {}
    closing = {n: block_id for block_id, n in missed.done_at.items()}
    outs: list[Out] = []
    for fact in missed.facts:
        block_id = closing.get(fact.n)
        if block_id is not None:
            outs += _rest(channel, block_id, missed, known)
        outs.append(Out(fact.n, _encode(fact)))
    growing = [
        key for key, block in live.items() if (block.done_n or missed.head + 1) > missed.head
    ]
    for block_id in dict.fromkeys([*known, *growing]):
        if block_id not in missed.done_at:
            outs += _rest(channel, block_id, missed, known)
    return outs


def _rest(
    channel: "Channel", block_id: str, missed: replay.Replay, known: dict[str, int]
) -> list[Out]:
    """What a client that has `known[block_id]` code points of a block lacks of it."""
    run = channel.run
    live = run.blocks.get(block_id) if run else None
    if run is not None and live is not None:
        run_id, block = run.run_id, live.snapshot()
    elif block_id in missed.blocks:
        run_id, block = missed.blocks[block_id]
    else:
        return []
    at = known.get(block_id, 0)
    if at >= len(block.text):
        return []
    data = f.DeltaData(
        message_id=block.message_id,
        block_id=block_id,
        attempt=block.attempt,
        kind=block.kind,
        offset=at,
        text=block.text[at:],
    )
    return [delta_frame(channel.session_id, run_id, data)]
