"""Export and import: a session as one JSON document, whole and loss-free, or as Markdown to read.

Opaque vendor data goes along only when it is asked for. An imported session gets new ids; its log
of facts begins anew.
"""

import base64
from typing import Any, Literal

import msgspec
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, StatementError

from silu.store import blobs, codec, log, messages, schema, search
from silu.store.ids import new_id
from silu.store.sql import Tx
from silu.types.errors import UserError
from silu.types.parts import (
    BlobRef,
    Continuity,
    Part,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    VendorPart,
    encode_parts,
    part_from_object,
)

VERSION = 1
Thoughts = Literal["none", "summary", "full"]

_s = schema.sessions
_m = schema.messages
_h = schema.history
_OF_SESSION = (
    schema.runs,
    schema.usage,
    schema.todos,
    schema.todo_history,
    schema.plans,
    schema.skills,
    schema.approvals,
    schema.epochs,
)
_OF_RUN = (schema.steps,)
_NOT_CARRIED = frozenset(
    {"id", "parent_id", "forked_at", "fence", "head", "log_start", "read_n", "attention_n"}
    | {"running_run", "waiting", "changed", "trashed_at", "kind"}
)
_SERIALS = frozenset({"todo_history"})


class CarriedMessage(msgspec.Struct, kw_only=True):
    id: str
    role: Literal["system", "user", "assistant", "tool"]
    parts: list[dict[str, Any]]
    continuity: list[Continuity] = []
    interrupted: bool = False
    run_id: str | None = None
    step: int | None = None
    attempt: int = 0
    metadata: str | None = None
    created_at: int = 0


class CarriedBlob(msgspec.Struct, kw_only=True):
    """`data` is base64."""

    ref: BlobRef
    data: str


class Document(msgspec.Struct, kw_only=True):
    """`rows` are the session's other tables, column by column."""

    silu_export: int
    session: dict[str, Any]
    messages: list[CarriedMessage]
    rows: dict[str, list[dict[str, Any]]] = {}
    blobs: list[CarriedBlob] = []


def export(tx: Tx, session_id: str, files: blobs.BlobFiles, *, opaque: bool) -> Document:
    row = tx.execute(sa.select(_s).where(_s.c.id == session_id)).mappings().first()
    if row is None:
        raise log.unknown_session(session_id)
    found = _messages(tx, session_id, opaque=opaque)
    rows = {table.name: _rows(tx, table, "session_id", [session_id]) for table in _OF_SESSION}
    run_ids = [run["id"] for run in rows["runs"]]
    rows |= {table.name: _rows(tx, table, "run_id", run_ids) for table in _OF_RUN}
    return Document(
        silu_export=VERSION,
        session={name: v for name, v in row.items() if name not in _NOT_CARRIED},
        messages=found,
        rows=rows,
        blobs=[_blob(tx, sha256, files) for sha256 in sorted(_blobs_in(found))],
    )


def read_document(data: bytes) -> Document:
    """Read an export; `UserError` code `bad_import` says what is wrong with it."""
    try:
        document = msgspec.json.decode(data, type=Document)
        for message in document.messages:
            for part in message.parts:
                part_from_object(part)
    except msgspec.MsgspecError as error:
        raise UserError(
            f"This is no export of silu, or a damaged one: {error}.", code="bad_import"
        ) from error
    if document.silu_export > VERSION:
        raise UserError("This export was written by a newer silu.", code="bad_import")
    return document


def bring_in(tx: Tx, document: Document) -> str:
    """A new root session with what the document has; its blobs have been written already."""
    session_id = new_id("s")
    known = {column.name for column in _s.columns} - _NOT_CARRIED
    values = {name: v for name, v in document.session.items() if name in known}
    _insert(tx, _s, {**values, "id": session_id, "kind": "root"})
    new_names = _new_names(document)
    for message in document.messages:
        _put(tx, session_id, message, new_names)
    for table in (*_OF_SESSION, *_OF_RUN):
        for row in document.rows.get(table.name, []):
            _insert(tx, table, _renamed(table, row, session_id, new_names))
    log.touch(tx, session_id)
    return session_id


def markdown(document: Document, *, thoughts: Thoughts) -> str:
    """The conversation to read: answers only, with summaries, or with full thoughts."""
    title = document.session.get("title") or "silu"
    lines = [f"# {title}", ""]
    for message in document.messages:
        if message.role in ("user", "assistant"):
            parts = [part_from_object(dict(part)) for part in message.parts]
            body = [text for part in parts if (text := _told(part, thoughts))]
            if body:
                lines += [f"## {message.role.capitalize()}", "", "\n\n".join(body), ""]
    return "\n".join(lines)


# ------------------------------------------------------------------------------- export


def _messages(tx: Tx, session_id: str, *, opaque: bool) -> list[CarriedMessage]:
    query = (
        sa.select(_m)
        .select_from(_h.join(_m, _m.c.id == _h.c.message_id))
        .where(_h.c.session_id == session_id, _m.c.final.is_(True))
        .order_by(_h.c.seq)
    )
    return [_message(row, opaque=opaque) for row in tx.execute(query)]


