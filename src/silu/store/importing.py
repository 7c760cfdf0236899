"""Import: an exported document becomes a new session, or nothing of it is kept.

The document may have been written by anybody. It gets new ids and a log of facts of its own, and
nothing in it opens anything here: its folder, the calls it was allowed and the system texts it was
sent under stay behind. What was brought in is read once, as pages and turns will read it, before
it is kept.
"""

import io
import zipfile
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.exc import StatementError

from silu.store import (
    blobs,
    carry,
    codec,
    log,
    messages,
    plans,
    schema,
    search,
    sessions,
    todos,
)
from silu.store.carry import CarriedMessage, Document
from silu.store.database import trouble_of
from silu.store.ids import new_id
from silu.store.sql import Tx
from silu.types.errors import UserError
from silu.types.frames import SessionItem
from silu.types.parts import part_from_object
from silu.types.sizes import has_too_many_values
from silu.types.todos import Todo

MOST_BYTES = 256 * 1024 * 1024
"""What a document may be once it is unpacked."""

_s = schema.sessions
_m = schema.messages
_TABLES = tuple(table for table in (*carry.OF_SESSION, *carry.OF_RUN) if table is not schema.epochs)
_LEFT_OUT = carry.NOT_CARRIED | {
    "workspace",
    "workspace_locked",
    "rules",
    "agent",
    "prompt",
    "thinking_limit",
}
_SERIALS = frozenset({"todo_history"})


def read_document(data: bytes) -> Document:
    """Read an export, plain or in a zip archive; `UserError` code `bad_import` says what is wrong
    with it."""
    raw = _unpacked(data) if data.startswith(b"PK") else data
    if has_too_many_values(raw):
        raise _bad("This export has more in it than a session can have.")
    try:
        document = msgspec.json.decode(raw, type=Document)
        for message in document.messages:
            for part in message.parts:
                part_from_object(part)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _bad(f"This is no export of silu, or a damaged one: {error}.") from error
    except RecursionError as error:
        raise _bad("This is no export of silu: it is nested too deeply.") from error
    if document.silu_export > carry.VERSION:
        raise _bad("This export was written by a newer silu.")
    return document


def bring_in(tx: Tx, document: Document) -> str:
    """A new root session with what the document has; its blobs have been written already."""
    session_id = new_id("s")
    try:
        _write(tx, session_id, document)
        _prove(tx, session_id)
    except StatementError as error:
        if trouble_of(error) is not None:
            raise  # the database's own trouble
        raise _bad("The export's tables do not fit together.") from error
    except (msgspec.MsgspecError, LookupError, ValueError, TypeError, OverflowError) as error:
        raise _bad(f"The export does not fit together ({type(error).__name__}).") from error
    return session_id


def _unpacked(data: bytes) -> bytes:
    """The one JSON document of a zip archive. What the archive says of its size is not believed:
    reading stops at the limit."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [name for name in archive.namelist() if name.endswith(".json")]
            if len(names) != 1:
                raise _bad("An archive must hold one exported session, a .json file.")
            with archive.open(names[0]) as file:
                raw = file.read(MOST_BYTES + 1)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise _bad("This archive cannot be read.") from error
    if len(raw) > MOST_BYTES:
        raise _bad(f"The archive unpacks to more than {MOST_BYTES // 1024**2} MiB.")
    return raw


def _write(tx: Tx, session_id: str, document: Document) -> None:
    known = {column.name for column in _s.columns} - _LEFT_OUT
    values = {name: v for name, v in document.session.items() if name in known}
    _insert(tx, _s, {**values, "id": session_id, "kind": "root"})
    names = _new_names(document)
    for message in document.messages:
        _put(tx, session_id, message, names)
    for table in _TABLES:
        for row in document.rows.get(table.name, []):
            _insert(tx, table, _renamed(table, row, session_id, names))
    log.touch(tx, session_id)


def _prove(tx: Tx, session_id: str) -> None:
    """Read everything as it will be read: a value that cannot be would spoil whole lists later."""
    for mode in ("plan", "build"):
        session = sessions.read(tx, session_id, mode=mode)
        msgspec.convert(msgspec.to_builtins(session.item), SessionItem)
        msgspec.convert(msgspec.to_builtins(session.todos), list[Todo])
    msgspec.json.encode(messages.page(tx, session_id, before=None, limit=1 << 30))
    messages.history(tx, session_id)
    plans.every(tx, session_id)
    todos.history(tx, session_id)


def _new_names(document: Document) -> dict[str, str]:
    """Old ids of runs and messages → new ones: the same session may be there already."""
    runs = {run["id"]: new_id("r") for run in document.rows.get("runs", []) if "id" in run}
    names: dict[str, str] = {}
    taken: set[str] = set()
    for message in document.messages:
        step = f".{message.step}" if message.run_id in runs and message.role == "assistant" else ""
        base = runs[message.run_id] if step and message.run_id else new_id("m")
        fresh = base + step
        names[message.id] = fresh if fresh not in taken else new_id("m")
        taken.add(names[message.id])
    return names | runs


def _put(tx: Tx, session_id: str, message: CarriedMessage, names: dict[str, str]) -> None:
    parts = [part_from_object(dict(part)) for part in message.parts]
    columns = codec.pack(parts, message.continuity)
    new = names[message.id]
    row = {
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
    }
    _insert(tx, _m, row)
    messages.link(tx, session_id, new)
    for sha256 in codec.blobs_of(parts):
        _require_blob(tx, sha256)
        tx.upsert(schema.blob_refs, {"message_id": new, "sha256": sha256})
    search.note(tx, new)


def _require_blob(tx: Tx, sha256: str) -> None:
    try:
        blobs.find(tx, sha256)
    except UserError as error:
        raise _bad("An attachment of the export is missing.") from error


def _renamed(
    table: sa.Table, row: dict[str, Any], session_id: str, names: dict[str, str]
) -> dict[str, Any]:
    columns = {column.name for column in table.columns} - {"thinking_limit"}
    values = {name: v for name, v in row.items() if name in columns}
    for name in ("id", "run_id", "message_id", "user_message_id", "first_message"):
        if isinstance(values.get(name), str):
            values[name] = names.get(values[name], values[name])
    if table.name in _SERIALS:
        values.pop("id", None)
    if table is schema.approvals:
        # Nothing waits for an answer any more: the run that asked is over.
        values |= {"id": new_id("a"), "status": "answered"}
    if table is schema.runs:
        values |= {"status": "done", "wait_id": None, "input": None}
    if "session_id" in columns:
        values["session_id"] = session_id
    return values


def _insert(tx: Tx, table: sa.Table, values: dict[str, Any]) -> None:
    """SQLite takes any value in any column; what reads it later does not."""
    for name, value in values.items():
        if value is None or isinstance(value, _KINDS[type(table.c[name].type)]):
            continue
        raise _bad(f"The export's {table.name}.{name} is of the wrong kind.")
    tx.execute(sa.insert(table).values(**values))


_KINDS: dict[type, tuple[type, ...]] = {
    sa.Text: (str,),
    schema.SafeText: (str,),
    sa.BigInteger: (int,),
    sa.Boolean: (bool, int),
    sa.Float: (float, int),
}


def _bad(message: str) -> UserError:
    return UserError(message, code="bad_import")
