"""Sessions: made, listed, changed, forked, deleted."""

from collections.abc import Mapping
from typing import Any

import msgspec
import sqlalchemy as sa

from silu.store import children, log, messages, plans, runs, schema, todos
from silu.store.api import NewSession, Session, SessionKind, SessionPage
from silu.store.ids import new_id
from silu.store.sql import Tx
from silu.types.errors import UserError
from silu.types.facts import FactData, Mode, ModeUpdate, SessionUpdate, TokenUpdate
from silu.types.frames import SessionItem, Wait
from silu.types.levels import LevelChoice, parse_level

_s = schema.sessions
_h = schema.history


def create(tx: Tx, new: NewSession) -> str:
    session_id = new_id("s")
    tx.execute(
        sa.insert(_s),
        {
            "id": session_id,
            "kind": new.kind,
            "parent_id": new.parent_id,
            "title": new.title,
            "mode": new.mode,
            "build_model": new.model,
            "build_level": new.level,
            "workspace": new.workspace,
            "language": new.language,
            "max_tokens": new.max_tokens,
            "temperature": new.temperature,
            "top_p": new.top_p,
            "rules": msgspec.json.encode(new.rules).decode() if new.rules else None,
            "agent": new.agent,
            "prompt": new.prompt,
            "thinking_limit": runs.json_of(new.thinking_limit),
            "created_at": tx.now,
        },
    )
    log.touch(tx, session_id)
    return session_id


def read(tx: Tx, session_id: str, *, mode: Mode | None = None) -> Session:
    """A session as it is, or as it would be in another mode."""
    row = tx.execute(sa.select(_s).where(_s.c.id == session_id)).first()
    if row is None:
        raise log.unknown_session(session_id)
    model, level = _choice(row, mode or row.mode)
    kind: SessionKind = row.kind
    return Session(
        item=item_of(row),
        kind=kind,
        model=model,
        mode=mode or row.mode,
        level=level,
        workspace=row.workspace,
        workspace_locked=bool(row.workspace_locked),
        language=row.language,
        forked_at=row.forked_at,
        run_id=row.running_run,
        todos=todos.read(tx, session_id),
        plan=plans.newest(tx, session_id),
        tokens=msgspec.json.decode(row.tokens, type=TokenUpdate) if row.tokens else None,
        queue=runs.queue(tx, session_id),
        waits=waits(tx, session_id),
        max_tokens=row.max_tokens,
        temperature=row.temperature,
        top_p=row.top_p,
        trashed_at=row.trashed_at,
        rules=runs.rules(tx, session_id),
        agent=row.agent,
        prompt=row.prompt,
        thinking_limit=runs.limit_of(row),
        renew=bool(row.renew),
    )


def items(tx: Tx, ids: set[str]) -> list[SessionItem]:
    """The lines of some sessions; those that are gone or in the bin are left out."""
    rows = tx.execute(
        sa.select(_s)
        .where(_s.c.id.in_(ids), _s.c.trashed_at.is_(None), _s.c.kind != "child")
        .order_by(_s.c.updated_at.desc())
    )
    return [item_of(row) for row in rows]


def page(tx: Tx, *, since: int, archived: bool, trashed: bool, limit: int) -> SessionPage:
    """Newest first; with `since` only what changed after it, in the list or out of it."""
    query = sa.select(_s).where(_s.c.kind != "child", _s.c.changed > since)
    query = query.where(_s.c.trashed_at.is_not(None) if trashed else _s.c.trashed_at.is_(None))
    if not since and not trashed:
        query = query.where(_s.c.archived.is_(archived))
    rows = tx.execute(query.order_by(_s.c.updated_at.desc(), _s.c.id.desc()).limit(limit)).all()
    return SessionPage(
        sessions=[item_of(row) for row in rows], n=counter(tx), gone=_gone(tx, since)
    )


def counter(tx: Tx) -> int:
    """The sidebar's counter now."""
    return tx.execute(sa.select(log.next_change())).scalar_one() - 1


def item_of(row: sa.Row[Any]) -> SessionItem:
    model, _ = _choice(row, row.mode)
    return SessionItem(
        id=row.id,
        title=row.title,
        model=model,
        mode=row.mode,
        created_at=row.created_at,
        updated_at=row.updated_at,
        parent_id=row.parent_id,
        archived=bool(row.archived),
        is_running=row.running_run is not None,
        waiting=bool(row.waiting),
        unread=row.attention_n > row.read_n,
        last_message=None if row.last_message is None else row.last_message,
        todo_summary=todos.summary_from(row.todo_summary),
        head=row.head,
    )