def _message(row: sa.Row[Any], *, opaque: bool) -> CarriedMessage:
    parts = codec.unpack_parts(row.parts, row.thinking_content)
    if not opaque:
        parts = [part for part in parts if not _is_opaque(part)]
    return CarriedMessage(
        id=row.id,
        role=row.role,
        parts=msgspec.json.decode(encode_parts(parts)),
        continuity=codec.unpack_continuity(row.thinking_metadata) if opaque else [],
        interrupted=bool(row.interrupted),
        run_id=row.run_id,
        step=row.step,
        attempt=row.attempt,
        metadata=row.metadata,
        created_at=row.created_at,
    )


def _is_opaque(part: Part) -> bool:
    """A vendor's own block: nobody but that vendor reads it."""
    return isinstance(part, ServerToolPart | VendorPart)


def _rows(tx: Tx, table: sa.Table, column: str, values: list[str]) -> list[dict[str, Any]]:
    query = sa.select(table).where(table.c[column].in_(values)).order_by(*table.primary_key.columns)
    return [dict(row) for row in tx.execute(query).mappings()]


def _blobs_in(found: list[CarriedMessage]) -> set[str]:
    return {
        sha256
        for message in found
        for sha256 in codec.blobs_of([part_from_object(dict(part)) for part in message.parts])
    }


def _blob(tx: Tx, sha256: str, files: blobs.BlobFiles) -> CarriedBlob:
    data = base64.b64encode(files.read(sha256)).decode()
    return CarriedBlob(ref=blobs.find(tx, sha256), data=data)


# ------------------------------------------------------------------------------- import


def _new_names(document: Document) -> dict[str, str]:
    """Old ids of runs and messages → new ones: the same session may be there already."""
    runs = {run["id"]: new_id("r") for run in document.rows.get("runs", []) if "id" in run}
    names: dict[str, str] = {}
    for message in document.messages:
        step = f".{message.step}" if message.run_id in runs and message.role == "assistant" else ""
        base = runs[message.run_id] if step and message.run_id else new_id("m")
        fresh = base + step
        names[message.id] = fresh if fresh not in names.values() else new_id("m")
    return names | runs


def _put(tx: Tx, session_id: str, message: CarriedMessage, names: dict[str, str]) -> None:
    parts = [part_from_object(dict(part)) for part in message.parts]
    columns = codec.pack(parts, message.continuity)
    new = names[message.id]
    _insert(
        tx,
        _m,
        {
            "id": new,
            "session_id": session_id,
            "run_id": names.get(message.run_id or ""),
            "step": message.step,
            "attempt": message.attempt,
            "role": message.role,
            "parts": columns.parts,
            "interrupted": message.interrupted,
            "final": True,
            "metadata": message.metadata,
            "created_at": message.created_at,
            "thinking_content": columns.thinking_content,
            "thinking_metadata": columns.thinking_metadata,
        },
    )
    messages.link(tx, session_id, new)
    for sha256 in codec.blobs_of(parts):
        tx.upsert(schema.blob_refs, {"message_id": new, "sha256": sha256})
    search.note(tx, new)


def _renamed(
    table: sa.Table, row: dict[str, Any], session_id: str, names: dict[str, str]
) -> dict[str, Any]:
    columns = {column.name for column in table.columns}
    values = {name: v for name, v in row.items() if name in columns}
    for name in ("id", "run_id", "message_id", "user_message_id", "first_message"):
        if isinstance(values.get(name), str):
            values[name] = names.get(values[name], values[name])
    if table.name in _SERIALS:
        del values["id"]
    if table is schema.approvals:
        values["id"] = new_id("a")
    if table is schema.runs:
        values |= {"status": "done", "wait_id": None, "input": None}
    if "session_id" in columns:
        values["session_id"] = session_id
    return values


def _insert(tx: Tx, table: sa.Table, values: dict[str, Any]) -> None:
    try:
        tx.execute(sa.insert(table).values(**values))
    except (IntegrityError, StatementError) as error:
        raise UserError(
            f"The export's table {table.name} does not fit together.", code="bad_import"
        ) from error


# ----------------------------------------------------------------------------- Markdown


def _told(part: Part, thoughts: Thoughts) -> str | None:
    match part:
        case TextPart():
            return part.text.strip() or None
        case ThinkingPart() if thoughts == "full" or (
            thoughts == "summary" and part.kind == "summary"
        ):
            return _quoted("Thinking", part.text)
        case ThinkingPart() if thoughts == "summary":
            seconds = "" if part.duration_ms is None else f" for {part.duration_ms / 1000:.0f} s"
            return f"> *Thought{seconds}*"
        case ToolCallPart():
            return f"`{part.name}`"
        case _:
            return None


def _quoted(label: str, text: str) -> str | None:
    if not text.strip():
        return None
    return "\n".join([f"> **{label}**", ">", *(f"> {line}" for line in text.strip().splitlines())])
