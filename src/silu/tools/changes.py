"""Writing files inside the wall: whole, or not at all."""

import contextlib
import difflib
import os
import secrets
import stat
from pathlib import Path

from silu.tools.paths import inside, open_inside, reason
from silu.types.errors import ToolError

MAX_BYTES = 5_000_000
MAX_DIFF_LINES = 200


def read_text(workspace: Path, path: str) -> tuple[Path, str | None]:
    """The path inside the workspace and its text, `None` when there is no file yet.

    `ToolError` for what cannot be changed as text.
    """
    relative = inside(workspace, path)
    if not relative.parts:
        raise ToolError("the workspace itself is no file")
    if any(part.lower() == ".git" for part in relative.parts):
        # A hook or a setting planted here would run outside the sandbox, by the person's own git.
        raise ToolError(f"{relative.as_posix()} is git's own; only git itself changes it")
    if not os.path.lexists(Path(os.path.realpath(workspace)) / relative):
        return relative, None
    with os.fdopen(open_inside(workspace, relative), "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ToolError(f"{relative.as_posix()} is larger than {MAX_BYTES} bytes")
    try:
        return relative, data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ToolError(f"{relative.as_posix()} is not UTF-8 text; it was not changed") from error


def write_text(workspace: Path, relative: Path, text: str) -> None:
    """Put `text` in place of the file in one move; its permissions stay."""
    data = text.encode("utf-8")
    if len(data) > MAX_BYTES:
        raise ToolError(f"{len(data)} bytes are more than the {MAX_BYTES} that may be written")
    try:
        folder = _open_folder(workspace, relative)
        try:
            _replace(folder, relative.name, data)
        finally:
            os.close(folder)
    except OSError as error:
        raise ToolError(f"{relative.as_posix()}: {reason(error)}") from error


def _open_folder(workspace: Path, relative: Path) -> int:
    """The file's folder, made where it is missing; links on the way are not followed."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    folder = os.open(os.path.realpath(workspace), os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in relative.parts[:-1]:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, dir_fd=folder)
            step = os.open(name, flags, dir_fd=folder)
            os.close(folder)
            folder = step
    except OSError:
        os.close(folder)
        raise
    return folder


def _replace(folder: int, name: str, data: bytes) -> None:
    mode = 0o666
    with contextlib.suppress(FileNotFoundError):
        old = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(old.st_mode):
            raise ToolError(f"{name} is not a regular file; it was not changed")
        mode = stat.S_IMODE(old.st_mode)
    temporary = f".{name[:100]}.{secrets.token_hex(4)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(temporary, flags, mode, dir_fd=folder)
    try:
        with os.fdopen(file, "wb") as target:
            if mode != 0o666:
                os.fchmod(target.fileno(), mode)
            target.write(data)
            target.flush()
            os.fsync(target.fileno())
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise


def diff(old: str | None, new: str, name: str) -> str:
    """A unified diff, cut when it is long; "" when nothing changed."""
    lines = list(
        difflib.unified_diff(
            (old or "").splitlines(),
            new.splitlines(),
            "/dev/null" if old is None else f"a/{name}",
            f"b/{name}",
            lineterm="",
        )
    )
    if len(lines) > MAX_DIFF_LINES:
        rest = len(lines) - MAX_DIFF_LINES
        lines = [*lines[:MAX_DIFF_LINES], f"[{rest} more lines of the diff]"]
    return "\n".join(lines)
