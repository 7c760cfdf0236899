"""A walk over the workspace that follows no link and passes over what is ignored."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from silu.tools.ignore import Ignore


@dataclass(frozen=True, slots=True)
class Entry:
    """`path` is posix and relative to the start; `size` is in bytes, `None` for folders."""

    path: str
    kind: str
    size: int | None
    depth: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """How to walk: folders deeper than `max_depth` are named, not entered."""

    max_depth: int = 100
    with_ignored: bool = False
    stop: Callable[[], None] = lambda: None


def walk(root: Path, base: Path, how: Walk) -> Iterator[Entry]:
    """Entries below `root / base`, folders before their content, names in order.

    The ignore rules of the folders above `base` count too.
    """
    rules = Ignore().enter(root, "")
    here = ""
    for name in base.parts:
        here = f"{here}/{name}" if here else name
        rules = rules.enter(root / here, here)
    yield from _down(root, here, rules, how, 1)


def _down(root: Path, here: str, rules: Ignore, how: Walk, depth: int) -> Iterator[Entry]:
    how.stop()
    for entry in _scan(root / here):
        path = f"{here}/{entry.name}" if here else entry.name
        is_folder = entry.is_dir(follow_symlinks=False)
        if not how.with_ignored and rules.ignored(path, is_folder=is_folder):
            continue
        yield _entry(entry, path, depth, is_folder=is_folder)
        if is_folder and depth < how.max_depth and entry.name != ".git":
            yield from _down(root, path, rules.enter(root / path, path), how, depth + 1)


def _scan(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        # A folder that vanished or may not be read has nothing to show.
        return []


def _entry(entry: os.DirEntry[str], path: str, depth: int, *, is_folder: bool) -> Entry:
    if entry.is_symlink():
        return Entry(path, "link", None, depth)
    if is_folder:
        return Entry(path, "folder", None, depth)
    try:
        return Entry(path, "file", entry.stat(follow_symlinks=False).st_size, depth)
    except OSError:
        # Deleted between the listing and the look: still named, without a size.
        return Entry(path, "file", None, depth)
