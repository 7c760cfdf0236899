"""What the engine asks of the store in one transaction each: whole steps of a run's life."""

from typing import Any, Literal

import msgspec

from silu.agent.control import plan_update
from silu.agent.plan import Plans
from silu.agent.ports import ChildWish, Edits
from silu.agent.skills import close
from silu.store import audit, children, log, messages, plans, recover, runs, sessions, todos, turns
from silu.store.api import Asked, ChildRow, NewRun, NewSession, RunRef
from silu.store.ids import new_id
from silu.store.sql import Tx
from silu.types.agents import ThinkingLimit
from silu.types.errors import ToolError, UserError
from silu.types.facts import (
    Done,
    DoneReason,
    ErrorInfo,
    Mode,
    RunStatus,
    TokenCount,
    WaitResolved,
)
from silu.types.levels import LevelChoice
from silu.types.parts import Message, NoticePart, Part, TextPart

KEEP_FACTS = 5_000

WaitKind = Literal["approval_request", "question"]


class Begun(msgspec.Struct, kw_only=True):
    """A run that is taken up: what its controls start from."""

    ref: RunRef
    mode: Mode
    started_at: int
    stalled: int
    steering: list[tuple[int, str]]
    asked: Asked
    depth: int


class Submitted(msgspec.Struct, kw_only=True):
    """`message_id` is `None` for a run that only makes room."""

    session_id: str
    run_id: str
    message_id: str | None


def submit(tx: Tx, session_id: str, new: NewRun) -> tuple[Submitted, RunRef | None]:
    """Queue a turn and begin it when the session is free."""
    sessions.require(tx, session_id)
    runs.submit(tx, session_id, new)
    ref = runs.take_next(tx, session_id, tell=False)
    if ref is None or ref.run_id != new.id:
        runs.tell_queue(tx, session_id)
    made = Submitted(session_id=session_id, run_id=new.id, message_id=new.message_id)
    return made, ref


def begun(tx: Tx, ref: RunRef) -> Begun:
    run = runs.read(tx, ref.run_id)
    session = sessions.read(tx, ref.session_id)
    assert run is not None
    return Begun(
        ref=ref,
        mode=run.turn_mode or session.mode,
        started_at=run.started_at or tx.now,
        stalled=run.stalled,
        steering=runs.open_steers(tx, ref.run_id),
        asked=runs.asked(tx, ref.session_id, ref.run_id),
        depth=len(children.ancestors(tx, ref.session_id)),
    )


def take_up(tx: Tx, run_id: str) -> Begun | None:
    """Go on with a run after its last finished step; what was cut stays for people."""
    ref = runs.take_up(tx, run_id)
    if ref is None:
        return None
    recover.close_blocks(tx, ref)
    return begun(tx, ref)


def take_next(tx: Tx, session_id: str) -> Begun | None:
    ref = runs.take_next(tx, session_id)
    return None if ref is None else begun(tx, ref)


def end(
    tx: Tx,
    ref: RunRef,
    status: RunStatus,
    *,
    reason: DoneReason | None,
    error: ErrorInfo | None = None,
) -> None:
    """End a run that did not end itself: its loose ends tied, its work so far kept."""
    run = runs.read(tx, ref.run_id)
    if run is None or run.status == "done":
        return
    recover.close_blocks(tx, ref)
    recover.answer_open_calls(tx, ref)
    done = Done(
        status=status,
        reason=reason,
        finish_reason=None,
        usage=turns.spent(tx, ref.run_id) or TokenCount.nothing(),
    )
    if error is not None:
        done.error = error
    skills = turns.skills(tx, ref.run_id)
    told = close(skills, well=status == "completed")
    done.skill_executions = msgspec.to_builtins(skills)
    turns.finish(tx, ref, status, reason=reason, facts=[*told, done])


def cancel_parked(tx: Tx, run_id: str) -> bool:
    ref = runs.take_up(tx, run_id)
    if ref is None:
        return False
    end(tx, ref, "cancelled", reason="person")
    return True


def prune(tx: Tx, session_id: str) -> None:
    """Keep the log short enough, without doing it after every run."""
    head, start = log.reach(tx, session_id)
    if head - start > 2 * KEEP_FACTS:
        log.prune(tx, session_id, keep=KEEP_FACTS)


def steer(tx: Tx, session_id: str, text: str) -> tuple[str, int] | None:
    """Keep words for the running run: (run, number), `None` when none is on."""
    run_id = sessions.read(tx, session_id).run_id
    if run_id is None:
        return None
    return run_id, runs.steer(tx, session_id, run_id, text)


def resolve_wait(
    tx: Tx,
    session_id: str,
    wait_id: str,
    decision: str,
    details: dict[str, Any],
    *,
    kind: WaitKind | None = None,
) -> str | None:
    """Keep what the person decided, and free the run that is parked on it, in one transaction.

    Returns that run's id. `UserError` code `unknown_wait` when nothing waits for it.
    """
    if not runs.answer_wait(tx, session_id, wait_id, details, kind=kind):
        raise UserError("Nothing waits for this answer any more.", code="unknown_wait")
    owner = runs.owner_of_wait(tx, wait_id)
    log.append(tx, owner, None, [WaitResolved(wait_id=wait_id, decision=decision)])
    return runs.parked_on(tx, wait_id)


