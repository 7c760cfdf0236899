"""Attempts at runs as tasks of this process: begun, driven to an end, put down, ended for them."""

import asyncio
import contextlib
import logging
from collections.abc import Callable

from silu.agent.ports import Stale
from silu.engine import ops
from silu.engine.api import Done, Execute, Parked, TurnPorts
from silu.engine.children import RunChildren
from silu.engine.control import KeepRule, RunControl
from silu.engine.flusher import Flusher
from silu.engine.hub import Hub
from silu.engine.journal import StoreBlobs, StoreJournal
from silu.store import RunRef, StaleRunError, Store, children, runs
from silu.types.errors import UserError, place_of
from silu.types.facts import DoneReason, ErrorInfo, RunStatus
from silu.types.policy import Rule, Scope

log = logging.getLogger(__name__)

MOST_STALLS = 10
"""A run that was taken up so often without finishing a step is ended instead."""

CANCEL_PATIENCE = 0.6
"""Seconds a turn has to end by itself when the person stops it."""


class _Active:
    """A run this process works on."""

    def __init__(self, begun: ops.Begun, keep_rule: KeepRule, subagents: RunChildren) -> None:
        self.ref = begun.ref
        self.control = RunControl(
            begun.mode,
            steering=begun.steering,
            asked=begun.asked,
            keep_rule=keep_rule,
            children=subagents,
        )
        self.task: asyncio.Task[None] | None = None

    def abandon(self) -> None:
        """It can write no more: stop it."""
        if self.task is not None:
            self.task.cancel()


class Driver:
    """Works on one run a session. `stopping` is set once no more are to begin."""

    def __init__(
        self,
        store: Store,
        hub: Hub,
        *,
        execute: Execute,
        default_model: Callable[[], str],
        most_stalls: int,
    ) -> None:
        self.stopping = False
        self._store = store
        self._hub = hub
        self._execute = execute
        self._default_model = default_model
        self._most_stalls = most_stalls
        self._flusher = Flusher(store, hub)
        self._blobs = StoreBlobs(store)
        self._active: dict[str, _Active] = {}
        self._over: dict[str, asyncio.Event] = {}

    def condition(self) -> str:
        if self.stopping:
            return "stopping"
        return "waiting for the database" if self._flusher.behind() else "ok"

    async def stop(self, grace: float) -> None:
        """Let running turns end within `grace` seconds, put the rest down, keep all text."""
        self.stopping = True
        tasks = {one.task for one in self._active.values() if one.task is not None}
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._flusher.drain()

    async def take_up(self, run_id: str) -> bool:
        """Go on with a run from wherever the journal says it is; False when it is over."""
        begun = await self._store.write(lambda tx: ops.take_up(tx, run_id))
        if begun is None:
            return False
        if begun.stalled > self._most_stalls:
            await self._end(begun.ref, "interrupted", reason="restart", error=_STALLED)
            await self.begin_next(begun.ref.session_id)
            return False
        self.spawn(begun)
        return True

    async def begin_next(self, session_id: str) -> None:
        """Begin the session's next queued turn."""
        if self.stopping:
            return
        begun = await self._store.write(lambda tx: ops.take_next(tx, session_id))
        if begun is not None:
            self.spawn(begun)

    async def cancel(self, session_id: str, run_id: str) -> None:
        """End a run as the person's wish, whether a task works on it or not, and its sub-agents."""
        below = await self._store.read(lambda tx: children.open_runs(tx, run_id))
        await asyncio.gather(*(self.cancel(one.child_session, one.child_run) for one in below))
        while (active := self._active.get(session_id)) is not None:
            if active.ref.run_id != run_id or active.task is None:
                break
            active.control.cancel()
            await asyncio.wait({active.task}, timeout=CANCEL_PATIENCE)
            if not active.task.done():
                active.task.cancel()
                await asyncio.wait({active.task})
        # It was parked, or was just being parked when it was told to stop.
        if await self._store.write(lambda tx: ops.cancel_parked(tx, run_id)):
            self._tell_over(run_id)
            await self._after(session_id, run_id)

    async def wait(self, run_id: str) -> None:
        """Return once the run is over."""
        over = self._over.setdefault(run_id, asyncio.Event())
        run = await self._store.read(lambda tx: runs.read(tx, run_id))
        if run is None or run.status == "done":
            # Others may wait for the same run: they hear of it too.
            self._tell_over(run_id)
            return
        await over.wait()

    def control(self, session_id: str, run_id: str | None = None) -> RunControl | None:
        """What the session's running turn listens to (of that run, where one is named)."""
        active = self._active.get(session_id)
        if active is None or run_id not in (None, active.ref.run_id):
            return None
        return active.control

    def spawn(self, begun: ops.Begun) -> None:
        ref = begun.ref
        old = self._active.get(ref.session_id)
        if old is not None and old.task is not None:
            # A newer attempt: the old one is stale and would find out at its next write.
            old.abandon()

        async def keep_rule(rule: Rule, scope: Scope) -> None:
            await self._store.write(
                lambda tx: runs.add_rule(tx, ref.session_id, rule, for_good=scope == "always")
            )

        subagents = RunChildren(self._store, ref, depth=begun.depth, spawn=self.spawn)
        active = self._active[ref.session_id] = _Active(begun, keep_rule, subagents)
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
        self._tell_over(ref.run_id)
        if not self.stopping:
            await self._store.write(lambda tx: ops.prune(tx, ref.session_id))
            await self._after(ref.session_id, ref.run_id)

    async def _after(self, session_id: str, run_id: str) -> None:
        """A run is over: the session's next one begins, and the one it worked for goes on."""
        await self.begin_next(session_id)
        waiting = await self._store.read(lambda tx: ops.waits_for(tx, run_id))
        if waiting is not None and not self.stopping:
            await self.take_up(waiting)

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
            log.error("run %s failed: %s", ref.run_id, place_of(error))
            told = ErrorInfo(kind="internal", message=f"The turn failed ({type(error).__name__}).")
        await self._end(ref, "failed", reason=None, error=told)
        return False

    async def _park(self, ref: RunRef, wait_id: str) -> bool:
        """True when it is parked; one whose wait is over already is taken up again."""
        parked = await self._store.write(lambda tx: runs.park(tx, ref, wait_id), patient=True)
        if not parked and not self.stopping:
            await self.take_up(ref.run_id)
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

    def _tell_over(self, run_id: str) -> None:
        if (over := self._over.pop(run_id, None)) is not None:
            over.set()


_UNFINISHED = ErrorInfo(kind="internal", message="The turn stopped without an end.")
_STALLED = ErrorInfo(
    kind="internal",
    message="The run was taken up several times after a crash and got no further.",
)
