"""Answers kept for clients of the compatible routes, which send no thinking back.

By a digest of what the client sees of the conversation; bounded in bytes, the least used first.
"""

import msgspec
import sqlalchemy as sa

from silu.store import schema
from silu.store.codec import unpack_continuity
from silu.store.sql import Tx
from silu.types.parts import Message, decode_parts, encode_parts

MOST_BYTES = 64 * 1024 * 1024
KEEP_MS = 30 * 24 * 3600 * 1000
_USED_AGAIN_MS = 3600 * 1000

_k = schema.recalled


def keep(tx: Tx, key: str, answer: Message, *, most: int = MOST_BYTES) -> None:
    """Keep an answer; what is over the bound, or was not used for 30 days, goes."""
    parts = encode_parts(answer.parts).decode()
    continuity = msgspec.json.encode(answer.continuity).decode()
    size = len(parts) + len(continuity)
    values = {"key": key, "parts": parts, "continuity": continuity, "size": size, "used_at": tx.now}
    tx.upsert(_k, values)
    tx.execute(sa.delete(_k).where(_k.c.used_at < tx.now - KEEP_MS))
    _bound(tx, most)


def find(tx: Tx, keys: list[str]) -> dict[str, Message]:
    """Those of the answers that are kept, by key."""
    found: dict[str, Message] = {}
    for start in range(0, len(keys), 500):
        some = keys[start : start + 500]
        for row in tx.execute(sa.select(_k).where(_k.c.key.in_(some))):
            found[row.key] = Message(
                role="assistant",
                parts=decode_parts(row.parts),
                continuity=unpack_continuity(row.continuity),
            )
    return found


def used(tx: Tx, keys: list[str]) -> None:
    """Note that answers are still used; to the hour, so that this writes seldom."""
    tx.execute(
        sa.update(_k)
        .where(_k.c.key.in_(keys), _k.c.used_at < tx.now - _USED_AGAIN_MS)
        .values(used_at=tx.now)
    )


def _bound(tx: Tx, most: int) -> None:
    total = int(tx.execute(sa.select(sa.func.coalesce(sa.func.sum(_k.c.size), 0))).scalar_one())
    if total <= most:
        return
    going: list[str] = []
    for row in tx.execute(sa.select(_k.c.key, _k.c.size).order_by(_k.c.used_at, _k.c.key)):
        if total <= most:
            break
        going.append(row.key)
        total -= row.size
    tx.execute(sa.delete(_k).where(_k.c.key.in_(going)))
