"""Runs: queued, taken up, parked, finished; one at a time in a session."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import sqlalchemy as sa

from silu.store import children, deltas, log, messages, misc, schema, views
from silu.store.api import Asked, NewRun, Run, RunRef, RunState, StaleRunError
from silu.store.ids import new_id
from silu.store.sql import Tx
from silu.types.agents import ThinkingLimit
from silu.types.facts import (
    DoneReason,
    FactData,
    MessageAdded,
    QueuedSend,
    QueueUpdate,
    RunStatus,
    WaitResolved,
)
from silu.types.levels import parse_level
from silu.types.parts import (
    Message,
    Part,
    TextPart,
    decode_parts,
    encode_parts,
    text_of,
)
from silu.types.policy import Rule

_r = schema.runs
_s = schema.sessions
_st = schema.steers

_RULES = "approval.rules"


def submit(tx: Tx, session_id: str, new: NewRun) -> None:
    """Queue a turn; the person's message joins the history when the turn begins."""
    tx.execute(
        sa.insert(_r),
        {
            "id": new.id,
            "session_id": session_id,
            "status": "queued",
            "user_message_id": new.message_id,
            "input": encode_parts(new.parts).decode() if new.message_id is not None else None,
            "turn_level": new.turn_level,
            "turn_mode": new.turn_mode,
            "thinking_limit": json_of(new.thinking_limit),
            "created_at": tx.now,
        },
    )


def take_next(tx: Tx, session_id: str, *, tell: bool = True) -> RunRef | None:
    """Begin the oldest queued run of a session in which none is on, and tell what stays queued."""
    row = tx.execute(
        sa.select(_s.c.running_run).where(_s.c.id == session_id).with_for_update()
    ).first()
    if row is None or row.running_run is not None:
        return None
    run_id = tx.execute(
        sa.select(_r.c.id)
        .where(_r.c.session_id == session_id, _r.c.status == "queued")
        .order_by(_r.c.created_at, _r.c.id)
        .limit(1)
    ).scalar()
    if run_id is None:
        return None
    ref = take_up(tx, run_id)
    if tell:
        tell_queue(tx, session_id)
    return ref


def take_up(tx: Tx, run_id: str) -> RunRef | None:
    """A new attempt at a run: the fence moves, whoever worked on it before is stale.

    `None` when the run is over or unknown.
    """
    row = tx.execute(sa.select(_r).where(_r.c.id == run_id)).first()
    if row is None or row.status == "done":
        return None
    fence = tx.execute(
        sa.update(_s)
        .where(_s.c.id == row.session_id)
        .values(fence=_s.c.fence + 1, running_run=run_id)
        .returning(_s.c.fence)
    ).scalar_one()
    tx.execute(
        sa.update(_r)
        .where(_r.c.id == run_id)
        .values(
            status="running",
            fence=fence,
            attempts=_r.c.attempts + 1,
            stalled=_r.c.stalled + 1,
            started_at=sa.func.coalesce(_r.c.started_at, tx.now),
            wait_id=None,
        )
    )
    log.touch(tx, row.session_id)
    if row.status == "queued":
        _begin(tx, row)
    return RunRef(run_id=run_id, session_id=row.session_id, fence=fence)


def _begin(tx: Tx, row: sa.Row[Any]) -> None:
    if row.user_message_id is None:
        return
    message = Message(id=row.user_message_id, role="user", parts=decode_parts(row.input))
    messages.put(tx, row.session_id, message, run_id=row.id)
    tx.execute(sa.update(_r).where(_r.c.id == row.id).values(input=None))
    messages.note_last(tx, row.session_id, message)
    added = MessageAdded(
        message_id=message.id,
        role="user",
        text=text_of(message),
        attachments=views.attached(message),
    )
    log.append(tx, row.session_id, row.id, [added])


def guard(tx: Tx, ref: RunRef) -> None:
    """Refuse what a stale attempt wants to write."""
    if deltas.fence_of(tx, ref.session_id) != ref.fence:
        raise StaleRunError(ref.run_id)


def queue(tx: Tx, session_id: str) -> list[QueuedSend]:
    rows = tx.execute(
        sa.select(_r.c.user_message_id, _r.c.input)
        .where(
            _r.c.session_id == session_id,
            _r.c.status == "queued",
            _r.c.user_message_id.is_not(None),
        )
        .order_by(_r.c.created_at, _r.c.id)
    )
    return [QueuedSend(message_id=row.user_message_id, text=_input_text(row.input)) for row in rows]


def tell_queue(tx: Tx, session_id: str) -> None:
    log.append(tx, session_id, None, [QueueUpdate(queue=queue(tx, session_id))])


