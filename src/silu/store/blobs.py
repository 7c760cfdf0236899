"""Attachments and full tool results: files by their sha256 under the data folder."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import sqlalchemy as sa

from silu.store import schema
from silu.store.ids import new_id
from silu.store.sql import Tx
from silu.types.errors import UserError
from silu.types.parts import BlobRef

_b = schema.blobs
_refs = schema.blob_refs


class BlobFiles:
    """The folder: `ab/cdef…`, each file written whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, data: bytes) -> str:
        """Keep bytes, return their sha256 (hex)."""
        sha256 = hashlib.sha256(data).hexdigest()
        path = self._path(sha256)
        if path.exists():
            return sha256
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_name(new_id("draft"))
        try:
            with open(draft, "xb", opener=_private) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(path)
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise UserError(
                f"The file could not be kept: {error.strerror}.",
                code="disk_full",
                setting="SILU_HOME",
                fix="Free some space in the data folder.",
            ) from error
        return sha256

    def read(self, sha256: str) -> bytes:
        try:
            return self._path(sha256).read_bytes()
        except FileNotFoundError as error:
            raise unknown_blob(sha256) from error

    def remove(self, sha256: str) -> None:
        with suppress(FileNotFoundError):
            self._path(sha256).unlink()

    def _path(self, sha256: str) -> Path:
        # The name comes from clients: only a digest may become a path.
        if len(sha256) != 64 or not set(sha256) <= set("0123456789abcdef"):
            raise unknown_blob(sha256[:80])
        return self._folder / sha256[:2] / sha256[2:]


def note(tx: Tx, ref: BlobRef) -> None:
    values = {
        "sha256": ref.sha256,
        "size": ref.size,
        "media_type": ref.media_type,
        "name": ref.name,
        "created_at": tx.now,
    }
    tx.upsert(_b, values, keep=("created_at",))


def find(tx: Tx, sha256: str) -> BlobRef:
    row = tx.execute(sa.select(_b).where(_b.c.sha256 == sha256)).first()
    if row is None:
        raise unknown_blob(sha256[:80])
    return BlobRef(sha256=row.sha256, size=row.size, media_type=row.media_type, name=row.name)


def unreferenced(
    tx: Tx, candidates: set[str] | None = None, *, before: int | None = None
) -> set[str]:
    """Blobs no message refers to: of `candidates`, or all that are older than `before` (ms)."""
    query = sa.select(_b.c.sha256).where(
        ~sa.exists(sa.select(_refs.c.sha256).where(_refs.c.sha256 == _b.c.sha256))
    )
    if candidates is not None:
        query = query.where(_b.c.sha256.in_(candidates))
    if before is not None:
        query = query.where(_b.c.created_at < before)
    return set(tx.execute(query).scalars())


def forget(tx: Tx, sha256s: set[str], files: BlobFiles) -> None:
    """Drop blobs; their files go once that is durable."""
    if not sha256s:
        return
    tx.execute(sa.delete(_b).where(_b.c.sha256.in_(sha256s)))
    tx.after_commit.append(lambda: _remove_all(files, sha256s))


def unknown_blob(sha256: str) -> UserError:
    return UserError(f"There is no blob {sha256}.", code="unknown_blob")


def _remove_all(files: BlobFiles, sha256s: set[str]) -> None:
    for sha256 in sha256s:
        files.remove(sha256)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