def waits(tx: Tx, session_id: str) -> list[Wait]:
    """What a person still has to answer, to the session or to its sub-agents."""
    table = schema.approvals
    rows = tx.execute(
        sa.select(table.c.kind, table.c.data)
        .where(table.c.session_id.in_(children.family(tx, session_id)), table.c.status == "open")
        .order_by(table.c.created_at)
    )
    return [Wait(type=row.kind, data=msgspec.json.decode(row.data)) for row in rows]


def rename(tx: Tx, session_id: str, title: str) -> None:
    require(tx, session_id)
    log.touch(tx, session_id, title=title)
    log.append(tx, session_id, None, [SessionUpdate(title=title)])


def archive(tx: Tx, session_id: str, archived: bool) -> None:
    require(tx, session_id)
    log.touch(tx, session_id, archived=archived)


def renew(tx: Tx, session_id: str) -> None:
    require(tx, session_id)
    tx.execute(sa.update(_s).where(_s.c.id == session_id).values(renew=True))


def style(tx: Tx, session_id: str, values: Mapping[str, Any]) -> None:
    """Keep who answers and how: `agent`, `prompt`, `max_tokens`, `temperature`, `top_p`,
    `thinking_limit`; what is not among `values` stays. A new agent or prompt is in the system
    text from the next turn on."""
    require(tx, session_id)
    kept = dict(values)
    if "thinking_limit" in kept:
        kept["thinking_limit"] = runs.json_of(kept["thinking_limit"])
    if kept.keys() & {"agent", "prompt"}:
        kept["renew"] = True
    log.touch(tx, session_id, **kept)


def set_workspace(tx: Tx, session_id: str, workspace: str) -> None:
    row = tx.execute(
        sa.select(_s.c.workspace, _s.c.workspace_locked).where(_s.c.id == session_id)
    ).first()
    if row is None:
        raise log.unknown_session(session_id)
    if row.workspace_locked and row.workspace != workspace:
        raise UserError(
            "The workspace of this session cannot change any more: a tool has run in it.",
            code="workspace_locked",
            fix="Start a new session in the other folder.",
        )
    log.touch(tx, session_id, workspace=workspace)


def set_mode(tx: Tx, session_id: str, mode: Mode) -> None:
    """The person's choice; it stands above the mode that a run under way was sent with."""
    require(tx, session_id)
    log.touch(tx, session_id, mode=mode)
    runs.let_go(tx, session_id, "turn_mode")
    log.append(tx, session_id, None, [ModeUpdate(mode=mode)])


def choose(
    tx: Tx,
    session_id: str,
    *,
    model: str | None = None,
    level: LevelChoice | None = None,
    mode: Mode | None = None,
    facts: tuple[FactData, ...] = (),
) -> None:
    """Set the model or the level of one mode, the present one unless named."""
    kept = mode or _mode(tx, session_id)
    values: dict[str, Any] = {}
    if model is not None:
        values[f"{kept}_model"] = model
    if level is not None:
        values[f"{kept}_level"] = level
        if mode is None:
            runs.let_go(tx, session_id, "turn_level")
    log.touch(tx, session_id, **values)
    log.append(tx, session_id, None, facts)


def mark_read(tx: Tx, session_id: str) -> None:
    row = tx.execute(
        sa.select(_s.c.head, _s.c.read_n, _s.c.attention_n).where(_s.c.id == session_id)
    ).first()
    if row is None:
        raise log.unknown_session(session_id)
    if row.attention_n > row.read_n:
        log.touch(tx, session_id, read_n=row.head)
        log.append(tx, session_id, None, [SessionUpdate(unread=False)])


def trash(tx: Tx, session_id: str, *, away: bool) -> None:
    """Put a session into the bin or take it out again."""
    require(tx, session_id)
    log.touch(tx, session_id, trashed_at=tx.now if away else None)
    log.append(tx, session_id, None, [SessionUpdate(deleted=away)])


def trashed(tx: Tx, *, before: int) -> list[str]:
    """Sessions that were put into the bin before `before` (ms)."""
    return list(tx.execute(sa.select(_s.c.id).where(_s.c.trashed_at < before)).scalars())


