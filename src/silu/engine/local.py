"""Turns as tasks of this process: one at a time in a session, taken up again after a restart.

What executes a turn is passed in. The fence in the store makes "at least once" safe: an attempt
that is no longer the newest writes nothing.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from silu.agent.approvals import Approval
from silu.agent.ports import Edits
from silu.engine import ops
from silu.engine.api import Execute, RunItem, Sent
from silu.engine.driver import MOST_STALLS, Driver
from silu.engine.hub import Hub
from silu.store import RunRef, Store, misc, runs
from silu.store.api import NewRun
from silu.store.ids import new_id
from silu.store.sql import Tx
from silu.types.agents import ThinkingLimit
from silu.types.errors import UserError
from silu.types.facts import (
    LevelState,
    LevelUpdate,
    Mode,
    ModelUpdate,
)
from silu.types.levels import LevelChoice
from silu.types.parts import Part, TextPart
from silu.types.todos import Todo


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
        self._store = store
        self._driver = Driver(
            store,
            hub,
            execute=execute,
            default_model=default_model or _no_model,
            most_stalls=most_stalls,
        )

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
                await self._driver.begin_next(run.session_id)

    async def stop(self, *, grace: float = 5.0) -> None:
        """Begin no more turns and let running ones end within `grace` seconds; what does not is
        put down, and the next process goes on after its last finished step."""
        await self._driver.stop(grace)

    def condition(self) -> str:
        """`ok`, or why a turn that begins now would not get anywhere."""
        return self._driver.condition()

    # ----------------------------------------------------------------- the port's three

    async def submit(self, run_id: str) -> bool:
        """Execute a run here, from wherever the journal says it is; False when it is over."""
        return await self._driver.take_up(run_id)

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
        await self._driver.cancel(session_id, found)
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
        thinking_limit: ThinkingLimit | None = None,
        client_id: str | None = None,
    ) -> Sent:
        """A new turn; it queues while another run of the session is on. `level`, `mode` and
        `thinking_limit` hold for this turn only."""
        own: list[Part] = [TextPart(text=text, id=new_id("p"))] if text else []
        new = ops.new_run([*own, *parts], level=level, mode=mode, thinking_limit=thinking_limit)
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
        await self._driver.wait(run_id)

    async def steer(self, session_id: str, text: str, *, client_id: str | None = None) -> bool:
        """Words for the running turn, read before its next model call; False when none runs."""
        said: list[tuple[str, int]] = []

        def work(tx: Tx) -> bool:
            found = ops.steer(tx, session_id, text)
            said.extend([found] if found else [])
            return found is not None

        taken: bool = await self._store.command(client_id, "steer", session_id, work)
        for run_id, number in said:
            if (control := self._driver.control(session_id, run_id)) is not None:
                control.steer(number, text)
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

    async def answer_now(
        self, session_id: str, *, run_id: str | None = None, client_id: str | None = None
    ) -> bool:
        """End the running turn's thinking: it answers with what there is. False when none runs."""

        def which(tx: Tx) -> str | None:
            on = next((r for r in runs.of_session(tx, session_id) if r.status == "running"), None)
            return on.id if on is not None and run_id in (None, on.id) else None

        found: str | None = await self._store.command(client_id, "answer_now", session_id, which)
        if found is None:
            return False
        if (control := self._driver.control(session_id, found)) is not None:
            control.answer_now()
        return True

    async def compact(self, session_id: str, *, client_id: str | None = None) -> None:
        """Make the context shorter, in a run of its own that waits for the one that is on."""
        await self._submit_new(
            client_id, "compact", session_id, lambda _tx: (session_id, ops.room_run())
        )

    async def approve(
        self,
        session_id: str,
        approval_id: str,
        approval: Approval,
        *,
        by: str | None = None,
        client_id: str | None = None,
    ) -> None:
        """The person's word on a call; the run that waits for it goes on. `unknown_wait`."""
        await self.resolve_wait(
            session_id,
            approval_id,
            approval.decision,
            details={**msgspec.structs.asdict(approval), "by": by},
            kind="approval_request",
            client_id=client_id,
        )

    async def answer_question(
        self, session_id: str, question_id: str, answer: str, *, client_id: str | None = None
    ) -> None:
        """The person's answer; the run that waits for it goes on. `unknown_wait`."""
        await self.resolve_wait(
            session_id,
            question_id,
            "answered",
            details={"answer": answer},
            kind="question",
            client_id=client_id,
        )

    async def approve_plan(
        self,
        session_id: str,
        plan_id: str,
        revision: int,
        *,
        by: str | None = None,
        client_id: str | None = None,
    ) -> None:
        """The draft comes into force and build mode with it, also inside a running turn; `by`
        says who approved it, for the record. `UserError` code `stale_plan`."""
        await self._store.command(
            client_id,
            "approve_plan",
            session_id,
            lambda tx: ops.approve_plan(tx, session_id, plan_id, revision, by=by),
        )
        if (control := self._driver.control(session_id)) is not None:
            control.set_mode("build")
            control.edited(await self._store.read(lambda tx: ops.edits(tx, session_id)))

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
        if (control := self._driver.control(session_id)) is not None:
            control.set_level(level)

    async def set_model(
        self, session_id: str, model: str, state: LevelState, *, client_id: str | None = None
    ) -> None:
        """Kept for the session's mode, in force from the next turn on."""
        await self._store.set_model(
            session_id, model, facts=[ModelUpdate(model=model, level=state)], client_id=client_id
        )

    async def set_mode(self, session_id: str, mode: Mode, *, client_id: str | None = None) -> None:
        """In force at once, also inside a running turn and for the sub-agents at work."""
        await self._store.set_mode(session_id, mode, client_id=client_id)
        for one in await self._store.read(lambda tx: ops.at_work(tx, session_id)):
            if one != session_id:
                await self._store.set_mode(one, mode)
            if (control := self._driver.control(one)) is not None:
                control.set_mode(mode)

    async def todo_edit(
        self, session_id: str, todos: Sequence[Todo], *, client_id: str | None = None
    ) -> None:
        """The list as the person has made it; a running turn takes it over at its next step."""
        await self._store.put_todos(session_id, todos, by="person", client_id=client_id)
        if (control := self._driver.control(session_id)) is not None:
            control.edited(Edits(todos=list(todos)))

    async def resolve_wait(
        self,
        session_id: str,
        wait_id: str,
        decision: str,
        *,
        details: dict[str, Any] | None = None,
        kind: ops.WaitKind | None = None,
        client_id: str | None = None,
    ) -> None:
        """A person's answer to an approval or a question; a run parked on it goes on.

        `UserError` code `unknown_wait`.
        """
        freed: str | None = await self._store.command(
            client_id,
            "resolve_wait",
            session_id,
            lambda tx: ops.resolve_wait(
                tx, session_id, wait_id, decision, details or {}, kind=kind
            ),
        )
        if freed is not None and not self._driver.stopping:
            await self.submit(freed)

    # --------------------------------------------------------------------------- inside

    async def _submit_new(
        self,
        client_id: str | None,
        kind: str,
        session_id: str,
        make: Callable[[Tx], tuple[str, NewRun]],
    ) -> Sent:
        if self._driver.stopping:
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
            self._driver.spawn(begun)
        run = await self._store.read(lambda tx: runs.read(tx, made.run_id))
        return Sent(
            session_id=made.session_id,
            run_id=made.run_id,
            message_id=made.message_id,
            queued=run is not None and run.status == "queued",
        )

    async def _wait_is_over(self, wait_id: str) -> bool:
        return await self._store.read(lambda tx: runs.wait_is_over(tx, wait_id))


def _no_model() -> str:
    raise UserError("No model is chosen.", code="no_model", setting="model")
