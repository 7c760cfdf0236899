"""Messages of a session: written whole or as far as they got, read in pages or all at once."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from silu.store import codec, log, schema, search
from silu.store.sql import Sql, Tx
from silu.store.views import StoredMessage, view_page
from silu.types.errors import UserError
from silu.types.frames import MessagePage
from silu.types.parts import Message, text_of

_m = schema.messages
_h = schema.history

_PAGE = Sql(
    sa.select(
        _h.c.seq,
        _m.c.id,
        _m.c.role,
        _m.c.parts,
        _m.c.thinking_content,
        _m.c.interrupted,
        _m.c.metadata,
        _m.c.created_at,
        _m.c.run_id,
        _m.c.attempt,
    )
    .select_from(_h.join(_m, _m.c.id == _h.c.message_id))
    .where(_h.c.session_id == bindparam("session"), _h.c.seq < bindparam("before"))
    .order_by(_h.c.seq.desc())
    .limit(bindparam("most", type_=sa.BigInteger))
)
_WHOLE = (
    _m.c.id,
    _m.c.role,
    _m.c.parts,
    _m.c.thinking_content,
    _m.c.thinking_metadata,
    _m.c.interrupted,
)
"""What `_message` makes a message of."""

_REPLACED = (
    "parts",
    "thinking_content",
    "thinking_metadata",
    "interrupted",
    "final",
    "attempt",
)
_UPDATE = Sql(
    sa.update(_m)
    .where(_m.c.id == bindparam("key"))
    .values({name: bindparam(name) for name in _REPLACED})
)
_newest = sa.select(sa.func.coalesce(sa.func.max(_h.c.seq), 0) + 1).where(
    _h.c.session_id == bindparam("session_id")
)
_LINK = Sql(
    sa.insert(_h).values(
        session_id=bindparam("session_id"),
        seq=_newest.scalar_subquery(),
        message_id=bindparam("message_id"),
    )
)
_END = 1 << 62
_LAST_MESSAGE_CHARS = 200
_TOOL_ROWS_MORE = 16


def put(
    tx: Tx,
    session_id: str,
    message: Message,
    *,
    run_id: str | None = None,
    step: int | None = None,
    attempt: int = 0,
    final: bool = True,
    metadata: str | None = None,
) -> None:
    """Insert or replace by id; a new one goes to the end of the session's history."""
    columns = codec.pack(message.parts, message.continuity)
    row = {
        "id": message.id,
        "session_id": session_id,
        "run_id": run_id,
        "step": step,
        "attempt": attempt,
        "role": message.role,
        "parts": columns.parts,
        "interrupted": message.interrupted,
        "final": final,
        "metadata": metadata,
        "created_at": tx.now,
        "thinking_content": columns.thinking_content,
        "thinking_metadata": columns.thinking_metadata,
    }
    if tx.insert_new(_m, row):
        link(tx, session_id, message.id)
    else:
        tx.run(_UPDATE, {"key": message.id, **{name: row[name] for name in _REPLACED}})
    _refer(tx, message)
    if final and message.role in ("user", "assistant"):
        search.note(tx, message.id)


def link(tx: Tx, session_id: str, message_id: str) -> None:
    """Put a message at the end of a session's history."""
    tx.run(_LINK, {"session_id": session_id, "message_id": message_id})


def note_last(tx: Tx, session_id: str, message: Message) -> None:
    """Show a message's text as the session's last one in the sidebar."""
    text = " ".join(text_of(message).split())
    if text:
        log.touch(tx, session_id, last_message=text[:_LAST_MESSAGE_CHARS])


