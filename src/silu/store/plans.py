"""Plans, every revision kept; their numbers never begin again within a session."""

import msgspec
import sqlalchemy as sa

from silu.store import schema
from silu.store.sql import Tx
from silu.types.todos import Plan

_p = schema.plans


def newest(tx: Tx, session_id: str) -> Plan | None:
    """The revision that counts: the draft under way or the approved one, else a completed one."""
    kept = every(tx, session_id)
    for statuses in (("draft", "approved"), ("completed",)):
        for plan in reversed(kept):
            if plan.status in statuses:
                return plan
    return None


def every(tx: Tx, session_id: str) -> list[Plan]:
    """Every revision, oldest first."""
    rows = tx.execute(
        sa.select(_p.c.data).where(_p.c.session_id == session_id).order_by(_p.c.revision)
    )
    return [msgspec.json.decode(row.data, type=Plan) for row in rows]


def put_plan(tx: Tx, session_id: str, plan: Plan) -> None:
    """Insert or replace a revision."""
    values = {
        "session_id": session_id,
        "plan_id": plan.plan_id,
        "revision": plan.revision,
        "status": plan.status,
        "data": msgspec.json.encode(plan).decode(),
        "created_at": tx.now,
        "updated_at": tx.now,
    }
    tx.upsert(_p, values, keep=("created_at",))