def edit_queued(tx: Tx, session_id: str, message_id: str, text: str | None) -> bool:
    """Change a queued message's text, or take it out (`None`); False when it is not queued."""
    found = tx.execute(
        sa.select(_r.c.id, _r.c.input).where(
            _r.c.session_id == session_id,
            _r.c.user_message_id == message_id,
            _r.c.status == "queued",
        )
    ).first()
    if found is None:
        return False
    if text is None:
        tx.execute(sa.delete(_r).where(_r.c.id == found.id))
    else:
        parts = [part for part in decode_parts(found.input) if not isinstance(part, TextPart)]
        new: list[Part] = [TextPart(text=text), *parts]
        tx.execute(
            sa.update(_r).where(_r.c.id == found.id).values(input=encode_parts(new).decode())
        )
    tell_queue(tx, session_id)
    return True


def park(tx: Tx, ref: RunRef, wait_id: str) -> bool:
    """Put a run aside until its wait is over; False when it already is, so that the caller
    takes it up again at once."""
    guard(tx, ref)
    if wait_is_over(tx, wait_id):
        return False
    tx.execute(
        sa.update(_r)
        .where(_r.c.id == ref.run_id)
        .values(status="parked", wait_id=wait_id, stalled=0)
    )
    log.touch(tx, ref.session_id)
    return True


def finish(
    tx: Tx,
    ref: RunRef,
    status: RunStatus,
    *,
    reason: DoneReason | None,
    facts: Sequence[FactData],
) -> None:
    """End a run; its session is free for the next one, and nothing of it waits any more."""
    guard(tx, ref)
    waits = schema.approvals
    left = tx.execute(
        sa.select(waits.c.id).where(waits.c.run_id == ref.run_id, waits.c.status == "open")
    ).scalars()
    over = [WaitResolved(wait_id=wait_id, decision="ended") for wait_id in left]
    tx.execute(
        sa.update(_r)
        .where(_r.c.id == ref.run_id)
        .values(status="done", outcome=status, reason=reason, ended_at=tx.now)
    )
    tx.execute(sa.update(_s).where(_s.c.id == ref.session_id).values(running_run=None))
    log.touch(tx, ref.session_id)
    log.append(tx, ref.session_id, ref.run_id, [*over, *facts])
    _queue_unread(tx, ref)


def _queue_unread(tx: Tx, ref: RunRef) -> None:
    """What was said to a run after its last look becomes the person's next message."""
    said = open_steers(tx, ref.run_id)
    run = read(tx, ref.run_id)
    if not said or run is None:
        return
    take_steers(tx, ref.run_id, said[-1][0])
    text = "\n\n".join(words for _, words in said)
    new = NewRun(
        id=new_id("r"),
        message_id=new_id("m"),
        parts=[TextPart(text=text, id=new_id("p"))],
        turn_level=run.turn_level,
        turn_mode=run.turn_mode,
        thinking_limit=run.thinking_limit,
    )
    submit(tx, ref.session_id, new)
    tell_queue(tx, ref.session_id)


def let_go(tx: Tx, session_id: str, choice: Literal["turn_mode", "turn_level"]) -> None:
    """What the run that is on was sent with gives way to what the person chose since."""
    on = (_r.c.session_id == session_id, _r.c.status.in_(("running", "parked")))
    tx.execute(sa.update(_r).where(*on).values({choice: None}))


def unfinished(tx: Tx) -> list[Run]:
    """Runs an earlier process left running, queued, or parked on a wait that is over."""
    rows = tx.execute(
        sa.select(_r).where(_r.c.status != "done").order_by(_r.c.created_at, _r.c.id)
    ).all()
    return [_run(row) for row in rows]


def wait_is_over(tx: Tx, wait_id: str) -> bool:
    approvals = schema.approvals
    status = tx.execute(sa.select(approvals.c.status).where(approvals.c.id == wait_id)).scalar()
    return status == "answered" or children.is_over(tx, wait_id)


def read(tx: Tx, run_id: str) -> Run | None:
    row = tx.execute(sa.select(_r).where(_r.c.id == run_id)).first()
    return None if row is None else _run(row)


def of_session(tx: Tx, session_id: str | None) -> list[Run]:
    """Runs that are not over, of one session or of all."""
    query = sa.select(_r).where(_r.c.status != "done").order_by(_r.c.created_at, _r.c.id)
    if session_id is not None:
        query = query.where(_r.c.session_id == session_id)
    return [_run(row) for row in tx.execute(query)]


