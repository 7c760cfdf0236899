"""The log of facts: numbered, kept and projected in one transaction."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy import bindparam

from silu.store import children, schema, telling
from silu.store.plans import put_plan
from silu.store.sql import Sql, Tx
from silu.types import facts as f
from silu.types.errors import UserError
from silu.types.frames import FactFrame
from silu.types.todos import Plan

_encoder = msgspec.json.Encoder()
_s = schema.sessions
_facts = schema.facts

_ADVANCE = Sql(
    sa.update(_s)
    .where(_s.c.id == bindparam("session"))
    .values(head=_s.c.head + bindparam("more", type_=sa.BigInteger))
    .returning(_s.c.head)
)
_INSERT = Sql(sa.insert(_facts))
_SINCE = Sql(
    sa.select(_facts.c.n, _facts.c.type, _facts.c.data, _facts.c.ts, _facts.c.run_id)
    .where(_facts.c.session_id == bindparam("session"), _facts.c.n > bindparam("since"))
    .order_by(_facts.c.n)
    .limit(bindparam("most", type_=sa.BigInteger))
)
_TOKENS = Sql(sa.update(_s).where(_s.c.id == bindparam("session")).values(tokens=bindparam("data")))
_HEAD = Sql(sa.select(_s.c.head, _s.c.log_start).where(_s.c.id == bindparam("session")))


def append(
    tx: Tx, session_id: str, run_id: str | None, data: Sequence[f.FactData]
) -> list[FactFrame]:
    """Number facts without a gap, keep them, and do what they mean for the other tables.

    What a person was asked before is not asked again: a run that is taken up comes to the same
    question anew, and the answer may be there by then.
    """
    data = [one for one in data if not _was_asked(tx, one)]
    if not data:
        return []
    frames = _number(tx, session_id, run_id, data)
    for frame, one in zip(frames, data, strict=True):
        _project(tx, frame, one)
    return frames


def _number(
    tx: Tx, session_id: str, run_id: str | None, data: Sequence[f.FactData]
) -> list[FactFrame]:
    """Give facts their numbers and keep them, nothing else."""
    row = tx.run(_ADVANCE, {"session": session_id, "more": len(data)}).fetchone()
    if row is None:
        raise unknown_session(session_id)
    first: int = row[0] - len(data) + 1
    frames = [
        FactFrame(
            type=f.fact_type(one),
            session_id=session_id,
            run_id=run_id,
            n=first + index,
            ts=tx.now,
            data=msgspec.Raw(_encoder.encode(one)),
        )
        for index, one in enumerate(data)
    ]
    tx.many(_INSERT, [_row(frame) for frame in frames])
    tx.facts += frames
    return frames


def since(tx: Tx, session_id: str, n: int, *, limit: int) -> list[FactFrame]:
    """Facts after `n`, oldest first."""
    cursor = tx.run(_SINCE, {"session": session_id, "since": n, "most": limit})
    return [
        FactFrame(
            type=kind,
            session_id=session_id,
            run_id=run_id,
            n=number,
            ts=ts,
            data=msgspec.Raw(data.encode()),
        )
        for number, kind, data, ts, run_id in cursor
    ]


def reach(tx: Tx, session_id: str) -> tuple[int, int]:
    """(head, start): the newest fact's number, and the one up to which the log was cut."""
    row = tx.run(_HEAD, {"session": session_id}).fetchone()
    if row is None:
        raise unknown_session(session_id)
    return row[0], row[1]


def prune(tx: Tx, session_id: str, *, keep: int) -> None:
    """Cut the log to its last `keep` facts; who is further behind gets a snapshot."""
    head, start = reach(tx, session_id)
    cut = head - keep
    if cut <= start:
        return
    tx.execute(sa.delete(_facts).where(_facts.c.session_id == session_id, _facts.c.n <= cut))
    tx.execute(sa.update(_s).where(_s.c.id == session_id).values(log_start=cut))


def touch(tx: Tx, session_id: str, **values: Any) -> None:
    """Change a session's row and tell the sidebars."""
    params = {"session": session_id, "now": tx.now, **{f"v_{k}": v for k, v in values.items()}}
    tx.run(_touching(tuple(values)), params)
    tx.touched.add(session_id)


@cache
def _touching(names: tuple[str, ...]) -> Sql:
    values = {name: bindparam(f"v_{name}", type_=_s.c[name].type) for name in names}
    return Sql(
        sa.update(_s)
        .where(_s.c.id == bindparam("session"))
        .values(changed=next_change(), updated_at=bindparam("now"), **values)
    )


def next_change() -> sa.ScalarSelect[Any]:
    """The next number of the sidebar's counter."""
    newest = sa.union_all(
        sa.select(sa.func.max(_s.c.changed).label("n")),
        sa.select(sa.func.max(schema.gone.c.changed).label("n")),
    ).subquery()
    return sa.select(sa.func.coalesce(sa.func.max(newest.c.n), 0) + 1).scalar_subquery()