def approve_plan(tx: Tx, session_id: str, plan_id: str, revision: int, *, by: str | None) -> None:
    """The person's approval: the draft comes into force and the session goes to build mode.

    `UserError` code `stale_plan` when that revision is not the draft that is up for approval.
    """
    sessions.require(tx, session_id)
    kept = Plans(plans.every(tx, session_id), todos.read(tx, session_id))
    plan = kept.approve(plan_id, revision)
    for each in kept.revisions:
        plans.put_plan(tx, session_id, each)
    todos.replace(tx, session_id, kept.todos, by="person", run_id=None)
    log.append(tx, session_id, None, [plan_update(plan), todos.update_of(kept.todos)])
    sessions.set_mode(tx, session_id, "build")
    audit.plan_approved(tx, session_id, plan, by=by)


def edits(tx: Tx, session_id: str) -> Edits:
    """Todos and plans as they are kept now, for the turn that is on."""
    return Edits(todos=todos.read(tx, session_id), plans=plans.every(tx, session_id))


def edited(tx: Tx, session_id: str, message_id: str, text: str) -> tuple[str, list[Part]]:
    """The sibling session in which a person's message is to read otherwise, and its parts."""
    message = _person_message(tx, session_id, message_id)
    rest = [part for part in message.parts if not isinstance(part, TextPart | NoticePart)]
    fork_id = sessions.fork(tx, session_id, message_id, before=True)
    return fork_id, [TextPart(text=text, id=new_id("p")), *rest]


def regenerated(
    tx: Tx, session_id: str, message_id: str, *, model: str | None
) -> tuple[str, list[Part]]:
    """The sibling session in which the message that was answered is asked again."""
    messages.place_of(tx, session_id, message_id)
    asked_id = _asked(tx, session_id, message_id)
    message = _person_message(tx, session_id, asked_id)
    parts: list[Part] = [p for p in message.parts if not isinstance(p, NoticePart)]
    fork_id = sessions.fork(tx, session_id, asked_id, before=True)
    if model is not None:
        sessions.choose(tx, fork_id, model=model)
    return fork_id, parts


def new_run(
    parts: list[Part],
    *,
    level: LevelChoice | None = None,
    mode: Mode | None = None,
    thinking_limit: ThinkingLimit | None = None,
) -> NewRun:
    return NewRun(
        id=new_id("r"),
        message_id=new_id("m"),
        parts=parts,
        turn_level=level,
        turn_mode=mode,
        thinking_limit=thinking_limit,
    )


MOST_CHILDREN = 32
"""Sub-agents of one run."""


def child(tx: Tx, ref: RunRef, wish: ChildWish) -> tuple[ChildRow, Begun | None]:
    """The sub-agent of a call, begun now unless it was before."""
    runs.guard(tx, ref)
    known = children.of_wait(tx, wish.wait_id)
    if known is not None:
        return known, None
    if children.count(tx, ref.run_id) >= MOST_CHILDREN:
        raise ToolError(f"this run has had {MOST_CHILDREN} sub-agents, there are no more")
    parent = sessions.read(tx, ref.session_id)
    session_id = sessions.create(
        tx,
        NewSession(
            kind="child",
            parent_id=ref.session_id,
            title=wish.title,
            model=parent.model,
            level=None if wish.level == "default" else wish.level,
            mode=wish.mode,
            workspace=parent.workspace,
            language=parent.language,
            rules=parent.rules,
            agent=parent.agent,
        ),
    )
    new = new_run([TextPart(text=wish.prompt, id=new_id("p"))])
    row = ChildRow(
        wait_id=wish.wait_id,
        parent_session=ref.session_id,
        parent_run=ref.run_id,
        child_session=session_id,
        child_run=new.id,
        skill_id=wish.skill_id,
    )
    children.begin(tx, row)
    _, begun_ref = submit(tx, session_id, new)
    assert begun_ref is not None
    return row, begun(tx, begun_ref)


def at_work(tx: Tx, session_id: str) -> list[str]:
    """Of a session and its sub-agents' those with a run that is not over."""
    family = children.family(tx, session_id)
    return [one for one in family if runs.of_session(tx, one)]


def waits_for(tx: Tx, run_id: str) -> str | None:
    """The parked run that waits for just this one."""
    row = children.of_run(tx, run_id)
    return None if row is None else runs.parked_on(tx, row.wait_id)


def room_run() -> NewRun:
    """A run that makes the context shorter and answers nothing."""
    return NewRun(id=new_id("r"), message_id=None, parts=[])


def _asked(tx: Tx, session_id: str, message_id: str) -> str:
    run_id, _ = messages.origin(tx, message_id)
    run = runs.read(tx, run_id) if run_id else None
    if run is not None and run.user_message_id:
        return run.user_message_id
    found = messages.last_person_message(tx, session_id, upto=message_id)
    if found is None:
        raise UserError("No message of yours comes before this one.", code="bad_argument")
    return found


def _person_message(tx: Tx, session_id: str, message_id: str) -> Message:
    messages.place_of(tx, session_id, message_id)
    message = messages.read(tx, message_id)
    if message is None or message.role != "user":
        raise UserError("Only a message of yours can be asked again.", code="bad_argument")
    return message
