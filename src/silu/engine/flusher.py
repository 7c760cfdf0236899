"""One flusher a process: what runs say becomes durable, facts at once, deltas every 50 ms.

All sessions' deltas go in one transaction. A stale attempt, or one whose text the database
refuses, fails alone.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

import sqlalchemy as sa

from silu.engine.hub import Hub
from silu.store import RunRef, StaleRunError, Store, deltas, log, runs, schema
from silu.store.api import DeltaRow
from silu.store.database import trouble_of
from silu.store.sql import Sql, Tx
from silu.types.facts import DeltaData, DeltaKind, FactData
from silu.types.parts import Message

T = TypeVar("T")

EVERY = 0.05
BEHIND = 2.0

_Batch = list[tuple["RunSink", list[DeltaRow]]]
_Failed = list[tuple["RunSink", BaseException]]


class RunSink:
    """Where one attempt at one run writes, in order. After a failure everything raises it."""

    def __init__(self, flusher: "Flusher", ref: RunRef, on_failure: Callable[[], None]) -> None:
        self.ref = ref
        self.failure: BaseException | None = None
        self._flusher = flusher
        self._on_failure = on_failure
        self._open: dict[str, _Buffered] = {}

    def delta(self, data: DeltaData) -> None:
        """Send new text now and keep it soon."""
        if self.failure is not None:
            raise self.failure
        self._flusher.hub.delta(self.ref.session_id, data)
        buffered = self._open.get(data.block_id)
        if buffered is None or buffered.attempt != data.attempt:
            buffered = self._open[data.block_id] = _Buffered(data)
            self._flusher.wants(self)
        buffered.kind = data.kind
        buffered.pieces.append(data.text)

    def fact(self, data: FactData) -> None:
        """Queue a fact; it is sent after the flusher's next commit."""
        if self.failure is not None:
            raise self.failure

        def work(tx: Tx) -> None:
            runs.guard(tx, self.ref)
            log.append(tx, self.ref.session_id, self.ref.run_id, [data])

        self._flusher.store.write(work, patient=True).add_done_callback(self._look)

    async def write(self, work: Callable[[Tx], T], *, durable: bool = False) -> T:
        """Write in order with the rest and wait for the commit; `work` checks the fence."""
        if self.failure is not None:
            raise self.failure
        try:
            return await self._flusher.store.write(work, patient=True, durable=durable)
        except StaleRunError as error:
            self.fail(error)
            raise

    def covered(self, message: Message, *, final: bool, attempt: int) -> None:
        """Forget buffered text that is about to be written as parts of a message."""
        for part in message.parts:
            buffered = self._open.get(part.id)
            length = deltas.text_length(part)
            if buffered is not None and length is not None and buffered.end <= length:
                del self._open[part.id]
        if final:
            for block_id, buffered in tuple(self._open.items()):
                if buffered.message_id == message.id and buffered.attempt <= attempt:
                    del self._open[block_id]

    def take(self) -> list[DeltaRow]:
        """The buffered text as rows; the buffer is empty then."""
        buffers, self._open = self._open, {}
        ref = self.ref
        return [
            DeltaRow(
                session_id=ref.session_id,
                run_id=ref.run_id,
                message_id=one.message_id,
                block_id=block_id,
                attempt=one.attempt,
                kind=one.kind,
                start=one.start,
                text="".join(one.pieces),
                at=one.at,
            )
            for block_id, one in buffers.items()
        ]

    def fail(self, error: BaseException) -> None:
        if self.failure is None:
            self.failure = error
            self._open.clear()
            self._on_failure()

    def _look(self, future: "asyncio.Future[Any]") -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            self.fail(error)


