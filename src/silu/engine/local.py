"""Turns as tasks of this process: one at a time in a session, taken up again after a restart.

What executes a turn is passed in. The fence in the store makes "at least once" safe: an attempt
that is no longer the newest writes nothing.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from silu.agent.ports import Stale
from silu.engine import ops
from silu.engine.api import Done, Execute, Parked, RunItem, Sent, TurnPorts
from silu.engine.control import RunControl
from silu.engine.flusher import Flusher
from silu.engine.hub import Hub
from silu.engine.journal import StoreBlobs, StoreJournal
from silu.store import RunRef, StaleRunError, Store, misc, runs
from silu.store.api import NewRun
from silu.store.ids import new_id
from silu.store.sql import Tx
from silu.types.errors import UserError
from silu.types.facts import (
    DoneReason,
    ErrorInfo,
    LevelState,
    LevelUpdate,
    Mode,
    ModelUpdate,
    RunStatus,
)
from silu.types.levels import LevelChoice
from silu.types.parts import Part, TextPart
from silu.types.todos import Todo

log = logging.getLogger(__name__)

MOST_STALLS = 10
"""A run that was taken up so often without finishing a step is ended instead."""

_CANCEL_PATIENCE = 0.6


class _Active:
    """A run this process works on."""

    def __init__(self, begun: ops.Begun) -> None:
        self.ref = begun.ref
        self.control = RunControl(begun.mode, begun.steering)
        self.task: asyncio.Task[None] | None = None

    def abandon(self) -> None:
        """It can write no more: stop it."""
        if self.task is not None:
            self.task.cancel()


class LocalEngine:
    """The `RunEngine` of one process. `default_model` names the model of a session without one."""

    def __init__(
        self,
        store: Store,
        hub: Hub,
        *,
        execute: Execute,
        default_model: Callable[[], str] | None = None,
        most_stalls: int = MOST_STALLS,
    ) -> None:
        self._most_stalls = most_stalls
        self._store = store
        self._hub = hub
        self._execute = execute
        self._default_model = default_model or _no_model
        self._flusher = Flusher(store, hub)
        self._blobs = StoreBlobs(store)
        self._active: dict[str, _Active] = {}
        self._over: dict[str, asyncio.Event] = {}
        self._stopping = False

    # --------------------------------------------------------------- life of the engine

    async def start(self) -> None:
        """Take up what an earlier process left: unfinished, queued and parked runs."""
        for run in await self._store.read(runs.unfinished):
            if run.status == "running" or (
                run.status == "parked" and run.wait_id and await self._wait_is_over(run.wait_id)
            ):
                await self.submit(run.id)
        for run in await self._store.read(runs.unfinished):
            if run.status == "queued":
                await self._next(run.session_id)

    async def stop(self, *, grace: float = 5.0) -> None:
        """Begin no more turns and let running ones end within `grace` seconds; what does not is
        put down, and the next process goes on after its last finished step."""
        self._stopping = True
        tasks = {one.task for one in self._active.values() if one.task is not None}
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._flusher.drain()

    # ----------------------------------------------------------------- the port's three

    async def submit(self, run_id: str) -> bool:
        """Execute a run here, from wherever the journal says it is; False when it is over."""
        begun = await self._store.write(lambda tx: ops.take_up(tx, run_id))
        if begun is None:
            return False
        if begun.stalled > self._most_stalls:
            await self._end(begun.ref, "interrupted", reason="restart", error=_STALLED)
            await self._next(begun.ref.session_id)
            return False
        self._spawn(begun)
        return True

    async def cancel(
        self, session_id: str, *, run_id: str | None = None, client_id: str | None = None
    ) -> bool:
        """Stop the running run within a second, its work so far kept; True when there was one.

        The same `client_id` again never stops a later run.
        """

        def which(tx: Tx) -> str | None:
            on = next((r for r in runs.of_session(tx, session_id) if r.status != "queued"), None)
            return on.id if on is not None and run_id in (None, on.id) else None

        found: str | None = await self._store.command(client_id, "cancel", session_id, which)
        if found is None:
            return False
        active = self._active.get(session_id)
        if active is None or active.ref.run_id != found or active.task is None:
            await self._cancel_parked(session_id, found)
            return True
        active.control.cancel()
        await asyncio.wait({active.task}, timeout=_CANCEL_PATIENCE)
        if not active.task.done():
            active.task.cancel()
            await asyncio.wait({active.task})
        return True

    async def list(self, session_id: str | None = None) -> "list[RunItem]":
        """Runs that are not over, of one session or of all."""
        found = await self._store.read(lambda tx: runs.of_session(tx, session_id))
        return [
            RunItem(run_id=run.id, session_id=run.session_id, status=run.status) for run in found
        ]

    # ------------------------------------------------------------------- what people do

    async def send(
        self,
        session_id: str,
        text: str,
        *,
        parts: Sequence[Part] = (),
        level: LevelChoice | None = None,
        mode: Mode | None = None,
        client_id: str | None = None,
    ) -> Sent:
        """A new turn; it queues while another run of the session is on. `level` and `mode` hold
        for this turn only."""
        own: list[Part] = [TextPart(text=text, id=new_id("p"))] if text else []
        new = ops.new_run([*own, *parts], level=level, mode=mode)
        return await self._submit_new(client_id, "send", session_id, lambda _tx: (session_id, new))

    async def edit(
        self, session_id: str, message_id: str, text: str, *, client_id: str | None = None
    ) -> Sent:
        """A sibling session in which the person's message reads `text`, and its turn."""

        def work(tx: Tx) -> tuple[str, NewRun]:
            fork_id, parts = ops.edited(tx, session_id, message_id, text)
            return fork_id, ops.new_run(parts)

        return await self._submit_new(client_id, "edit", session_id, work)

    async def regenerate(
        self,
        session_id: str,
        message_id: str,
        *,
        level: LevelChoice | None = None,
        model: str | None = None,
        client_id: str | None = None,
    ) -> Sent:
        """A sibling session that answers anew what `message_id` answered."""

        def work(tx: Tx) -> tuple[str, NewRun]:
            fork_id, parts = ops.regenerated(tx, session_id, message_id, model=model)
            return fork_id, ops.new_run(parts, level=level)

        return await self._submit_new(client_id, "regenerate", session_id, work)

    async def wait(self, run_id: str) -> None:
        """Return once the run is over."""
        over = self._over.setdefault(run_id, asyncio.Event())
        run = await self._store.read(lambda tx: runs.read(tx, run_id))
        if run is None or run.status == "done":
            self._over.pop(run_id, None)
            return
        await over.wait()

    async def steer(self, session_id: str, text: str, *, client_id: str | None = None) -> bool:
        """Words for the running turn, read before its next model call; False when none runs."""
        said: list[tuple[str, int]] = []

        def work(tx: Tx) -> bool:
            found = ops.steer(tx, session_id, text)
            said.extend([found] if found else [])
            return found is not None

        taken: bool = await self._store.command(client_id, "steer", session_id, work)
        active = self._active.get(session_id)
        if said and active is not None and active.ref.run_id == said[-1][0]:
            active.control.steer(said[-1][1], text)
        return taken

    async def queue_edit(
        self,
        session_id: str,
        message_id: str,
        *,
        text: str | None = None,
        remove: bool = False,
        client_id: str | None = None,
    ) -> None:
        """Change or take out a message that waits for its turn; `not_queued` when it began."""

        def work(tx: Tx) -> None:
            if not runs.edit_queued(tx, session_id, message_id, None if remove else text or ""):
                raise UserError("This message is not in the queue any more.", code="not_queued")

        await self._store.command(client_id, "queue_edit", session_id, work)

    async def set_level(
        self,
        session_id: str,
        level: LevelChoice,
        state: LevelState,
        *,
        client_id: str | None = None,
    ) -> None:
        """Kept for the session's mode, in force at a running turn's next model call."""
        await self._store.set_level(
            session_id, level, facts=[LevelUpdate(level=state)], client_id=client_id
        )
        if (active := self._active.get(session_id)) is not None:
            active.control.set_level(level)

    async def set_model(
        self, session_id: str, model: str, state: LevelState, *, client_id: str | None = None
    ) -> None:
        """Kept for the session's mode, in force from the next turn on."""
        await self._store.set_model(
            session_id, model, facts=[ModelUpdate(model=model, level=state)], client_id=client_id
        )

    async def set_mode(self, session_id: str, mode: Mode, *, client_id: str | None = None) -> None:
        """In force at once, also inside a running turn."""
        await self._store.set_mode(session_id, mode, client_id=client_id)
        if (active := self._active.get(session_id)) is not None:
            active.control.set_mode(mode)

    async def todo_edit(
        self, session_id: str, todos: Sequence[Todo], *, client_id: str | None = None
    ) -> None:
        await self._store.put_todos(session_id, todos, by="person", client_id=client_id)

    async def resolve_wait(
        self,
        session_id: str,
        wait_id: str,
        decision: str,
        *,
        details: dict[str, Any] | None = None,
        client_id: str | None = None,
    ) -> None:
        """A person's answer to an approval or a question; a run parked on it goes on.

        `UserError` code `unknown_wait`.
        """
        freed: str | None = await self._store.command(
            client_id,
            "resolve_wait",
            session_id,
            lambda tx: ops.resolve_wait(tx, session_id, wait_id, decision, details or {}),
        )
        if freed is not None and not self._stopping:
            await self.submit(freed)

    # --------------------------------------------------------------------------- inside

    async def _submit_new(
        self,
        client_id: str | None,
        kind: str,
        session_id: str,
        make: Callable[[Tx], tuple[str, NewRun]],
    ) -> Sent:
        if self._stopping:
            raise UserError("silu is stopping; send it again in a moment.", code="stopping")

        def work(tx: Tx) -> tuple[ops.Submitted, ops.Begun | None]:
            refs: list[RunRef] = []

            def submit() -> dict[str, Any]:
                target, new = make(tx)
                made, ref = ops.submit(tx, target, new)
                refs.extend([ref] if ref else [])
                return msgspec.structs.asdict(made)

            kept = misc.once(tx, client_id, kind, session_id, submit)
            made = msgspec.convert(kept, ops.Submitted)
            return made, ops.begun(tx, refs[0]) if refs else None

        made, begun = await self._store.write(work)
        if begun is not None:
            self._spawn(begun)
        run = await self._store.read(lambda tx: runs.read(tx, made.run_id))
        return Sent(
            session_id=made.session_id,
            run_id=made.run_id,
            message_id=made.message_id,
            queued=run is not None and run.status == "queued",
        )

    def _spawn(self, begun: ops.Begun) -> None:
        ref = begun.ref
        old = self._active.get(ref.session_id)
        if old is not None and old.task is not None:
            # A newer attempt: the old one is stale and would find out at its next write.
            old.abandon()
        active = self._active[ref.session_id] = _Active(begun)
        self._hub.run_started(ref.session_id, ref.run_id, begun.started_at)
        active.task = asyncio.create_task(self._drive(active), name=f"run {ref.run_id}")

    async def _drive(self, active: _Active) -> None:
        ref = active.ref
        parked = False
        try:
            parked = await self._attempt(active)
        except asyncio.CancelledError:
            if not active.control.cancelled():
                # Stopped with the process, or replaced by a newer attempt: it goes on from there.
                raise
            await self._end(ref, "cancelled", reason="person")
        finally:
            if self._active.get(ref.session_id) is active:
                del self._active[ref.session_id]
                self._hub.run_ended(ref.session_id, ref.run_id)
        if parked:
            return
        if (over := self._over.pop(ref.run_id, None)) is not None:
            over.set()
        if not self._stopping:
            await self._store.write(lambda tx: ops.prune(tx, ref.session_id))
            await self._next(ref.session_id)

    async def _attempt(self, active: _Active) -> bool:
        """One attempt; True when the run was parked."""
        ref = active.ref
        sink = self._flusher.open(ref, active.abandon)
        journal = StoreJournal(
            sink, self._flusher, active.control, default_model=self._default_model
        )
        ports = TurnPorts(
            run_id=ref.run_id,
            session_id=ref.session_id,
            journal=journal,
            events=journal,
            runs=active.control,
            blobs=self._blobs,
        )
        try:
            result = await self._execute(ports)
        except Stale:
            return False
        except asyncio.CancelledError:
            if sink.failure is None or active.control.cancelled():
                raise
            return await self._after_failure(ref, sink.failure)
        except Exception as error:
            return await self._after_failure(ref, error)
        match result:
            case Parked(wait_id=wait_id):
                return await self._park(ref, wait_id)
            case Done() if not journal.finished:
                await self._end(ref, "failed", reason=None, error=_UNFINISHED)
            case Done():
                pass
        return False

    async def _after_failure(self, ref: RunRef, error: BaseException) -> bool:
        if isinstance(error, Stale | StaleRunError):
            return False
        if isinstance(error, UserError):
            told = ErrorInfo(kind="user", message=str(error), setting=error.setting or None)
            told.code = error.code
        else:
            log.exception("run %s failed", ref.run_id, exc_info=error)
            told = ErrorInfo(kind="internal", message=f"The turn failed ({type(error).__name__}).")
        await self._end(ref, "failed", reason=None, error=told)
        return False

    async def _park(self, ref: RunRef, wait_id: str) -> bool:
        """True when it is parked; one whose wait is over already is taken up again."""
        parked = await self._store.write(lambda tx: runs.park(tx, ref, wait_id), patient=True)
        if not parked and not self._stopping:
            await self.submit(ref.run_id)
        return True

    async def _end(
        self,
        ref: RunRef,
        status: RunStatus,
        *,
        reason: DoneReason | None,
        error: ErrorInfo | None = None,
    ) -> None:
        """End a run that did not end itself."""
        await self._flusher.drain()
        with contextlib.suppress(StaleRunError):  # a newer attempt has it: the end is its affair
            await self._store.write(
                lambda tx: ops.end(tx, ref, status, reason=reason, error=error), patient=True
            )

    async def _next(self, session_id: str) -> None:
        """Begin the session's next queued turn."""
        if self._stopping:
            return
        begun = await self._store.write(lambda tx: ops.take_next(tx, session_id))
        if begun is not None:
            self._spawn(begun)

    async def _cancel_parked(self, session_id: str, run_id: str) -> None:
        """End a run no coroutine works on; nothing happens to one that is over."""
        if await self._store.write(lambda tx: ops.cancel_parked(tx, run_id)):
            if (over := self._over.pop(run_id, None)) is not None:
                over.set()
            await self._next(session_id)

    async def _wait_is_over(self, wait_id: str) -> bool:
        return await self._store.read(lambda tx: runs.wait_is_over(tx, wait_id))


def _no_model() -> str:
    raise UserError("No model is chosen.", code="no_model", setting="model")


_UNFINISHED = ErrorInfo(kind="internal", message="The turn stopped without an end.")
_STALLED = ErrorInfo(
    kind="internal",
    message="The run was taken up several times after a crash and got no further.",
)
