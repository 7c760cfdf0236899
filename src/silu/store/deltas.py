"""Text of blocks that are still open, as the flusher leaves it behind."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import bindparam

from silu.store import schema
from silu.store.api import DeltaRow
from silu.store.escaping import escape, unescape
from silu.store.sql import Sql, Tx
from silu.types.parts import Part, TextPart, ThinkingPart, ToolCallPart

_d = schema.deltas
_s = schema.sessions
_INSERT = Sql(sa.insert(_d))
_FENCE = Sql(sa.select(_s.c.fence).where(_s.c.id == bindparam("session")).with_for_update())
_COVERED = Sql(
    sa.delete(_d).where(
        _d.c.session_id == bindparam("session"),
        _d.c.block_id == bindparam("block"),
        sa.or_(
            _d.c.attempt < bindparam("attempt", type_=sa.BigInteger),
            sa.and_(
                _d.c.attempt == bindparam("attempt", type_=sa.BigInteger),
                _d.c.start < bindparam("length", type_=sa.BigInteger),
            ),
        ),
    )
)
_OF_MESSAGE = Sql(
    sa.delete(_d).where(
        _d.c.session_id == bindparam("session"), _d.c.message_id == bindparam("message")
    )
)


def fence_of(tx: Tx, session_id: str) -> int | None:
    """The session's fence, its row locked until the commit; `None` when it is gone."""
    row = tx.run(_FENCE, {"session": session_id}).fetchone()
    return None if row is None else row[0]


def put(tx: Tx, rows: Sequence[DeltaRow]) -> None:
    """Append flushed text of one session."""
    tx.many(
        _INSERT,
        [
            {
                "session_id": row.session_id,
                "block_id": row.block_id,
                "attempt": row.attempt,
                "start": row.start,
                "run_id": row.run_id,
                "message_id": row.message_id,
                "kind": row.kind,
                "text": escape(row.text),
                "at": row.at,
            }
            for row in rows
        ],
    )


def drop_covered(tx: Tx, session_id: str, parts: Sequence[Part], *, attempt: int) -> None:
    """Remove the text that now stands in a message's parts."""
    rows = [
        {"session": session_id, "block": part.id, "attempt": attempt, "length": length}
        for part in parts
        if (length := text_length(part)) is not None
    ]
    if rows:
        tx.many(_COVERED, rows)


def drop_message(tx: Tx, session_id: str, message_id: str) -> None:
    tx.run(_OF_MESSAGE, {"session": session_id, "message": message_id})


def of_run(tx: Tx, session_id: str, run_id: str) -> list[DeltaRow]:
    """What was flushed of a run's open blocks, in the order the blocks began."""
    rows = tx.execute(
        sa.select(_d)
        .where(_d.c.session_id == session_id, _d.c.run_id == run_id)
        .order_by(_d.c.at, _d.c.start)
    )
    return [
        DeltaRow(
            session_id=row.session_id,
            run_id=row.run_id,
            message_id=row.message_id,
            block_id=row.block_id,
            attempt=row.attempt,
            kind=row.kind,
            start=row.start,
            text=unescape(row.text),
            at=row.at,
        )
        for row in rows
    ]


def joined(base: str, rows: Sequence[DeltaRow]) -> str:
    """One block's text: what its message has, then the flushed text that goes on from there.

    Text behind a gap is left out: it would stand in the wrong place.
    """
    pieces = [base]
    length = len(base)
    for row in sorted(rows, key=lambda row: row.start):
        if row.start > length:
            break
        new = row.text[length - row.start :]
        pieces.append(new)
        length += len(new)
    return "".join(pieces)


def text_length(part: Part) -> int | None:
    """Code points of a part that streams; `None` for one that does not."""
    match part:
        case TextPart() | ThinkingPart():
            return len(part.text)
        case ToolCallPart():
            return len(part.arguments)
        case _:
            return None
