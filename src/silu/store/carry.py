"""Export: a session as one JSON document, whole and loss-free, or as Markdown to read.

Opaque vendor data goes along only when it is asked for. `importing` reads the document again.
"""

import base64
from typing import Any, Literal

import msgspec
import sqlalchemy as sa

from silu.store import blobs, codec, log, schema
from silu.store.sql import Tx
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
OF_SESSION = (
    schema.runs,
    schema.usage,
    schema.todos,
    schema.todo_history,
    schema.plans,
    schema.skills,
    schema.approvals,
    schema.epochs,
)
OF_RUN = (schema.steps,)
NOT_CARRIED = frozenset(
    {"id", "parent_id", "forked_at", "fence", "head", "log_start", "read_n", "attention_n"}
    | {"running_run", "waiting", "changed", "trashed_at", "kind"}
)


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
    rows = {table.name: _rows(tx, table, "session_id", [session_id]) for table in OF_SESSION}
    run_ids = [run["id"] for run in rows["runs"]]
    rows |= {table.name: _rows(tx, table, "run_id", run_ids) for table in OF_RUN}
    return Document(
        silu_export=VERSION,
        session={name: v for name, v in row.items() if name not in NOT_CARRIED},
        messages=found,
        rows=rows,
        blobs=[_blob(tx, sha256, files) for sha256 in sorted(_blobs_in(found))],
    )


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
