"""The state of a session at one moment, for a client whose place in the log is gone."""

from collections import defaultdict

import sqlalchemy as sa

from silu.store import codec, deltas, log, schema, sessions
from silu.store.api import DeltaRow
from silu.store.sql import Tx
from silu.types.frames import SnapshotBlock, SnapshotData
from silu.types.parts import Part, TextPart, ThinkingPart, ToolCallPart

_m = schema.messages
_h = schema.history


def read(tx: Tx, session_id: str) -> tuple[str | None, SnapshotData]:
    """The running run's id and everything a client needs; `level` is for the caller to fill."""
    session = sessions.read(tx, session_id)
    head, _ = log.reach(tx, session_id)
    run_id = session.run_id
    return run_id, SnapshotData(
        n=head,
        blocks=blocks_of_run(tx, session_id, run_id) if run_id else [],
        todos=session.todos,
        plan=session.plan,
        tokens=session.tokens,
        waits=session.waits,
        queue=session.queue,
        level=None,
        mode=session.mode,
        is_running=run_id is not None,
    )


def blocks_of_run(tx: Tx, session_id: str, run_id: str) -> list[SnapshotBlock]:
    """Every block of a run in order, with its text as far as it is durable."""
    flushed: dict[str, list[DeltaRow]] = defaultdict(list)
    for row in deltas.of_run(tx, session_id, run_id):
        flushed[row.message_id].append(row)
    rows = tx.execute(
        sa.select(_m.c.id, _m.c.parts, _m.c.thinking_content, _m.c.attempt, _m.c.final)
        .select_from(_h.join(_m, _m.c.id == _h.c.message_id))
        .where(_h.c.session_id == session_id, _m.c.run_id == run_id, _m.c.role == "assistant")
        .order_by(_h.c.seq)
    )
    blocks: list[SnapshotBlock] = []
    for row in rows:
        parts = codec.unpack_parts(row.parts, row.thinking_content)
        more = flushed.pop(row.id, [])
        blocks += _message_blocks(row.id, row.attempt, parts, more, done=bool(row.final))
    for message_id, more in flushed.items():
        blocks += _message_blocks(message_id, 0, [], more, done=False)
    return blocks


def block_text(tx: Tx, session_id: str, run_id: str, block_id: str) -> SnapshotBlock | None:
    for block in blocks_of_run(tx, session_id, run_id):
        if block.block_id == block_id:
            return block
    return None


def _message_blocks(
    message_id: str, attempt: int, parts: list[Part], flushed: list[DeltaRow], *, done: bool
) -> list[SnapshotBlock]:
    newest = max([attempt, *(row.attempt for row in flushed)])
    if newest > attempt:
        parts = []
    texts: dict[str, list[DeltaRow]] = defaultdict(list)
    for row in flushed:
        if row.attempt == newest:
            texts[row.block_id].append(row)
    blocks = [
        block
        for part in parts
        if (block := block_of(part, message_id, newest, done=done)) is not None
    ]
    for block in blocks:
        block.text = deltas.joined(block.text, texts.pop(block.block_id, []))
    for block_id, rows in texts.items():
        blocks.append(
            SnapshotBlock(
                message_id=message_id,
                block_id=block_id,
                attempt=newest,
                kind=rows[-1].kind,
                text=deltas.joined("", rows),
            )
        )
    return blocks


def block_of(part: Part, message_id: str, attempt: int, *, done: bool) -> SnapshotBlock | None:
    """A part as the block it came from; `None` for one that does not stream."""
    match part:
        case ThinkingPart():
            return SnapshotBlock(
                message_id=message_id,
                block_id=part.id,
                attempt=attempt,
                kind="thinking",
                text=part.text,
                started_at=part.started_at,
                done=done or part.duration_ms is not None,
            )
        case TextPart():
            return SnapshotBlock(
                message_id=message_id,
                block_id=part.id,
                attempt=attempt,
                kind="content",
                text=part.text,
                done=done,
            )
        case ToolCallPart():
            return SnapshotBlock(
                message_id=message_id,
                block_id=part.id,
                attempt=attempt,
                kind="tool_call",
                text=part.arguments,
                done=done,
                call_id=part.call_id,
                name=part.name,
            )
        case _:
            return None
