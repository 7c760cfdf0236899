"""Small JSON files that several processes share: atomic writes, re-read when they change."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from silu.types.errors import UserError

T = TypeVar("T")


def write_atomic(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Replace `path` in one step; a reader sees the old file or the new one, never a half."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold the file's own lock against other processes that read, change and write it."""
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (path.parent / f".{path.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class SharedFile(Generic[T]):
    """A JSON file of one type. `read` costs one `stat` while nothing changed.

    A file that cannot be read as `T` raises `UserError` (`bad_config`) and is never overwritten.
    """

    def __init__(self, path: Path, kind: type[T], *, empty: Callable[[], T]) -> None:
        self.path = path
        self._decoder = msgspec.json.Decoder(kind)
        self._empty = empty
        self._seen: tuple[int, int, int] | None = None
        self._value: T = empty()

    def read(self) -> T:
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            self._seen, self._value = None, self._empty()
            return self._value
        seen = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        if seen != self._seen:
            self._value = self._parse(self.path.read_bytes())
            self._seen = seen
        return self._value

    def change(self, edit: Callable[[T], T]) -> T:
        """Read, edit and write under the file's lock; gives the new value."""
        with locked(self.path):
            value = edit(self.read())
            data = msgspec.json.format(msgspec.json.encode(value), indent=2)
            write_atomic(self.path, data + b"\n")
        return self.read()

    def _parse(self, data: bytes) -> T:
        try:
            return self._decoder.decode(data)
        except msgspec.MsgspecError as error:
            raise UserError(
                f"{self.path} cannot be read: {error}.",
                code="bad_config",
                setting=str(self.path),
                fix="Correct the file or move it away; it was left as it is.",
            ) from error
