"""One process owns a data folder. The lock is the system's: it ends with the process."""

import fcntl
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import msgspec

from silu.engine.api import OwnerInfo
from silu.types.errors import UserError

_LOCK = "owner.lock"
_INFO = "owner.json"
_TOKEN = "owner.token"
_READ_TRIES = 20


class Owner:
    """The lock, held until `release()` or the end of the process."""

    def __init__(self, folder: Path, lock: int, info: OwnerInfo) -> None:
        self.folder = folder
        self.info = info
        self._lock: int | None = lock

    @classmethod
    def acquire(cls, folder: Path) -> Self:
        """Own the folder; `UserError` code `owned` names the process and URL that has it.

        What a dead owner left behind is taken over.
        """
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(lock)
            raise _owned(folder, _read(folder)) from error
        owner = cls(folder, lock, OwnerInfo(pid=os.getpid(), started_at=_now()))
        (folder / _TOKEN).unlink(missing_ok=True)
        owner._write()
        return owner

    def publish(self, url: str, token: str) -> None:
        """Let `silu ask` and `silu chat` find this server; only this user can read the files."""
        path = self.folder / _TOKEN
        _write_private(path, token.encode())
        self.info = msgspec.structs.replace(self.info, kind="serve", url=url, token_path=str(path))
        self._write()

    def release(self) -> None:
        if self._lock is None:
            return
        for name in (_INFO, _TOKEN):
            (self.folder / name).unlink(missing_ok=True)
        os.close(self._lock)
        self._lock = None

    @staticmethod
    def find(folder: Path) -> OwnerInfo | None:
        """The living owner of a folder, if there is one."""
        if not _is_locked(folder / _LOCK):
            return None
        return _read(folder)

    def _write(self) -> None:
        _write_private(self.folder / _INFO, msgspec.json.encode(self.info))


def _is_locked(path: Path) -> bool:
    try:
        lock = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        # Shared, so that two that look at once do not take each other for the owner.
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _read(folder: Path) -> OwnerInfo | None:
    """Who has the lock; it may still be writing that down."""
    for _ in range(_READ_TRIES):
        with suppress(OSError, msgspec.MsgspecError):
            return msgspec.json.decode((folder / _INFO).read_bytes(), type=OwnerInfo)
        if not _is_locked(folder / _LOCK):
            return None
        time.sleep(0.01)
    return None


def _owned(folder: Path, info: OwnerInfo | None) -> UserError:
    who = "another silu" if info is None else f"the silu with process id {info.pid}"
    if info is not None and info.url:
        who += f" at {info.url}"
    fix = (
        "Use that one in the browser, stop it, or set SILU_HOME to another folder."
        if info is not None and info.url
        else "Wait until it has ended, or set SILU_HOME to another folder."
    )
    return UserError(
        f"The data folder {folder} is in use by {who}.", code="owned", setting="SILU_HOME", fix=fix
    )


def _write_private(path: Path, data: bytes) -> None:
    """Whole or not at all, readable by this user only."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    opener: Callable[[str, int], int] = _private
    with open(draft, "wb", opener=opener) as file:
        file.write(data)
    draft.replace(path)


def _private(path: Any, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _now() -> int:
    return time.time_ns() // 1_000_000
