"""Putting a run's loose ends in order after a crash, a stop or a turn that failed.

What had arrived of an unfinished step becomes a message marked interrupted, its open blocks are
closed, and, when the run does not go on, calls without a result get one that says so.
"""

from collections import defaultdict
from typing import Any

import msgspec
import sqlalchemy as sa

from silu.store import deltas, log, messages, schema, turns
from silu.store.api import DeltaRow, RunRef
from silu.store.runs import guard
from silu.store.sql import Tx
from silu.types import facts as f
from silu.types.parts import Message, Part, TextPart, ThinkingPart, ToolCallPart, ToolResultPart

_m = schema.messages
_f = schema.facts

NOT_RUN = "Not run: the turn was stopped before this tool began."
OUTCOME_UNKNOWN = "Interrupted while it ran: its outcome is unknown."


class _Started(msgspec.Struct):
    """A block that the log says began and did not end."""

    block_id: str
    message_id: str
    attempt: int
    data: f.ThinkingStart | f.ContentStart | f.ToolCallStart


def close_blocks(tx: Tx, ref: RunRef) -> None:
    """Keep what had arrived of the unfinished step, marked interrupted."""
    guard(tx, ref)
    started = _open_blocks(tx, ref)
    by_message: dict[str, list[DeltaRow]] = defaultdict(list)
    for row in deltas.of_run(tx, ref.session_id, ref.run_id):
        by_message[row.message_id].append(row)
    unfinished = _unfinished(tx, ref)
    for message_id in {**unfinished, **by_message}:
        row = unfinished.get(message_id)
        _close(tx, ref, message_id, row, by_message[message_id], started)
    leftover = [block for block in started.values() if block.message_id not in by_message]
    _tell_closed(tx, ref, leftover, {})


def answer_open_calls(tx: Tx, ref: RunRef) -> None:
    """Give every call of the last finished step a result, so that the history stays valid."""
    guard(tx, ref)
    step = turns.count_steps(tx, ref.run_id) - 1
    pending = turns.open_calls(tx, ref.run_id, step)
    if not pending:
        return
    names = _names(tx, ref.run_id, step)
    results = [
        ToolResultPart(
            call_id=call_id,
            name=names.get(call_id),
            id=f"{ref.run_id}.{step}.{call_id}",
            status="unknown" if state == "started" else "interrupted",
            shown=OUTCOME_UNKNOWN if state == "started" else NOT_RUN,
        )
        for call_id, state in pending.items()
    ]
    message = _tool_message(tx, ref, step)
    message.parts += results
    facts = [
        f.ToolResult(
            call_id=result.call_id,
            message_id=message.id,
            name=result.name or "",
            status=result.status,
            summary=result.shown,
            result_ref=None,
            truncated=False,
            duration_ms=None,
        )
        for result in results
    ]
    turns.tool_finished(tx, ref, message, step=step, facts=facts)


def _open_blocks(tx: Tx, ref: RunRef) -> dict[str, _Started]:
    rows = tx.execute(
        sa.select(_f.c.type, _f.c.data)
        .where(
            _f.c.session_id == ref.session_id,
            _f.c.run_id == ref.run_id,
            _f.c.type.in_([*_STARTS, *_DONES]),
        )
        .order_by(_f.c.n)
    )
    blocks: dict[str, _Started] = {}
    for row in rows:
        if row.type in _DONES:
            blocks.pop(msgspec.json.decode(row.data)["block_id"], None)
            continue
        data: Any = msgspec.json.decode(row.data, type=_STARTS[row.type])
        blocks[data.block_id] = _Started(data.block_id, data.message_id, data.attempt, data)
    return blocks


def _unfinished(tx: Tx, ref: RunRef) -> dict[str, sa.Row[Any]]:
    rows = tx.execute(
        sa.select(_m.c.id, _m.c.step, _m.c.attempt)
        .where(_m.c.run_id == ref.run_id, _m.c.role == "assistant", _m.c.final.is_(False))
        .order_by(_m.c.created_at)
    )
    return {row.id: row for row in rows}


