"""Sub-agents: sessions that work for a call of another session's run."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from silu.store import schema
from silu.store.api import ChildRow
from silu.store.codec import unpack_parts
from silu.store.sql import Tx
from silu.types.facts import Done
from silu.types.parts import TextPart

_c = schema.children
_m = schema.messages
_s = schema.sessions


def begin(tx: Tx, row: ChildRow) -> None:
    """Keep which call a child works for."""
    tx.execute(
        sa.insert(_c),
        {
            "wait_id": row.wait_id,
            "parent_session": row.parent_session,
            "parent_run": row.parent_run,
            "child_session": row.child_session,
            "child_run": row.child_run,
            "skill_id": row.skill_id,
        },
    )


def of_wait(tx: Tx, wait_id: str) -> ChildRow | None:
    """The child that works, or worked, for a call."""
    return _one(tx, _c.c.wait_id == wait_id)


def of_run(tx: Tx, run_id: str) -> ChildRow | None:
    """The call that a run works for; `None` for a run of the person's own."""
    return _one(tx, _c.c.child_run == run_id)


def open_runs(tx: Tx, parent_run: str) -> list[ChildRow]:
    """The children of a run that are still at work."""
    query = sa.select(_c).where(_c.c.parent_run == parent_run, _c.c.status.is_(None))
    return [_row(row) for row in tx.execute(query)]


def count(tx: Tx, parent_run: str) -> int:
    query = sa.select(sa.func.count()).select_from(_c).where(_c.c.parent_run == parent_run)
    return tx.execute(query).scalar_one()


def over(tx: Tx, run_id: str, done: Done) -> None:
    """A run has ended: where it worked for a call, keep its answer for that call."""
    row = of_run(tx, run_id)
    if row is None or row.status is not None:
        return
    values = {"status": done.status, "reason": done.reason, "answer": _answer(tx, run_id)}
    tx.execute(sa.update(_c).where(_c.c.wait_id == row.wait_id).values(**values))


def is_over(tx: Tx, wait_id: str) -> bool:
    row = of_wait(tx, wait_id)
    return row is not None and row.status is not None


def family(tx: Tx, session_id: str) -> list[str]:
    """A session and those of its sub-agents, and of theirs."""
    found, looked = [session_id], 0
    while looked < len(found):
        some = found[looked:]
        looked = len(found)
        query = sa.select(_s.c.id).where(_s.c.parent_id.in_(some), _s.c.kind == "child")
        found += tx.execute(query).scalars()
    return found


def ancestors(tx: Tx, session_id: str) -> list[ChildRow]:
    """The calls a session works for: its parent's first, then the parent's own, and so on."""
    found: list[ChildRow] = []
    row = _one(tx, _c.c.child_session == session_id)
    while row is not None:
        found.append(row)
        row = _one(tx, _c.c.child_session == row.parent_session)
    return found


def forget(tx: Tx, session_ids: Sequence[str]) -> None:
    """Sessions are deleted."""
    tx.execute(
        sa.delete(_c).where(
            sa.or_(_c.c.child_session.in_(session_ids), _c.c.parent_session.in_(session_ids))
        )
    )


def _answer(tx: Tx, run_id: str) -> str:
    """The text of the run's last answer."""
    row = tx.execute(
        sa.select(_m.c.parts, _m.c.thinking_content)
        .where(_m.c.run_id == run_id, _m.c.role == "assistant")
        .order_by(_m.c.step.desc())
        .limit(1)
    ).first()
    found = unpack_parts(row.parts, row.thinking_content) if row else []
    return "".join(part.text for part in found if isinstance(part, TextPart))


def _one(tx: Tx, where: sa.ColumnElement[bool]) -> ChildRow | None:
    row = tx.execute(sa.select(_c).where(where)).first()
    return None if row is None else _row(row)


def _row(row: sa.Row[Any]) -> ChildRow:
    return ChildRow(
        wait_id=row.wait_id,
        parent_session=row.parent_session,
        parent_run=row.parent_run,
        child_session=row.child_session,
        child_run=row.child_run,
        skill_id=row.skill_id,
        status=row.status,
        reason=row.reason,
        answer=row.answer,
    )