def works_in(tx: Tx, folder: str) -> bool:
    return bool(tx.execute(sa.select(sa.exists().where(_s.c.workspace == folder))).scalar())


def fork(tx: Tx, session_id: str, message_id: str | None, *, before: bool = False) -> str:
    """A sibling that shares the messages up to and including `message_id`, with the results of
    its calls; with `before` only those in front of it. Todos, plan, mode and levels come along.
    """
    source = tx.execute(sa.select(_s).where(_s.c.id == session_id)).first()
    if source is None:
        raise log.unknown_session(session_id)
    last = _last_shared(tx, session_id, message_id, before=before)
    shared = sa.select(_h.c.seq, _h.c.message_id).where(
        _h.c.session_id == session_id, _h.c.seq <= last
    )
    fork_id = new_id("s")
    forked_at = tx.execute(
        shared.with_only_columns(_h.c.message_id).order_by(_h.c.seq.desc()).limit(1)
    ).scalar()
    copied = {name: getattr(source, name) for name in _COPIED}
    tx.execute(
        sa.insert(_s),
        {
            **copied,
            "id": fork_id,
            "kind": "branch",
            "parent_id": session_id,
            "forked_at": forked_at,
            "created_at": tx.now,
        },
    )
    columns = ["session_id", "seq", "message_id"]
    rows = shared.with_only_columns(sa.literal(fork_id), _h.c.seq, _h.c.message_id)
    tx.execute(sa.insert(_h).from_select(columns, rows))
    _copy_lists(tx, session_id, fork_id)
    log.touch(tx, fork_id)
    return fork_id


_COPIED = (
    "title",
    "mode",
    "build_model",
    "build_level",
    "plan_model",
    "plan_level",
    "workspace",
    "workspace_locked",
    "language",
    "max_tokens",
    "temperature",
    "top_p",
    "rules",
    "agent",
    "prompt",
    "thinking_limit",
    "last_message",
    "todo_summary",
)


def require(tx: Tx, session_id: str) -> None:
    _mode(tx, session_id)


def _mode(tx: Tx, session_id: str) -> Mode:
    mode: Mode | None = tx.execute(sa.select(_s.c.mode).where(_s.c.id == session_id)).scalar()
    if mode is None:
        raise log.unknown_session(session_id)
    return mode


def _choice(row: sa.Row[Any], mode: Mode) -> tuple[str | None, LevelChoice | None]:
    """Model and level of one mode; plan mode falls back to build's."""
    model, level = row.build_model, row.build_level
    if mode == "plan":
        model, level = row.plan_model or model, row.plan_level or level
    return model, None if level is None else parse_level(level)


def _last_shared(tx: Tx, session_id: str, message_id: str | None, *, before: bool) -> int:
    newest = tx.execute(
        sa.select(sa.func.max(_h.c.seq)).where(_h.c.session_id == session_id)
    ).scalar()
    if message_id is None:
        return newest or 0
    place = messages.place_of(tx, session_id, message_id)
    if before:
        return place - 1
    m = schema.messages
    following = tx.execute(
        sa.select(_h.c.seq, m.c.role)
        .select_from(_h.join(m, m.c.id == _h.c.message_id))
        .where(_h.c.session_id == session_id, _h.c.seq > place)
        .order_by(_h.c.seq)
        .limit(64)
    )
    for row in following:
        if row.role != "tool":
            break
        place = row.seq
    return place


def _copy_lists(tx: Tx, source: str, target: str) -> None:
    for table in (schema.todos, schema.plans):
        names = [column.name for column in table.columns if column.name != "session_id"]
        rows = sa.select(sa.literal(target), *(table.c[name] for name in names)).where(
            table.c.session_id == source
        )
        tx.execute(sa.insert(table).from_select(["session_id", *names], rows))


def _gone(tx: Tx, since: int) -> list[str]:
    """Sessions a list that was read at `since` still shows and that are deleted or in the bin."""
    if not since:
        return []
    deleted = sa.select(schema.gone.c.session_id).where(schema.gone.c.changed > since)
    away = sa.select(_s.c.id).where(_s.c.changed > since, _s.c.trashed_at.is_not(None))
    return [*tx.execute(deleted).scalars(), *tx.execute(away).scalars()]