def _close(
    tx: Tx,
    ref: RunRef,
    message_id: str,
    row: sa.Row[Any] | None,
    flushed: list[DeltaRow],
    started: dict[str, _Started],
) -> None:
    attempt = max([one.attempt for one in flushed] + ([row.attempt] if row else []))
    kept = messages.read(tx, message_id) if row is not None and row.attempt == attempt else None
    message = kept or Message(id=message_id, role="assistant", parts=[])
    texts: dict[str, list[DeltaRow]] = defaultdict(list)
    for one in flushed:
        if one.attempt == attempt:
            texts[one.block_id].append(one)
    message.parts = _parts(message.parts, texts, started)
    message.interrupted = True
    blocks = [b for b in started.values() if b.message_id == message_id and b.attempt == attempt]
    step = row.step if row is not None else turns.count_steps(tx, ref.run_id)
    turns.put_message(tx, ref, message, step=step, attempt=attempt, final=True)
    _tell_closed(tx, ref, blocks, {part.id: part for part in message.parts})


def _parts(
    kept: list[Part], texts: dict[str, list[DeltaRow]], started: dict[str, _Started]
) -> list[Part]:
    parts = [_extended(part, texts.pop(part.id, [])) for part in kept]
    for block_id, rows in texts.items():
        begun = started.get(block_id)
        parts.append(_part(block_id, rows, begun.data if begun else None))
    return parts


def _extended(part: Part, rows: list[DeltaRow]) -> Part:
    match part:
        case TextPart() | ThinkingPart():
            part.text = deltas.joined(part.text, rows)
        case ToolCallPart():
            part.arguments = deltas.joined(part.arguments, rows)
        case _:
            pass
    return part


def _part(block_id: str, rows: list[DeltaRow], begun: Any) -> Part:
    text = deltas.joined("", rows)
    match rows[-1].kind:
        case "thinking":
            kind = begun.kind if isinstance(begun, f.ThinkingStart) else "full"
            at = begun.started_at if isinstance(begun, f.ThinkingStart) else None
            return ThinkingPart(id=block_id, text=text, kind=kind, started_at=at)
        case "tool_call":
            call_id = begun.call_id if isinstance(begun, f.ToolCallStart) else block_id
            name = begun.name if isinstance(begun, f.ToolCallStart) else ""
            return ToolCallPart(id=block_id, call_id=call_id, name=name, arguments=text)
        case _:
            return TextPart(id=block_id, text=text)


def _tell_closed(tx: Tx, ref: RunRef, blocks: list[_Started], parts: dict[str, Part]) -> None:
    facts: list[f.FactData] = [_closing(block, parts.get(block.block_id)) for block in blocks]
    log.append(tx, ref.session_id, ref.run_id, facts)


def _closing(block: _Started, part: Part | None) -> f.FactData:
    length = (deltas.text_length(part) or 0) if part is not None else 0
    match block.data:
        case f.ThinkingStart() as begun:
            return f.ThinkingDone(
                message_id=block.message_id,
                block_id=block.block_id,
                attempt=block.attempt,
                kind=begun.kind,
                duration_ms=None,
                tokens=None,
                length=length,
                interrupted=True,
            )
        case f.ContentStart():
            return f.ContentDone(
                message_id=block.message_id,
                block_id=block.block_id,
                attempt=block.attempt,
                length=length,
                interrupted=True,
            )
        case f.ToolCallStart() as begun:
            return f.ToolCallDone(
                call_id=begun.call_id,
                message_id=block.message_id,
                block_id=block.block_id,
                attempt=block.attempt,
                name=begun.name,
                arguments=part.arguments if isinstance(part, ToolCallPart) else "",
                length=length,
                interrupted=True,
            )


def _names(tx: Tx, run_id: str, step: int) -> dict[str, str]:
    table = schema.tool_journal
    rows = tx.execute(
        sa.select(table.c.call_id, table.c.name).where(
            table.c.run_id == run_id, table.c.step == step
        )
    )
    return {row.call_id: row.name for row in rows}


def _tool_message(tx: Tx, ref: RunRef, step: int) -> Message:
    """The step's message of results, as far as it got, or a new one."""
    found = tx.execute(
        sa.select(_m.c.id).where(_m.c.run_id == ref.run_id, _m.c.step == step, _m.c.role == "tool")
    ).scalar()
    message = messages.read(tx, found) if found else None
    return message or Message(id=f"{ref.run_id}.{step}.results", role="tool", parts=[])


_STARTS: dict[str, Any] = {
    "thinking_start": f.ThinkingStart,
    "content_start": f.ContentStart,
    "tool_call_start": f.ToolCallStart,
}
_DONES = frozenset({"thinking_done", "content_done", "tool_call_done"})
