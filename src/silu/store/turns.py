"""What a running turn writes: messages as far as they got, finished calls, the tool journal.

Every function refuses a stale attempt (`StaleRunError`) and takes the facts that become durable
with it.
"""

import zlib
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
import sqlalchemy as sa

from silu.store import deltas, log, messages, runs, schema, telling
from silu.store.api import CallRow, EpochRow, RunRef, StaleRunError, TurnRow
from silu.store.plans import every as all_plans
from silu.store.plans import put_plan
from silu.store.sessions import read as read_session
from silu.store.sql import Sql, Tx
from silu.store.todos import replace as replace_todos
from silu.types.errors import UserError
from silu.types.facts import Done as DoneFact
from silu.types.facts import DoneReason, FactData, RunStatus, TokenCount
from silu.types.parts import Message, ToolCallPart, ToolResultPart
from silu.types.skills import SkillRecord
from silu.types.todos import Plan, Todo

_r = schema.runs
_m = schema.messages
_st = schema.steps
_t = schema.tool_journal
_e = schema.epochs
_u = schema.usage

_GOT_ON = Sql(sa.update(_r).where(_r.c.id == sa.bindparam("run")).values(stalled=0))


def load(tx: Tx, ref: RunRef) -> TurnRow:
    """Everything a turn starts from; when it is resumed, without its unfinished step."""
    runs.guard(tx, ref)
    run = runs.read(tx, ref.run_id)
    if run is None:
        raise StaleRunError(ref.run_id)
    epoch = last_epoch(tx, ref.session_id)
    steps_done = count_steps(tx, ref.run_id)
    undone = _undone(tx, ref.run_id)
    return TurnRow(
        run=run,
        session=read_session(tx, ref.session_id, mode=run.turn_mode),
        history=[
            message for message in messages.history(tx, ref.session_id) if message.id not in undone
        ],
        epoch=epoch,
        steps_done=steps_done,
        attempt=_last_attempt(tx, ref, steps_done),
        open_calls=open_calls(tx, ref.run_id, steps_done - 1),
        spent=spent(tx, ref.run_id),
        plans=all_plans(tx, ref.session_id),
        compacted=_compacted(tx, ref.session_id),
        skills=skills(tx, ref.run_id),
    )


def skills(tx: Tx, run_id: str) -> list[SkillRecord]:
    """The skills a run used, in order."""
    table = schema.skills
    rows = tx.execute(sa.select(table).where(table.c.run_id == run_id).order_by(table.c.started_at))
    return [
        SkillRecord(
            skill_id=row.skill_id,
            name=row.name,
            label=row.label,
            status=row.status,
            result=row.result or "",
            result_type=row.result_type or "markdown",
            started_at=row.started_at,
            ended_at=row.ended_at,
        )
        for row in rows
    ]


def put_message(
    tx: Tx,
    ref: RunRef,
    message: Message,
    *,
    step: int,
    attempt: int,
    final: bool,
    facts: Sequence[FactData] = (),
) -> None:
    """Insert or replace a message by id; its text replaces the deltas it covers."""
    runs.guard(tx, ref)
    is_answer = message.role == "assistant"
    messages.put(
        tx,
        ref.session_id,
        message,
        run_id=ref.run_id,
        step=step if is_answer else None,
        attempt=attempt,
        final=final or not is_answer,
    )
    if is_answer:
        _answered(tx, ref, message, step=step, attempt=attempt, final=final)
    log.append(tx, ref.session_id, ref.run_id, facts)


def end_step(
    tx: Tx, ref: RunRef, step: int, *, call: CallRow, facts: Sequence[FactData] = ()
) -> None:
    """Keep a finished model call: its usage and the inspector's row."""
    runs.guard(tx, ref)
    key = {"run_id": ref.run_id, "step": step, "attempt": call.attempt}
    tx.upsert(
        _u,
        {
            **key,
            "session_id": ref.session_id,
            "model": call.model,
            **call.tokens,
            "cost": call.cost,
            "ts": tx.now,
        },
    )
    message_id = tx.execute(
        sa.select(_st.c.message_id).where(_st.c.run_id == ref.run_id, _st.c.step == step)
    ).scalar()
    tx.upsert(
        schema.calls,
        {
            "id": f"{ref.run_id}.{step}.{call.attempt}",
            **key,
            "session_id": ref.session_id,
            "message_id": message_id,
            "record": msgspec.json.encode(call.record).decode(),
            "body": zlib.compress(call.body.encode(), 3),
            "started_at": call.started_at,
        },
    )
    if message_id is not None:
        telling.called(tx, message_id, call)
    log.append(tx, ref.session_id, ref.run_id, facts)


def start_epoch(
    tx: Tx,
    ref: RunRef,
    epoch: EpochRow,
    *,
    compacted: str | None = None,
    facts: Sequence[FactData] = (),
) -> None:
    """Keep what is sent from now on; `compacted` (JSON) says how the history is made shorter."""
    runs.guard(tx, ref)
    values = {
        "session_id": ref.session_id,
        "created_at": tx.now,
        "compacted": compacted,
        **msgspec.structs.asdict(epoch),
    }
    tx.upsert(_e, values)
    table = schema.sessions
    tx.execute(sa.update(table).where(table.c.id == ref.session_id).values(renew=False))
    log.append(tx, ref.session_id, ref.run_id, facts)


