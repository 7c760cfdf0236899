"""Deleting a session means deleting it: what no other session shares is gone, files too."""

import sqlalchemy as sa

from silu.store import blobs, children, log, schema, search
from silu.store.sql import Tx

_s = schema.sessions
_h = schema.history
_m = schema.messages
_refs = schema.blob_refs
_due = schema.search_due


def purge(tx: Tx, session_id: str, files: blobs.BlobFiles) -> list[str]:
    """Branches of it stay and keep the messages they share; its sub-agents' sessions go too.
    All that went are named."""
    if tx.execute(sa.select(_s.c.id).where(_s.c.id == session_id)).first() is None:
        raise log.unknown_session(session_id)
    if tx.is_sqlite:
        # Freed pages are overwritten, so that deleted words do not stay in the file.
        tx.conn.exec_driver_sql("PRAGMA secure_delete=ON")
        tx.after_commit.append(lambda: _forget_log(tx))
    going = children.family(tx, session_id)
    children.forget(tx, going)
    for one in going:
        _purge(tx, one, files)
    search.sweep(tx)
    return going


def _forget_log(tx: Tx) -> None:
    """The write-ahead log still has the words: put it into the file and cut it."""
    tx.raw.execute("PRAGMA secure_delete=OFF")
    tx.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _purge(tx: Tx, session_id: str, files: blobs.BlobFiles) -> None:
    own = _own_messages(tx, session_id)
    candidates = _blobs_of(tx, own)
    tx.execute(sa.delete(_h).where(_h.c.session_id == session_id))
    for some in _chunks(own):
        tx.execute(sa.delete(_refs).where(_refs.c.message_id.in_(some)))
        tx.execute(sa.delete(_m).where(_m.c.id.in_(some)))
        search.remove(tx, some)
        tx.execute(sa.delete(_due).where(_due.c.message_id.in_(some)))
    for table in (schema.facts, schema.deltas, schema.commands):
        tx.execute(sa.delete(table).where(table.c.session_id == session_id))
    tx.execute(sa.update(_s).where(_s.c.parent_id == session_id).values(parent_id=None))
    changed = tx.execute(sa.select(log.next_change())).scalar_one()
    tx.execute(sa.delete(_s).where(_s.c.id == session_id))
    tx.upsert(schema.gone, {"session_id": session_id, "changed": changed})
    tx.touched.add(session_id)
    blobs.forget(tx, blobs.unreferenced(tx, candidates), files)


def _own_messages(tx: Tx, session_id: str) -> list[str]:
    """Messages that no other session's history has."""
    other = _h.alias("other")
    query = sa.select(_h.c.message_id).where(
        _h.c.session_id == session_id,
        ~sa.exists(
            sa.select(other.c.seq).where(
                other.c.message_id == _h.c.message_id, other.c.session_id != session_id
            )
        ),
    )
    return list(tx.execute(query).scalars())


def _blobs_of(tx: Tx, message_ids: list[str]) -> set[str]:
    found: set[str] = set()
    for some in _chunks(message_ids):
        query = sa.select(_refs.c.sha256).where(_refs.c.message_id.in_(some))
        found |= set(tx.execute(query).scalars())
    return found


def _chunks(ids: list[str], size: int = 500) -> list[list[str]]:
    return [ids[at : at + size] for at in range(0, len(ids), size)]