class Flusher:
    def __init__(
        self, store: Store, hub: Hub, *, every: float = EVERY, behind: float = BEHIND
    ) -> None:
        self.store = store
        self.hub = hub
        self._every = every
        self._behind = behind
        self._waiting: dict[RunSink, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._flight: asyncio.Future[Any] | None = None
        self._flight_since = 0.0

    def open(self, ref: RunRef, on_failure: Callable[[], None]) -> RunSink:
        """A sink for one attempt; `on_failure` is called once when it can write no more."""
        return RunSink(self, ref, on_failure)

    def wants(self, sink: RunSink) -> None:
        """A sink has text to be kept."""
        self._waiting[sink] = None
        if self._timer is None and self._flight is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._every, self._flush)

    def behind(self) -> bool:
        """True when text has waited for the database for more than two seconds."""
        return self._flight is not None and time.monotonic() - self._flight_since > self._behind

    async def caught_up(self) -> None:
        while self._flight is not None and self.behind():
            await asyncio.wait({self._flight})

    async def drain(self) -> None:
        """Make everything durable that was sent before this call."""
        while self._waiting or self._flight is not None:
            if self._flight is None:
                self._flush()
            if self._flight is not None:
                await asyncio.wait({self._flight})

    def _flush(self) -> None:
        """One transaction for all; while it is under way the next one gathers."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        waiting, self._waiting = self._waiting, {}
        batch = [(sink, rows) for sink in waiting if (rows := sink.take())]
        if not batch:
            return
        self._flight_since = time.monotonic()
        self._flight = self.store.write(lambda tx: _put_all(tx, batch), patient=True)
        self._flight.add_done_callback(lambda done: self._landed(done, batch))

    def _landed(self, done: "asyncio.Future[_Failed]", batch: _Batch) -> None:
        self._flight = None
        if done.cancelled():
            return
        if (error := done.exception()) is not None:
            failed: _Failed = [(sink, error) for sink, _ in batch]
        else:
            failed = done.result()
        for sink, why in failed:
            sink.fail(why)
        if self._waiting:
            loop = asyncio.get_running_loop()
            left = self._every - (time.monotonic() - self._flight_since)
            self._timer = loop.call_later(max(0.0, left), self._flush)


class _Buffered:
    """Text of one block since the last flush."""

    __slots__ = ("at", "attempt", "kind", "message_id", "pieces", "start")

    def __init__(self, data: DeltaData) -> None:
        self.message_id = data.message_id
        self.attempt = data.attempt
        self.kind: DeltaKind = data.kind
        self.start = data.offset
        self.pieces: list[str] = []
        self.at = time.time_ns()

    @property
    def end(self) -> int:
        return self.start + sum(map(len, self.pieces))


def _put_all(tx: Tx, batch: _Batch) -> _Failed:
    """Write every session's text; returns the sinks that cannot go on, and why."""
    fences = _fences(tx, [sink.ref.session_id for sink, _ in batch])
    failed: _Failed = []
    good: _Batch = []
    for sink, rows in batch:
        if fences.get(sink.ref.session_id) == sink.ref.fence:
            good.append((sink, rows))
        else:
            failed.append((sink, StaleRunError(sink.ref.run_id)))
    if not good:
        return failed
    if _try(tx, [row for _, rows in good for row in rows]) is None:
        return failed
    for sink, rows in good:
        error = _try(tx, rows)
        if error is not None:
            failed.append((sink, error))
    return failed


def _try(tx: Tx, rows: Sequence[DeltaRow]) -> BaseException | None:
    tx.raw.execute("SAVEPOINT text")
    try:
        deltas.put(tx, rows)
    except Exception as error:
        if trouble_of(error) is not None:
            raise
        tx.raw.execute("ROLLBACK TO SAVEPOINT text")
        return error
    tx.raw.execute("RELEASE SAVEPOINT text")
    return None


def _fences(tx: Tx, session_ids: list[str]) -> dict[str, int]:
    """The sessions' fences; their rows are locked until the commit, in an order all agree on."""
    asked = {f"s{at}": session_id for at, session_id in enumerate(session_ids)}
    return dict(tx.run(_fences_of(len(asked)), asked).fetchall())


@cache
def _fences_of(count: int) -> Sql:
    table = schema.sessions
    return Sql(
        sa.select(table.c.id, table.c.fence)
        .where(table.c.id.in_([sa.bindparam(f"s{at}") for at in range(count)]))
        .order_by(table.c.id)
        .with_for_update()
    )
