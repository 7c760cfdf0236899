"""What a client missed, read from the store: facts after a number and the text they speak of."""

from collections.abc import Iterable
from typing import Any

import msgspec

from silu.store import log, messages, snapshot
from silu.store.api import Session
from silu.store.sessions import read as read_session
from silu.store.sql import Tx
from silu.types.frames import FactFrame, SnapshotBlock, SnapshotData

MOST_FACTS = 2000
_RECENT = 60
_DONES = frozenset({"thinking_done", "content_done", "tool_call_done"})


class Replay(msgspec.Struct, kw_only=True):
    """Either `facts` after where the client was, or, where the log does not reach back or the
    way is too long, a `snapshot`. `blocks` has the durable text of every block that may be
    asked for, with its run's id, and `done_at` the number of the fact that closed it."""

    head: int
    run_id: str | None
    session: Session | None = None
    snapshot: SnapshotData | None = None
    facts: list[FactFrame] = []
    blocks: dict[str, tuple[str, SnapshotBlock]] = {}
    done_at: dict[str, int] = {}


def read(
    tx: Tx, session_id: str, *, since: int, known: Iterable[str], whole: bool = False
) -> Replay:
    """`known` are blocks whose rest the client wants; `whole` asks for a snapshot anyway."""
    head, start = log.reach(tx, session_id)
    if whole or since < start or since > head or head - since > MOST_FACTS:
        return _snapshot(tx, session_id, head)
    facts = log.since(tx, session_id, since, limit=MOST_FACTS)
    closed = {block_id: (n, message_id) for block_id, n, message_id in map(_closed, facts) if n}
    wanted = {message_id for _, message_id in closed.values()}
    texts = _texts(tx, wanted)
    missing = set(known) - texts.keys()
    if missing:
        texts |= _recent_texts(tx, session_id, missing)
    return Replay(
        head=head,
        run_id=None,
        facts=facts,
        blocks=texts,
        done_at={block_id: n for block_id, (n, _) in closed.items()},
    )


def _snapshot(tx: Tx, session_id: str, head: int) -> Replay:
    run_id, data = snapshot.read(tx, session_id)
    return Replay(head=head, run_id=run_id, snapshot=data, session=read_session(tx, session_id))


def _closed(frame: FactFrame) -> tuple[str, int, str]:
    if frame.type not in _DONES:
        return "", 0, ""
    data: dict[str, Any] = msgspec.json.decode(frame.data)
    return data["block_id"], frame.n, data["message_id"]


def _texts(tx: Tx, message_ids: Iterable[str]) -> dict[str, tuple[str, SnapshotBlock]]:
    found: dict[str, tuple[str, SnapshotBlock]] = {}
    for message_id in message_ids:
        kept = messages.read(tx, message_id)
        if kept is None:
            continue
        run_id, attempt = messages.origin(tx, message_id)
        for part in kept.parts:
            block = snapshot.block_of(part, message_id, attempt, done=True)
            if block is not None:
                found[block.block_id] = run_id or "", block
    return found


def _recent_texts(
    tx: Tx, session_id: str, wanted: set[str]
) -> dict[str, tuple[str, SnapshotBlock]]:
    recent = messages.recent_ids(tx, session_id, most=_RECENT)
    return {key: block for key, block in _texts(tx, recent).items() if key in wanted}
