"""What a person was asked to allow and what they decided, read for the record."""

from typing import Any, cast

import msgspec
import sqlalchemy as sa

from silu.store import schema
from silu.store.ids import new_id
from silu.store.sql import Tx
from silu.types.access import ApprovalRecord
from silu.types.todos import Plan

_a = schema.approvals
_PLAN = "plan_approval"
"""Nothing waits for it: a draft is approved when a person sees fit."""


def plan_approved(tx: Tx, session_id: str, plan: Plan, *, by: str | None) -> None:
    """Put down that a person approved a revision of the plan."""
    what = {"plan_id": plan.plan_id, "revision": plan.revision, "goal": plan.goal}
    asked = {"name": "plan", "arguments": msgspec.json.encode(what).decode()}
    answer = {"decision": "allow", "scope": "once", "by": by}
    tx.execute(
        sa.insert(_a).values(
            id=new_id("a"),
            session_id=session_id,
            run_id=None,
            kind=_PLAN,
            call_id=None,
            data=msgspec.json.encode(asked).decode(),
            status="answered",
            decision="allow",
            scope="once",
            answer=msgspec.json.encode(answer).decode(),
            created_at=tx.now,
            decided_at=tx.now,
        )
    )


def approvals(
    tx: Tx, *, session_id: str | None, before: int | None, limit: int
) -> list[ApprovalRecord]:
    """Newest first."""
    query = sa.select(_a).where(_a.c.kind.in_(("approval_request", _PLAN)))
    if session_id is not None:
        query = query.where(_a.c.session_id == session_id)
    if before is not None:
        query = query.where(_a.c.created_at < before)
    rows = tx.execute(query.order_by(_a.c.created_at.desc(), _a.c.id.desc()).limit(limit))
    return [_record(row) for row in rows]


def _record(row: sa.Row[Any]) -> ApprovalRecord:
    asked = cast("dict[str, Any]", msgspec.json.decode(row.data))
    answer = cast("dict[str, Any]", msgspec.json.decode(row.answer) if row.answer else {})
    return ApprovalRecord(
        id=row.id,
        session_id=row.session_id,
        run_id=row.run_id,
        call_id=row.call_id,
        tool=asked.get("name", ""),
        arguments=asked.get("arguments", ""),
        asked_at=row.created_at,
        decision=answer.get("decision"),
        scope=answer.get("scope"),
        pattern=answer.get("pattern"),
        reason=answer.get("reason"),
        by=answer.get("by"),
        decided_at=row.decided_at if answer else None,
    )