def page(tx: Tx, session_id: str, *, before: str | None, limit: int) -> MessagePage:
    """The last `limit` rows before the cursor, oldest first, and never cut between a call and
    its results."""
    head, _ = log.reach(tx, session_id)
    rows = _rows(tx, session_id, before=_cursor(before), most=limit + 1)
    more = len(rows) > limit
    kept = rows[:limit]
    while more and kept[-1].role == "tool":
        older = _rows(tx, session_id, before=kept[-1].seq, most=_TOOL_ROWS_MORE)
        cut = next((i for i, row in enumerate(older) if row.role != "tool"), len(older) - 1)
        kept += older[: cut + 1]
        more = bool(_rows(tx, session_id, before=kept[-1].seq, most=1))
    kept.reverse()
    return MessagePage(
        messages=view_page(kept), before=str(kept[0].seq) if more else None, head=head
    )


def history(tx: Tx, session_id: str) -> list[Message]:
    """Every finished message, oldest first, with its continuity."""
    query = (
        sa.select(*_WHOLE)
        .select_from(_h.join(_m, _m.c.id == _h.c.message_id))
        .where(_h.c.session_id == session_id, _m.c.final.is_(True))
        .order_by(_h.c.seq)
    )
    return [_message(row) for row in tx.execute(query)]


def read(tx: Tx, message_id: str) -> Message | None:
    """One message, whole, finished or not."""
    row = tx.execute(sa.select(*_WHOLE).where(_m.c.id == message_id)).first()
    return None if row is None else _message(row)


def position(tx: Tx, session_id: str, message_id: str) -> int | None:
    """A message's place in the session, `None` when it is not part of it."""
    return tx.execute(
        sa.select(_h.c.seq).where(_h.c.session_id == session_id, _h.c.message_id == message_id)
    ).scalar()


def place_of(tx: Tx, session_id: str, message_id: str) -> int:
    """The same, refusing a message that is not part of the session."""
    found = position(tx, session_id, message_id)
    if found is None:
        raise UserError(f"The session has no message {message_id}.", code="unknown_message")
    return found


def _rows(tx: Tx, session_id: str, *, before: int, most: int) -> list[StoredMessage]:
    cursor = tx.run(_PAGE, {"session": session_id, "before": before, "most": most})
    return [StoredMessage(*row) for row in cursor]


def _cursor(before: str | None) -> int:
    if before is None:
        return _END
    try:
        return int(before)
    except ValueError as error:
        raise UserError(
            "`before` is the value a page of messages came with.", code="bad_argument"
        ) from error


def _message(row: sa.Row[Any]) -> Message:
    return Message(
        id=row.id,
        role=row.role,
        parts=codec.unpack_parts(row.parts, row.thinking_content),
        continuity=codec.unpack_continuity(row.thinking_metadata),
        interrupted=bool(row.interrupted),
    )


def _refer(tx: Tx, message: Message) -> None:
    for sha256 in codec.blobs_of(message.parts):
        tx.upsert(schema.blob_refs, {"message_id": message.id, "sha256": sha256})


def recent_ids(tx: Tx, session_id: str, *, most: int) -> list[str]:
    """The newest messages of a session, newest first."""
    query = (
        sa.select(_h.c.message_id)
        .where(_h.c.session_id == session_id)
        .order_by(_h.c.seq.desc())
        .limit(most)
    )
    return list(tx.execute(query).scalars())


def origin(tx: Tx, message_id: str) -> tuple[str | None, int]:
    """The run that wrote a message, and at which attempt."""
    row = tx.execute(sa.select(_m.c.run_id, _m.c.attempt).where(_m.c.id == message_id)).one()
    return row.run_id, row.attempt


def last_person_message(tx: Tx, session_id: str, *, upto: str) -> str | None:
    """The person's newest message at or before `upto`."""
    place = place_of(tx, session_id, upto)
    query = (
        sa.select(_m.c.id)
        .select_from(_h.join(_m, _m.c.id == _h.c.message_id))
        .where(_h.c.session_id == session_id, _h.c.seq <= place, _m.c.role == "user")
        .order_by(_h.c.seq.desc())
        .limit(1)
    )
    return tx.execute(query).scalar()