def last_epoch(tx: Tx, session_id: str) -> EpochRow | None:
    row = tx.execute(
        sa.select(_e).where(_e.c.session_id == session_id).order_by(_e.c.number.desc()).limit(1)
    ).first()
    if row is None:
        return None
    return EpochRow(
        id=row.id,
        number=row.number,
        reason=row.reason,
        model=row.model,
        system=row.system,
        tools_json=row.tools_json,
        tag=row.tag,
        first_message=row.first_message,
        sources=row.sources,
    )


def tool_started(tx: Tx, ref: RunRef, call_id: str, *, facts: Sequence[FactData] = ()) -> None:
    """Note that a tool is about to act; the session's workspace stays where it is from now on."""
    runs.guard(tx, ref)
    _journal(tx, ref, call_id, status="started", started_at=tx.now)
    sessions = schema.sessions
    tx.execute(
        sa.update(sessions).where(sessions.c.id == ref.session_id).values(workspace_locked=True)
    )
    log.append(tx, ref.session_id, ref.run_id, facts)


def tool_finished(
    tx: Tx, ref: RunRef, message: Message, *, step: int, facts: Sequence[FactData] = ()
) -> None:
    """Write a `tool` message; the calls it answers are finished."""
    runs.guard(tx, ref)
    messages.put(tx, ref.session_id, message, run_id=ref.run_id, step=step)
    for part in message.parts:
        if isinstance(part, ToolResultPart):
            _journal(
                tx,
                ref,
                part.call_id,
                status="unknown" if part.status == "unknown" else "finished",
                result_status=part.status,
                finished_at=tx.now,
            )
    log.append(tx, ref.session_id, ref.run_id, facts)


def put_todos(
    tx: Tx, ref: RunRef, todos: list[Todo], *, by: str, facts: Sequence[FactData]
) -> None:
    runs.guard(tx, ref)
    replace_todos(tx, ref.session_id, todos, by=by, run_id=ref.run_id)
    log.append(tx, ref.session_id, ref.run_id, facts)


def put_plans(
    tx: Tx,
    ref: RunRef,
    plans: Sequence[Plan],
    todos: list[Todo],
    *,
    by: str,
    facts: Sequence[FactData],
) -> None:
    """Write revisions of the plan and the todo list, as one."""
    runs.guard(tx, ref)
    for plan in plans:
        put_plan(tx, ref.session_id, plan)
    replace_todos(tx, ref.session_id, todos, by=by, run_id=ref.run_id)
    log.append(tx, ref.session_id, ref.run_id, facts)


def mark_refused(tx: Tx, ref: RunRef, message_id: str, part: str | None, endpoint: str) -> None:
    """Note that an endpoint refused a kept block: it is not sent there again."""
    runs.guard(tx, ref)
    messages.place_of(tx, ref.session_id, message_id)
    message = messages.read(tx, message_id)
    if message is None:
        raise UserError(f"There is no message {message_id}.", code="unknown_message")
    for kept in message.continuity:
        if part in (None, kept.part) and endpoint not in kept.refused_by:
            kept.refused_by.append(endpoint)
    text = msgspec.json.encode(message.continuity).decode()
    tx.execute(sa.update(_m).where(_m.c.id == message_id).values(thinking_metadata=text))


def finish(
    tx: Tx,
    ref: RunRef,
    status: RunStatus,
    *,
    reason: DoneReason | None,
    facts: Sequence[FactData],
) -> None:
    """End the run; its last answer gets the run's token usage and skill cards."""
    runs.finish(tx, ref, status, reason=reason, facts=facts)
    tx.execute(
        sa.delete(schema.deltas).where(
            schema.deltas.c.session_id == ref.session_id, schema.deltas.c.run_id == ref.run_id
        )
    )
    for fact in facts:
        if isinstance(fact, DoneFact):
            _note_outcome(tx, ref, fact)


def _note_outcome(tx: Tx, ref: RunRef, done: DoneFact) -> None:
    usage = msgspec.json.encode(done.usage).decode()
    error = msgspec.json.encode(done.error).decode() if done.error else None
    tx.execute(sa.update(_r).where(_r.c.id == ref.run_id).values(usage=usage, error=error))
    telling.ended(tx, ref, done)


def _answered(
    tx: Tx, ref: RunRef, message: Message, *, step: int, attempt: int, final: bool
) -> None:
    whole = final and not message.interrupted
    tx.upsert(
        _st,
        {
            "run_id": ref.run_id,
            "step": step,
            "status": "done" if whole else "running",
            "message_id": message.id,
            "attempt": attempt,
            "started_at": tx.now,
            "ended_at": tx.now if final else None,
        },
        keep=("started_at",),
    )
    if not final:
        deltas.drop_covered(tx, ref.session_id, message.parts, attempt=attempt)
        return
    deltas.drop_message(tx, ref.session_id, message.id)
    messages.note_last(tx, ref.session_id, message)
    if whole:
        tx.run(_GOT_ON, {"run": ref.run_id})
        _propose(tx, ref, message, step)


