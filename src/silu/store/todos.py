"""One list of todos a session, every change of it kept."""

import msgspec
import sqlalchemy as sa

from silu.store import log, schema
from silu.store.sql import Tx
from silu.types.facts import TodoUpdate
from silu.types.todos import Todo, TodoSummary, summarise

_t = schema.todos


def replace(tx: Tx, session_id: str, todos: list[Todo], *, by: str, run_id: str | None) -> None:
    tx.execute(sa.delete(_t).where(_t.c.session_id == session_id))
    tx.insert_rows(_t, [_row(session_id, index, todo) for index, todo in enumerate(todos)])
    tx.execute(
        sa.insert(schema.todo_history),
        {
            "session_id": session_id,
            "run_id": run_id,
            "by": by,
            "todos": msgspec.json.encode(todos).decode(),
            "ts": tx.now,
        },
    )
    summary = msgspec.json.encode(summarise(todos)).decode()
    log.touch(tx, session_id, todo_summary=summary)


def read(tx: Tx, session_id: str) -> list[Todo]:
    rows = tx.execute(sa.select(_t).where(_t.c.session_id == session_id).order_by(_t.c.position))
    return [
        Todo(
            id=row.todo_id,
            content=row.content,
            status=row.status,
            origin=row.origin,
            plan_revision=row.plan_revision,
            reason=row.reason,
        )
        for row in rows
    ]


def history(tx: Tx, session_id: str) -> list[tuple[int, str, list[Todo]]]:
    """Every state of the list, oldest first: (ms, who changed it, the list)."""
    table = schema.todo_history
    rows = tx.execute(sa.select(table).where(table.c.session_id == session_id).order_by(table.c.id))
    return [(row.ts, row.by, msgspec.json.decode(row.todos, type=list[Todo])) for row in rows]


def update_of(todos: list[Todo]) -> TodoUpdate:
    return TodoUpdate(todos=todos, summary=summarise(todos))


def summary_from(text: str | None) -> TodoSummary:
    return msgspec.json.decode(text, type=TodoSummary) if text else summarise([])


def _row(session_id: str, index: int, todo: Todo) -> dict[str, object]:
    return {
        "session_id": session_id,
        "position": index,
        "todo_id": todo.id,
        "content": todo.content,
        "status": todo.status,
        "origin": todo.origin,
        "plan_revision": todo.plan_revision,
        "reason": todo.reason,
    }