def unknown_session(session_id: str) -> UserError:
    return UserError(f"There is no session {session_id}.", code="unknown_session")


def _row(frame: FactFrame) -> dict[str, Any]:
    return {
        "session_id": frame.session_id,
        "n": frame.n,
        "type": frame.type,
        "data": bytes(frame.data).decode(),
        "ts": frame.ts,
        "run_id": frame.run_id,
    }


def _project(tx: Tx, frame: FactFrame, data: f.FactData) -> None:
    match data:
        case f.RunStart():
            telling.begun(tx, data, frame.ts)
        case f.TokenUpdate():
            tx.run(_TOKENS, {"session": frame.session_id, "data": bytes(frame.data).decode()})
        case f.Done():
            touch(tx, frame.session_id, attention_n=frame.n)
            if frame.run_id is not None:
                children.over(tx, frame.run_id, data)
        case f.ApprovalRequest():
            _ask(tx, frame, data.approval_id, call_id=data.call_id)
            _pass_up(tx, frame, data)
        case f.Question():
            _ask(tx, frame, data.question_id, call_id=None)
            _pass_up(tx, frame, data)
        case f.WaitResolved():
            _answered(tx, frame, data)
            _pass_up(tx, frame, data)
        case f.TodoUpdate():
            _progress(tx, frame, data)
        case f.PlanUpdate():
            _plan(tx, frame, data)
        case f.SkillStart() | f.SkillEnd():
            _skill(tx, frame, data)
        case _:
            return


def _was_asked(tx: Tx, data: f.FactData) -> bool:
    match data:
        case f.ApprovalRequest():
            wait_id = data.approval_id
        case f.Question():
            wait_id = data.question_id
        case _:
            return False
    known = sa.exists().where(schema.approvals.c.id == wait_id)
    return bool(tx.execute(sa.select(known)).scalar())


def _ask(tx: Tx, frame: FactFrame, wait_id: str, *, call_id: str | None) -> None:
    values = {
        "id": wait_id,
        "session_id": frame.session_id,
        "run_id": frame.run_id,
        "kind": frame.type,
        "call_id": call_id,
        "data": bytes(frame.data).decode(),
        "status": "open",
        "created_at": frame.ts,
    }
    tx.upsert(schema.approvals, values)
    touch(tx, frame.session_id, waiting=True, attention_n=frame.n)


def _pass_up(tx: Tx, frame: FactFrame, data: f.FactData) -> None:
    """What a sub-agent asks the person is asked in the sessions it works for, too."""
    for child in children.ancestors(tx, frame.session_id):
        told = _number(tx, child.parent_session, child.parent_run, [data])
        if isinstance(data, f.WaitResolved):
            touch(tx, child.parent_session, waiting=_waits(tx, child.parent_session))
        else:
            touch(tx, child.parent_session, waiting=True, attention_n=told[0].n)


def _progress(tx: Tx, frame: FactFrame, data: f.TodoUpdate) -> None:
    """The todos of a sub-agent in which a skill runs are that skill's progress."""
    for child in children.ancestors(tx, frame.session_id)[:1]:
        if child.skill_id is None or data.summary.total == 0:
            continue
        doing = next((todo.content for todo in data.todos if todo.status == "in_progress"), None)
        percent = 100 * data.summary.completed / data.summary.total
        told = f.SkillProgress(
            skill_id=child.skill_id, step=doing, detail=None, percent=round(percent)
        )
        append(tx, child.parent_session, child.parent_run, [told])


def _waits(tx: Tx, session_id: str) -> bool:
    """Whether a person still has to answer something of the session or its sub-agents."""
    table = schema.approvals
    ids = children.family(tx, session_id)
    still_open = sa.exists().where(table.c.session_id.in_(ids), table.c.status == "open")
    return bool(tx.execute(sa.select(still_open)).scalar())


def _answered(tx: Tx, frame: FactFrame, data: f.WaitResolved) -> None:
    table = schema.approvals
    tx.execute(
        sa.update(table)
        .where(table.c.id == data.wait_id, table.c.session_id == frame.session_id)
        .values(status="answered", decision=data.decision, decided_at=frame.ts)
    )
    touch(tx, frame.session_id, waiting=_waits(tx, frame.session_id))


def _plan(tx: Tx, frame: FactFrame, data: f.PlanUpdate) -> None:
    put_plan(tx, frame.session_id, msgspec.convert(msgspec.structs.asdict(data), Plan))


def _skill(tx: Tx, frame: FactFrame, data: f.SkillStart | f.SkillEnd) -> None:
    if frame.run_id is None:
        return
    key = {"run_id": frame.run_id, "skill_id": data.skill_id, "session_id": frame.session_id}
    match data:
        case f.SkillStart():
            more: dict[str, Any] = {
                "name": data.name,
                "label": data.label,
                "status": "running",
                "started_at": frame.ts,
            }
        case f.SkillEnd():
            more = {
                "status": data.status,
                "result": data.result,
                "result_type": data.result_type,
                "ended_at": frame.ts,
            }
    tx.upsert(schema.skills, {**key, **more})