def _propose(tx: Tx, ref: RunRef, message: Message, step: int) -> None:
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            tx.upsert(
                _t,
                {
                    "run_id": ref.run_id,
                    "step": step,
                    "call_id": part.call_id,
                    "session_id": ref.session_id,
                    "message_id": message.id,
                    "name": part.name,
                    "status": "proposed",
                    "proposed_at": tx.now,
                },
                keep=("status", "proposed_at"),
            )


def _journal(tx: Tx, ref: RunRef, call_id: str, **values: Any) -> None:
    # Some vendors number their calls anew in every answer: the newest of that name is meant.
    newest = (
        sa.select(sa.func.max(_t.c.step))
        .where(_t.c.run_id == ref.run_id, _t.c.call_id == call_id)
        .scalar_subquery()
    )
    tx.execute(
        sa.update(_t)
        .where(_t.c.run_id == ref.run_id, _t.c.call_id == call_id, _t.c.step == newest)
        .values(**values)
    )


def count_steps(tx: Tx, run_id: str) -> int:
    done = sa.select(sa.func.count()).where(_st.c.run_id == run_id, _st.c.status == "done")
    return tx.execute(done).scalar_one()


def _undone(tx: Tx, run_id: str) -> set[str]:
    """Messages of steps that did not end: people see them, the model starts that step anew."""
    rows = tx.execute(
        sa.select(_st.c.message_id).where(_st.c.run_id == run_id, _st.c.status != "done")
    )
    return {row.message_id for row in rows if row.message_id}


def _last_attempt(tx: Tx, ref: RunRef, step: int) -> int:
    """At least the highest attempt number of the step that a client can have seen.

    One that was sent and not yet flushed when a process died is unknown: each time a run that
    had been told of is taken up again counts for one more.
    """
    d, f = schema.deltas, schema.facts
    known = [
        sa.select(_st.c.attempt).where(_st.c.run_id == ref.run_id, _st.c.step == step),
        sa.select(sa.func.max(_u.c.attempt)).where(_u.c.run_id == ref.run_id, _u.c.step == step),
        sa.select(sa.func.max(d.c.attempt)).where(
            d.c.session_id == ref.session_id, d.c.run_id == ref.run_id
        ),
        sa.select(_r.c.last_attempt).where(_r.c.id == ref.run_id),
    ]
    highest = max(tx.execute(query).scalar() or 0 for query in known)
    begun = sa.exists(
        sa.select(f.c.n).where(
            f.c.session_id == ref.session_id,
            f.c.run_id == ref.run_id,
            f.c.type == "run_start",
        )
    )
    if tx.execute(sa.select(begun)).scalar():
        highest += 1
        tx.execute(sa.update(_r).where(_r.c.id == ref.run_id).values(last_attempt=highest))
    return highest


def open_calls(tx: Tx, run_id: str, step: int) -> dict[str, Literal["proposed", "started"]]:
    rows = tx.execute(
        sa.select(_t.c.call_id, _t.c.status)
        .where(_t.c.run_id == run_id, _t.c.step == step, _t.c.finished_at.is_(None))
        .order_by(_t.c.proposed_at)
    )
    return {row.call_id: "started" if row.status == "started" else "proposed" for row in rows}


def spent(tx: Tx, run_id: str) -> TokenCount | None:
    total = sa.func.sum
    row = tx.execute(
        sa.select(
            total(_u.c.input_tokens),
            total(_u.c.output_tokens),
            total(_u.c.reasoning_tokens),
            total(_u.c.cache_read_tokens),
            sa.func.count(),
            total(_u.c.cost),
        ).where(_u.c.run_id == run_id)
    ).one()
    numbers: list[Any] = list(row)
    tokens_in, tokens_out, thought, cached, count, cost = numbers
    if not count:
        return None
    return TokenCount(
        input_tokens=_whole(tokens_in),
        output_tokens=_whole(tokens_out),
        total_tokens=_whole(
            None
            if tokens_in is None and tokens_out is None
            else (tokens_in or 0) + (tokens_out or 0)
        ),
        reasoning_tokens=_whole(thought),
        cached_tokens=_whole(cached),
        api_calls=count,
        cost=cost,
    )


def _whole(number: Any) -> int | None:
    # PostgreSQL sums bigint columns to numeric.
    return None if number is None else int(number)


def _compacted(tx: Tx, session_id: str) -> str | None:
    """How the history is sent since the last compaction."""
    return tx.execute(
        sa.select(_e.c.compacted)
        .where(_e.c.session_id == session_id, _e.c.compacted.is_not(None))
        .order_by(_e.c.number.desc())
        .limit(1)
    ).scalar()
