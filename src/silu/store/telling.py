"""What a message's `metadata` tells of its run and its call, so that a page needs no old facts.

A person's message has what its run began with; every answer what its own call was; the run's
last message how the run ended. docs/protocol.md lists the names.
"""

from typing import Any

import msgspec
import sqlalchemy as sa

from silu.store import schema
from silu.store.api import CallRow, RunRef
from silu.store.sql import Sql, Tx
from silu.types.facts import Done, RunStart

_r = schema.runs
_m = schema.messages
_h = schema.history

_READ = Sql(sa.select(_m.c.metadata).where(_m.c.id == sa.bindparam("message")))
_WRITE = Sql(
    sa.update(_m).where(_m.c.id == sa.bindparam("message")).values(metadata=sa.bindparam("text"))
)
_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode


def begun(tx: Tx, start: RunStart, at: int) -> None:
    """The run of a person's message began."""
    if start.user_message_id is None:
        return
    more = {"model": start.model, "level": start.level, "mode": start.mode, "started_at": at}
    _add(tx, start.user_message_id, more)


def called(tx: Tx, message_id: str, call: CallRow) -> None:
    """The model call behind an answer ended: who was asked, at which level, for how long."""
    resolution: dict[str, Any] = call.record.get("resolution") or {}
    duration: int | None = call.record.get("duration_ms")
    ended = None if duration is None else call.started_at + duration
    more = {
        "model": call.model,
        "level": {name: resolution.get(name) for name in _LEVEL},
        "call": {"started_at": call.started_at, "ended_at": ended, "duration_ms": duration},
    }
    _add(tx, message_id, more)


def ended(tx: Tx, ref: RunRef, done: Done) -> None:
    """The run ended: told on its last answer, on the person's message where there is none."""
    run = tx.execute(
        sa.select(_r.c.user_message_id, _r.c.started_at).where(_r.c.id == ref.run_id)
    ).one()
    message_id = _last_answer(tx, ref) or run.user_message_id
    if message_id is None:
        return
    started: int | None = run.started_at
    more: dict[str, Any] = {
        "tokenUsage": done.usage,
        "skillExecutions": done.skill_executions,
        "status": done.status,
        "reason": done.reason,
        "finish_reason": done.finish_reason,
        "started_at": started,
        "ended_at": tx.now,
        "duration_ms": None if started is None else tx.now - started,
    }
    if done.error:
        more["error"] = done.error
    _add(tx, message_id, more)


_LEVEL = ("requested", "effective", "source", "notes")


def _last_answer(tx: Tx, ref: RunRef) -> str | None:
    query = (
        sa.select(_m.c.id)
        .select_from(_h.join(_m, _m.c.id == _h.c.message_id))
        .where(
            _h.c.session_id == ref.session_id,
            _m.c.run_id == ref.run_id,
            _m.c.role == "assistant",
        )
        .order_by(_h.c.seq.desc())
        .limit(1)
    )
    return tx.execute(query).scalar()


def _add(tx: Tx, message_id: str, more: dict[str, Any]) -> None:
    row = tx.run(_READ, {"message": message_id}).fetchone()
    if row is None:
        return
    known: dict[str, Any] = _decode(row[0]) if row[0] else {}
    tx.run(_WRITE, {"message": message_id, "text": _encode({**known, **more}).decode()})
