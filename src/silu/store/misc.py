"""Small tables: commands done once, calls for the inspector, learned facts, settings."""

import zlib
from collections.abc import Callable
from typing import Any

import msgspec
import sqlalchemy as sa

from silu.store import schema
from silu.store.sql import Tx
from silu.types.api import CallView
from silu.types.capabilities import Learned
from silu.types.errors import UserError

_c = schema.commands
_l = schema.learned
_k = schema.calls


def once(
    tx: Tx,
    client_id: str | None,
    kind: str,
    session_id: str | None,
    work: Callable[[], Any],
) -> Any:
    """Do `work` once for a `client_id`; later the first result (JSON values) is given again.

    `work` may name the session it made by returning `{"session_id": …}`.
    """
    if client_id is None:
        return work()
    row = tx.execute(sa.select(_c.c.type, _c.c.result).where(_c.c.client_id == client_id)).first()
    if row is not None:
        if row.type != kind:
            raise UserError("This client_id was used for another command.", code="bad_argument")
        return msgspec.json.decode(row.result)
    result = work()
    tx.execute(
        sa.insert(_c),
        {
            "client_id": client_id,
            "session_id": result if kind == "create_session" else session_id,
            "type": kind,
            "result": msgspec.json.encode(result).decode(),
            "ts": tx.now,
        },
    )
    return result


def calls(tx: Tx, session_id: str, run_id: str | None) -> list[CallView]:
    """Oldest first."""
    query = sa.select(_k).where(_k.c.session_id == session_id).order_by(_k.c.started_at, _k.c.id)
    if run_id is not None:
        query = query.where(_k.c.run_id == run_id)
    return [_call(row) for row in tx.execute(query)]


def newest_call(tx: Tx, session_id: str) -> CallView | None:
    """The last call of a turn's own, summaries left out."""
    query = sa.select(_k).where(_k.c.session_id == session_id)
    rows = tx.execute(query.order_by(_k.c.started_at.desc(), _k.c.id.desc()))
    calls = (_call(row) for row in rows)
    return next((call for call in calls if call.purpose == "turn"), None)


def learned(tx: Tx) -> list[Learned]:
    rows = tx.execute(sa.select(_l).order_by(_l.c.endpoint, _l.c.model, _l.c.ts))
    return [
        Learned(
            endpoint=row.endpoint,
            model=row.model,
            fact=row.fact,
            value=msgspec.json.decode(row.value),
            evidence=row.evidence,
            ts=row.ts,
        )
        for row in rows
    ]


def learn(tx: Tx, fact: Learned) -> None:
    tx.upsert(
        _l,
        {
            "endpoint": fact.endpoint,
            "model": fact.model,
            "fact": fact.fact,
            "value": msgspec.json.encode(fact.value).decode(),
            "evidence": fact.evidence,
            "ts": fact.ts,
        },
    )


def forget(tx: Tx, endpoint: str, model: str | None) -> int:
    """How many facts were forgotten."""
    statement = sa.delete(_l).where(_l.c.endpoint == endpoint)
    if model is not None:
        statement = statement.where(_l.c.model == model)
    return tx.execute(statement).rowcount


def setting(tx: Tx, name: str) -> Any:
    table = schema.settings
    text = tx.execute(sa.select(table.c.value).where(table.c.name == name)).scalar()
    return None if text is None else msgspec.json.decode(text)


def set_setting(tx: Tx, name: str, value: Any) -> None:
    text = msgspec.json.encode(value).decode()
    tx.upsert(schema.settings, {"name": name, "value": text})


def _call(row: sa.Row[Any]) -> CallView:
    record: dict[str, Any] = msgspec.json.decode(row.record)
    return msgspec.convert(
        {
            **record,
            "id": row.id,
            "run_id": row.run_id,
            "message_id": row.message_id,
            "step": row.step,
            "attempt": row.attempt,
            "started_at": row.started_at,
            "body": zlib.decompress(row.body).decode(),
        },
        CallView,
    )
