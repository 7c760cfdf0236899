"""The turn's ports over store, flusher and hub: one set for one attempt at one run."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar, cast

import msgspec

from silu.agent.plan import Plans
from silu.agent.ports import CallRecord, Compacted, Epoch, SessionState, Stale, TurnState
from silu.engine.control import RunControl
from silu.engine.flusher import Flusher, RunSink
from silu.store import StaleRunError, Store, runs, sessions, turns
from silu.store.api import CallRow, EpochRow, TurnRow
from silu.store.sql import Tx
from silu.types.facts import DeltaData, DoneReason, FactData, RunStatus
from silu.types.parts import BlobRef, Message
from silu.types.todos import Plan, Todo

T = TypeVar("T")


class StoreJournal:
    """Satisfies `Journal`, `Events`, `Compacts` and `KeepsPlans` of `agent.ports`."""

    def __init__(
        self,
        sink: RunSink,
        flusher: Flusher,
        control: RunControl,
        *,
        default_model: Callable[[], str],
    ) -> None:
        self.finished = False
        self._sink = sink
        self._flusher = flusher
        self._control = control
        self._default_model = default_model
        self._ref = sink.ref

    # ------------------------------------------------------------------------- events

    def delta(self, data: DeltaData) -> None:
        try:
            self._sink.delta(data)
        except StaleRunError as error:
            raise Stale from error

    def fact(self, data: FactData) -> None:
        try:
            self._sink.fact(data)
        except StaleRunError as error:
            raise Stale from error

    def behind(self) -> bool:
        return self._flusher.behind()

    async def caught_up(self) -> None:
        await self._flusher.caught_up()

    # ------------------------------------------------------------------------ journal

    async def load(self) -> TurnState:
        row = await self._write(lambda tx: turns.load(tx, self._ref))
        return _state(row, self._default_model)

    async def start_epoch(self, epoch: Epoch) -> None:
        await self._write(lambda tx: turns.start_epoch(tx, self._ref, _epoch_row(epoch)))

    async def compact(
        self, epoch: Epoch, compacted: Compacted, *, facts: Sequence[FactData] = ()
    ) -> None:
        row = _epoch_row(epoch)
        shorter = msgspec.json.encode(compacted).decode()
        await self._write(
            lambda tx: turns.start_epoch(tx, self._ref, row, compacted=shorter, facts=facts)
        )

    async def put_plans(
        self, plans: Sequence[Plan], todos: list[Todo], *, by: str, facts: Sequence[FactData]
    ) -> None:
        await self._write(
            lambda tx: turns.put_plans(tx, self._ref, plans, todos, by=by, facts=facts)
        )

    async def put_message(
        self,
        message: Message,
        *,
        step: int,
        attempt: int,
        final: bool,
        facts: Sequence[FactData] = (),
    ) -> None:
        self._sink.covered(message, final=final, attempt=attempt)
        await self._write(
            lambda tx: turns.put_message(
                tx, self._ref, message, step=step, attempt=attempt, final=final, facts=facts
            )
        )

    async def end_step(
        self, step: int, *, call: CallRecord, facts: Sequence[FactData] = ()
    ) -> None:
        row = _call_row(call)
        await self._write(lambda tx: turns.end_step(tx, self._ref, step, call=row, facts=facts))

    async def tool_started(self, call_id: str, *, facts: Sequence[FactData] = ()) -> None:
        await self._write(
            lambda tx: turns.tool_started(tx, self._ref, call_id, facts=facts), durable=True
        )

    async def tool_finished(
        self, message: Message, *, step: int, facts: Sequence[FactData] = ()
    ) -> None:
        await self._write(
            lambda tx: turns.tool_finished(tx, self._ref, message, step=step, facts=facts)
        )

    async def put_todos(self, todos: list[Todo], *, by: str, facts: Sequence[FactData]) -> None:
        await self._write(lambda tx: turns.put_todos(tx, self._ref, todos, by=by, facts=facts))

    async def mark_refused(self, message_id: str, part: str | None, endpoint: str) -> None:
        await self._write(lambda tx: turns.mark_refused(tx, self._ref, message_id, part, endpoint))

    async def set_title(self, title: str) -> None:
        def work(tx: Tx) -> None:
            runs.guard(tx, self._ref)
            sessions.rename(tx, self._ref.session_id, title)

        await self._write(work)

    async def finish(
        self,
        status: RunStatus,
        *,
        reason: DoneReason | None,
        facts: Sequence[FactData],
    ) -> None:
        await self._write(
            lambda tx: turns.finish(tx, self._ref, status, reason=reason, facts=facts)
        )
        self.finished = True

    async def _write(self, work: Callable[[Tx], T], *, durable: bool = False) -> T:
        taken = self._control.taken()

        def with_steering(tx: Tx) -> T:
            if taken:
                runs.take_steers(tx, self._ref.run_id, taken)
            return work(tx)

        try:
            return await self._sink.write(with_steering, durable=durable)
        except StaleRunError as error:
            raise Stale from error


class StoreBlobs:
    """Satisfies `Blobs` of `agent.ports`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def put(self, data: bytes, *, media_type: str, name: str | None = None) -> BlobRef:
        return await self._store.put_blob(data, media_type=media_type, name=name)

    async def get(self, ref: BlobRef) -> bytes:
        return (await self._store.blob(ref.sha256))[1]


def _state(row: TurnRow, default_model: Callable[[], str]) -> TurnState:
    session = row.session
    return TurnState(
        run_id=row.run.id,
        user_message_id=row.run.user_message_id,
        session=SessionState(
            id=session.item.id,
            model=session.model or default_model(),
            mode=session.mode,
            level=session.level or "default",
            level_source="model" if session.level is None else "session",
            workspace=Path(session.workspace),
            language=session.language,
            max_tokens=session.max_tokens,
            temperature=session.temperature,
            top_p=session.top_p,
            titled=bool(session.item.title),
        ),
        history=row.history,
        todos=session.todos,
        plan=Plans(row.plans).current,
        plans=row.plans,
        epoch=_epoch(row.epoch),
        steps_done=row.steps_done,
        attempt=row.attempt,
        turn_level=row.run.turn_level,
        open_calls=row.open_calls,
        spent=row.spent,
        compacted=(msgspec.json.decode(row.compacted, type=Compacted) if row.compacted else None),
        renew=session.renew,
        skills=row.skills,
        thinking_limit=row.run.thinking_limit or session.thinking_limit,
        measured=session.tokens.context if session.tokens else None,
    )


def _epoch(row: EpochRow | None) -> Epoch | None:
    if row is None:
        return None
    values = msgspec.structs.asdict(row)
    values["sources"] = msgspec.json.decode(row.sources) if row.sources else []
    return msgspec.convert(values, Epoch)


def _epoch_row(epoch: Epoch) -> EpochRow:
    values = msgspec.structs.asdict(epoch)
    values["sources"] = msgspec.json.encode(epoch.sources).decode()
    return EpochRow(**values)


_COLUMNS = frozenset({"attempt", "body", "started_at"})


def _call_row(call: CallRecord) -> CallRow:
    whole = cast("dict[str, object]", msgspec.to_builtins(call))
    return CallRow(
        attempt=call.attempt,
        model=call.model,
        body=call.body,
        record={name: value for name, value in whole.items() if name not in _COLUMNS},
        started_at=call.started_at,
        tokens=cast("dict[str, int | None]", msgspec.to_builtins(call.usage)),
        cost=call.cost,
    )
