"""The wall around the workspace: no path, `..` or symlink leads out of it.

A path is resolved first, so that a link pointing outside is refused with a clear word; then the
file is opened component by component without following links, so that a link put in place
between the two steps is refused as well.
"""

import os
import stat
from pathlib import Path

from silu.types.errors import ToolError


def inside(workspace: Path, path: str) -> Path:
    """The path relative to the workspace, free of links and `..`; `ToolError` if it leaves."""
    if "\0" in path:
        raise ToolError("a path cannot contain a NUL character")
    root = Path(os.path.realpath(workspace))
    try:
        real = Path(os.path.realpath(root / path.strip()))
        return real.relative_to(root)
    except ValueError:
        raise ToolError(
            f"{path!r} is outside the workspace; use a path inside it, such as '.'"
        ) from None
    except OSError as error:
        raise ToolError(f"{path!r} cannot be resolved: {error.strerror}") from error


def open_inside(workspace: Path, relative: Path, flags: int = os.O_RDONLY) -> int:
    """A file descriptor of a path given by `inside`; links on the way are not followed.

    Raises `ToolError` for what is missing, forbidden or not a regular file.
    """
    parts = relative.parts
    folder = os.open(os.path.realpath(workspace), os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in parts[:-1]:
            step = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = step
        last = parts[-1] if parts else "."
        # O_NONBLOCK: opening a pipe without a writer would otherwise hang the thread.
        mode = flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        file = os.open(last, mode, 0o666, dir_fd=folder)
    except OSError as error:
        raise ToolError(f"{relative.as_posix()}: {reason(error)}") from error
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        is_folder = stat.S_ISDIR(os.fstat(file).st_mode)
        os.close(file)
        kind = "a folder; list it with list_files" if is_folder else "not a regular file"
        raise ToolError(f"{relative.as_posix() or '.'} is {kind}")
    return file


def reason(error: OSError) -> str:
    """Why the system refused, in words for the model."""
    if isinstance(error, FileNotFoundError):
        return "no such file; list_files shows what is there"
    return (error.strerror or type(error).__name__).lower()
