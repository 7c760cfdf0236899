"""Search over what was said and what was thought, newest first.

`search_rows` names the message and its scope; `search_text` has the tokens under the same number:
an FTS5 table on SQLite, a `tsvector` on PostgreSQL.
"""

import sqlite3
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy import bindparam
from sqlalchemy.dialects.postgresql import TSQUERY

from silu.store import codec, misc, schema, words
from silu.store.sql import Sql, Tx
from silu.types.parts import Message, text_of, thinking_of
from silu.types.search import SearchHit, SearchScope

_rows = schema.search_rows
_due = schema.search_due
_m = schema.messages
_h = schema.history
_s = schema.sessions
_text = sa.table("search_text", sa.column("rowid"), sa.column("tokens"))

_ADD_ROW = Sql(
    sa.insert(_rows)
    .values(message_id=bindparam("message"), scope=bindparam("scope"))
    .returning(_rows.c.id)
)
_ADD_SQLITE = Sql(sa.insert(_text).values(rowid=bindparam("id"), tokens=bindparam("tokens")))
_ADD_POSTGRES = Sql(
    sa.text("INSERT INTO search_text (rowid, tokens) VALUES (:id, CAST(:tokens AS tsvector))")
)
_OLD = Sql(sa.select(_rows.c.id).where(_rows.c.message_id == bindparam("message")))
_FILLED = "search.filled"
_SECURE_SINCE = (3, 42, 0)
_OPTIMISE_BELOW = 50_000


class Filter(msgspec.Struct, kw_only=True):
    """Times are milliseconds since 1970 UTC; `None` leaves a filter out."""

    scope: SearchScope | None = None
    session_id: str | None = None
    model: str | None = None
    since: int | None = None
    until: int | None = None
    limit: int = 30


CREATE_SQLITE = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS search_text USING fts5("
    "tokens, tokenize = \"unicode61 remove_diacritics 0\", prefix = '2 3')",
)
CREATE_POSTGRES = (
    "CREATE TABLE IF NOT EXISTS search_text (rowid BIGINT PRIMARY KEY, tokens tsvector NOT NULL)",
    "CREATE INDEX IF NOT EXISTS ix_search_text_tokens ON search_text USING gin (tokens)",
)


def create(connection: sa.Connection) -> None:
    """Make the index's own table, whose form differs between the databases."""
    is_sqlite = connection.dialect.name == "sqlite"
    for statement in CREATE_SQLITE if is_sqlite else CREATE_POSTGRES:
        connection.exec_driver_sql(statement)
    if is_sqlite and sqlite3.sqlite_version_info >= _SECURE_SINCE:
        connection.exec_driver_sql(
            "INSERT INTO search_text(search_text, rank) VALUES('secure-delete', 1)"
        )


def note(tx: Tx, message_id: str) -> None:
    """A message was finished or changed: it is indexed a little later, or before a search."""
    tx.insert_new(_due, {"message_id": message_id})


def catch_up(tx: Tx, *, most: int = 50) -> bool:
    """Index what is due; True while some is left."""
    due = list(tx.execute(sa.select(_due.c.message_id).limit(most)).scalars())
    if not due:
        return False
    rows = tx.execute(
        sa.select(_m.c.id, _m.c.role, _m.c.parts, _m.c.thinking_content).where(_m.c.id.in_(due))
    )
    for row in rows.all():
        _index_row(tx, row)
    tx.execute(sa.delete(_due).where(_due.c.message_id.in_(due)))
    return len(due) == most


def index(tx: Tx, message: Message) -> None:
    """Let a finished message be found; what was indexed of it before goes."""
    remove(tx, [message.id])
    if message.role not in ("user", "assistant"):
        return
    for scope, text in (("answer", text_of(message)), ("thought", thinking_of(message))):
        if not text:
            continue
        number = tx.run(_ADD_ROW, {"message": message.id, "scope": scope}).fetchone()[0]
        if tx.is_sqlite:
            tx.run(_ADD_SQLITE, {"id": number, "tokens": " ".join(words.tokens(text))})
        else:
            tx.run(_ADD_POSTGRES, {"id": number, "tokens": words.postgres_vector(text)})


def remove(tx: Tx, message_ids: list[str]) -> None:
    """Take messages out of the index."""
    for message_id in message_ids:
        numbers = [row[0] for row in tx.run(_OLD, {"message": message_id}).fetchall()]
        if numbers:
            tx.execute(sa.delete(_text).where(_text.c.rowid.in_(numbers)))
            tx.execute(sa.delete(_rows).where(_rows.c.id.in_(numbers)))