def steer(tx: Tx, session_id: str, run_id: str, text: str) -> int:
    """Keep words for a run; their number."""
    values = {"session_id": session_id, "run_id": run_id, "text": text, "ts": tx.now}
    return tx.execute(sa.insert(_st).values(**values).returning(_st.c.id)).scalar_one()


def answer_wait(
    tx: Tx, session_id: str, wait_id: str, details: dict[str, Any], *, kind: str | None = None
) -> bool:
    """Keep a person's answer; False when nothing open (of that kind) goes by that id in the
    session or its sub-agents."""
    approvals = schema.approvals
    done = tx.execute(
        sa.update(approvals)
        .where(
            approvals.c.id == wait_id,
            approvals.c.session_id.in_(children.family(tx, session_id)),
            approvals.c.status == "open",
            *([] if kind is None else [approvals.c.kind == kind]),
        )
        .values(
            scope=details.get("scope"),
            answer=msgspec.json.encode(details).decode(),
            decided_at=tx.now,
        )
    )
    return done.rowcount == 1


def asked(tx: Tx, session_id: str, run_id: str) -> Asked:
    """What the person said to a run before, and the rules in force."""
    table = schema.approvals
    rows = tx.execute(
        sa.select(table.c.id, table.c.answer).where(
            table.c.run_id == run_id, table.c.answer.is_not(None)
        )
    )
    return Asked(
        answers={row.id: msgspec.json.decode(row.answer) for row in rows},
        rules=[*rules(tx), *rules(tx, session_id)],
    )


def rules(tx: Tx, session_id: str | None = None) -> list[Rule]:
    """What a person allowed and denied: for all sessions, or for this one beyond that."""
    if session_id is None:
        return msgspec.convert(misc.setting(tx, _RULES) or [], list[Rule])
    kept = tx.execute(sa.select(_s.c.rules).where(_s.c.id == session_id)).scalar()
    return msgspec.json.decode(kept, type=list[Rule]) if kept else []


def set_rules(tx: Tx, kept: Sequence[Rule], session_id: str | None = None) -> None:
    """Put these in their place."""
    if session_id is None:
        misc.set_setting(tx, _RULES, msgspec.to_builtins(kept))
        return
    text = msgspec.json.encode(kept).decode()
    tx.execute(sa.update(_s).where(_s.c.id == session_id).values(rules=text))


def add_rule(tx: Tx, session_id: str, rule: Rule, *, for_good: bool) -> None:
    """Keep what was allowed or denied, for this session or for all."""
    where = None if for_good else session_id
    set_rules(tx, [*rules(tx, where), rule], where)


def parked_on(tx: Tx, wait_id: str) -> str | None:
    """The run that waits for this."""
    return tx.execute(
        sa.select(_r.c.id).where(_r.c.wait_id == wait_id, _r.c.status == "parked")
    ).scalar()


def owner_of_wait(tx: Tx, wait_id: str) -> str:
    """The session whose run asked: the named one's, or that of a sub-agent."""
    table = schema.approvals
    return tx.execute(sa.select(table.c.session_id).where(table.c.id == wait_id)).scalar_one()


def open_steers(tx: Tx, run_id: str) -> list[tuple[int, str]]:
    """What was said to a run and has not reached the model: (id, text), oldest first."""
    rows = tx.execute(
        sa.select(_st.c.id, _st.c.text)
        .where(_st.c.run_id == run_id, _st.c.taken.is_(False))
        .order_by(_st.c.id)
    )
    return [(row.id, row.text) for row in rows]


def take_steers(tx: Tx, run_id: str, upto: int) -> None:
    tx.execute(sa.update(_st).where(_st.c.run_id == run_id, _st.c.id <= upto).values(taken=True))


def _run(row: sa.Row[Any]) -> Run:
    state: RunState = row.status
    return Run(
        id=row.id,
        session_id=row.session_id,
        status=state,
        user_message_id=row.user_message_id,
        turn_level=None if row.turn_level is None else parse_level(row.turn_level),
        turn_mode=row.turn_mode,
        thinking_limit=limit_of(row),
        stalled=row.stalled,
        wait_id=row.wait_id,
        started_at=row.started_at,
        outcome=row.outcome,
        reason=row.reason,
    )


def limit_of(row: sa.Row[Any]) -> ThinkingLimit | None:
    """The thinking limit of a session's or a run's row."""
    text: str | None = row.thinking_limit
    return None if text is None else msgspec.json.decode(text, type=ThinkingLimit)


def json_of(value: ThinkingLimit | None) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


def _input_text(parts: str | None) -> str:
    if not parts:
        return ""
    return "".join(part.text for part in decode_parts(parts) if isinstance(part, TextPart))
