"""What a person was asked to allow and what they decided, read for the record."""

from typing import Any, cast

import msgspec
import sqlalchemy as sa

from silu.store import schema
from silu.store.sql import Tx
from silu.types.access import ApprovalRecord

_a = schema.approvals


def approvals(
    tx: Tx, *, session_id: str | None, before: int | None, limit: int
) -> list[ApprovalRecord]:
    """Newest first."""
    query = sa.select(_a).where(_a.c.kind == "approval_request")
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