def sweep(tx: Tx) -> None:
    """After a deletion: words of deleted rows also leave the index's old segments."""
    if not tx.is_sqlite or sqlite3.sqlite_version_info >= _SECURE_SINCE:
        return
    count = tx.execute(sa.select(sa.func.max(_rows.c.id))).scalar() or 0
    if count < _OPTIMISE_BELOW:
        tx.conn.exec_driver_sql("INSERT INTO search_text(search_text) VALUES('optimize')")
    else:
        tx.conn.exec_driver_sql("INSERT INTO search_text(search_text, rank) VALUES('merge', 1000)")


def find(tx: Tx, query: str, wanted: Filter) -> list[SearchHit]:
    """Newest first; a message that branches share is told once."""
    asked = words.terms(query)
    if not asked:
        return []
    hits: list[SearchHit] = []
    seen: set[tuple[str, str]] = set()
    for row in tx.execute(_query(tx, asked, wanted)):
        if (row.message_id, row.scope) in seen:
            continue
        seen.add((row.message_id, row.scope))
        hits.append(_hit(row, query))
        if len(hits) == wanted.limit:
            break
    return hits


def fill(tx: Tx, *, most: int = 200) -> bool:
    """Index messages of a time before there was an index; True while some are left."""
    if misc.setting(tx, _FILLED):
        return False
    query = (
        sa.select(_m.c.id, _m.c.role, _m.c.parts, _m.c.thinking_content)
        .where(
            _m.c.final.is_(True),
            _m.c.role.in_(("user", "assistant")),
            _m.c.id > (misc.setting(tx, "search.at") or ""),
        )
        .order_by(_m.c.id)
        .limit(most)
    )
    rows = tx.execute(query).all()
    for row in rows:
        _index_row(tx, row)
    if rows:
        misc.set_setting(tx, "search.at", rows[-1].id)
    else:
        misc.set_setting(tx, _FILLED, True)
    return bool(rows)


def _index_row(tx: Tx, row: sa.Row[Any]) -> None:
    parts = codec.unpack_parts(row.parts, row.thinking_content)
    index(tx, Message(id=row.id, role=row.role, parts=parts))


def _query(tx: Tx, asked: list[words.Term], wanted: Filter) -> sa.Executable:
    if tx.is_sqlite:
        matches: Any = sa.literal_column("search_text").op("MATCH")(words.sqlite_query(asked))
    else:
        asked_for = sa.cast(words.postgres_query(asked), TSQUERY)
        matches = _text.c.tokens.op("@@")(asked_for)
    # The index is asked first: its newest matches are joined until the limit is reached.
    source = (
        _text.join(_rows, _rows.c.id == _text.c.rowid)
        .join(_m, _m.c.id == _rows.c.message_id)
        .join(_h, _h.c.message_id == _m.c.id)
        .join(_s, _s.c.id == _h.c.session_id)
    )
    query = (
        sa.select(
            _rows.c.message_id,
            _rows.c.scope,
            _h.c.session_id,
            _s.c.title,
            _m.c.role,
            _m.c.parts,
            _m.c.thinking_content,
            _m.c.created_at,
        )
        .select_from(source)
        .where(matches, _s.c.trashed_at.is_(None))
        .order_by(_text.c.rowid.desc())
        .limit(wanted.limit * 4)
    )
    return query.where(*_conditions(wanted))


def _conditions(wanted: Filter) -> list[sa.ColumnElement[bool]]:
    found: list[sa.ColumnElement[bool]] = []
    if wanted.scope is not None:
        found.append(_rows.c.scope == wanted.scope)
    if wanted.session_id is not None:
        found.append(_h.c.session_id == wanted.session_id)
    if wanted.since is not None:
        found.append(_m.c.created_at >= wanted.since)
    if wanted.until is not None:
        found.append(_m.c.created_at < wanted.until)
    if wanted.model is not None:
        used = schema.usage
        by_model = sa.select(used.c.run_id).where(
            used.c.run_id == _m.c.run_id, used.c.model == wanted.model
        )
        found.append(sa.exists(by_model))
    return found


def _hit(row: sa.Row[Any], query: str) -> SearchHit:
    parts = codec.unpack_parts(row.parts, row.thinking_content)
    message = Message(role=row.role, parts=parts)
    text = text_of(message) if row.scope == "answer" else thinking_of(message)
    shown, marks = words.snippet(text, query)
    return SearchHit(
        session_id=row.session_id,
        title=row.title,
        message_id=row.message_id,
        role=row.role,
        scope=row.scope,
        snippet=shown,
        marks=marks,
        created_at=row.created_at,
    )
