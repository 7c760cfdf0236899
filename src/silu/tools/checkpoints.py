"""Undo for what a run did to files: pictures of the workspace before and after it.

Kept in a folder of silu's own, outside the workspace and the person's git. A picture holds every
regular file that is not ignored and not too large; contents are stored once by their sha256.
Undo and redo touch only files that still are as the run (or its undo) left them, and delete none
that may have been there before, out of the picture.
"""

import contextlib
import hashlib
import os
import re
import shutil
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from silu.tools.changes import diff
from silu.tools.ignore import Ignore
from silu.tools.paths import open_inside
from silu.tools.walk import Walk, walk
from silu.types.errors import ToolError, UserError

MAX_FILE = 20_000_000
MAX_FILES = 50_000
MAX_BYTES = 1_000_000_000
"""Of all files of one picture together: a workspace may be somebody's whole home folder."""

_RUN_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


class Picture(msgspec.Struct, frozen=True):
    """One file as it was: `mode` are its permissions, `mtime` nanoseconds (a cache, no truth)."""

    sha256: str
    size: int
    mode: int
    mtime: int


Pictures = dict[str, Picture]

State = Literal["open", "done", "undone"]
"""A checkpoint's run is on, has ended, or has been undone."""


class Kept(msgspec.Struct):
    """A run's checkpoint; `after` is `None` while the run is on. `unseen` are files that were
    there before and are in no picture, `cut` says that there may be more of those."""

    workspace: str
    before: Pictures
    after: Pictures | None = None
    undone: bool = False
    unseen: list[str] = []
    cut: bool = False

    @property
    def state(self) -> "State":
        if self.after is None:
            return "open"
        return "undone" if self.undone else "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What happened to a file; `text` is a diff where both sides are text."""

    path: str
    kind: Literal["created", "changed", "deleted"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """Files put back, and files left alone because they were changed since."""

    done: list[str]
    left: list[str]


class Checkpoints:
    """The checkpoints in one folder. Not for use by two processes at once; blocking."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._objects = folder / "objects"

    def begin(self, run_id: str, workspace: Path) -> None:
        """Picture the workspace before a run's first change; later calls change nothing."""
        if not self._file(run_id).exists():
            seen = self._take(workspace, self._cache())
            kept = Kept(str(workspace), seen.pictures, unseen=seen.unseen, cut=seen.cut)
            self._write(run_id, kept)

    def end(self, run_id: str) -> None:
        """Picture the workspace after the run; a run that changed nothing leaves nothing."""
        if not self._file(run_id).exists():
            return
        kept = self._read(run_id)
        kept.after = self._after(kept)
        if _paths(kept.before, kept.after):
            self._write(run_id, kept)
        else:
            self._file(run_id).unlink()

    def runs(self) -> list[str]:
        """Runs with a checkpoint, oldest first (ids of runs begin with their time)."""
        return sorted(file.stem for file in self._folder.glob("*.json"))

    def state(self, run_id: str) -> State:
        return self._read(run_id).state

    def changes(self, run_id: str) -> list[Changed]:
        """What the run did, file by file."""
        kept = self._read(run_id)
        after = self._after(kept) if kept.after is None else kept.after
        return [
            self._changed(path, kept.before.get(path), after.get(path))
            for path in _paths(kept.before, after)
        ]

    def undo(self, run_id: str) -> Restored:
        """Put the files back to what they were before the run."""
        kept = self._read(run_id)
        restored = self._restore(kept, have=kept.after or {}, want=kept.before)
        self._write(run_id, msgspec.structs.replace(kept, undone=True))
        return restored

    def redo(self, run_id: str) -> Restored:
        """Put the files back to what the run made of them."""
        kept = self._read(run_id)
        restored = self._restore(kept, have=kept.before, want=kept.after or {})
        self._write(run_id, msgspec.structs.replace(kept, undone=False))
        return restored

    def forget(self) -> None:
        """Delete all of it: the files stay as they are, and cannot be put back any more."""
        if self._folder.exists():
            shutil.rmtree(self._folder)

    # -------------------------------------------------------------------------- inside

    def _restore(self, kept: Kept, *, have: Pictures, want: Pictures) -> Restored:
        root = Path(kept.workspace)
        if kept.after is None:
            raise UserError("This run has not ended yet.", code="bad_argument")
        done: list[str] = []
        left: list[str] = []
        for path in _paths(have, want):
            if not self._is_still(root, path, have.get(path)):
                left.append(path)
                continue
            self._put(root, path, want.get(path))
            done.append(path)
        return Restored(done=done, left=left)

    def _put(self, root: Path, path: str, picture: Picture | None) -> None:
        target = root / path
        if not _below(target, root):
            raise UserError(f"{path} now leads out of the workspace.", code="bad_argument")
        if picture is None:
            target.unlink()
            with contextlib.suppress(OSError):
                # Folders that the run made are empty now; others stay.
                target.parent.rmdir()
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name[:100]}.silu-restore")
        temporary.write_bytes(self._object(picture.sha256))
        temporary.chmod(picture.mode)
        temporary.replace(target)

    def _take(self, root: Path, known: Pictures) -> "_Seen":
        seen = _Seen()
        for entry in walk(root.resolve(), Path(), Walk()):
            if entry.kind != "file":
                continue
            size = entry.size or 0
            if size > MAX_FILE:
                seen.unseen.append(entry.path)
                continue
            if len(seen.pictures) >= MAX_FILES or seen.size + size > MAX_BYTES:
                seen.cut = True
                break
            seen.size += size
            try:
                picture = self._picture(root, entry.path, known.get(entry.path))
            except (ToolError, FileNotFoundError):
                # It vanishes, or cannot be read.
                seen.unseen.append(entry.path)
            else:
                seen.pictures[entry.path] = picture
        return seen

    def _after(self, kept: Kept) -> Pictures:
        """The workspace now, as far as a difference to `before` is the run's doing."""
        root, before = Path(kept.workspace), kept.before
        seen = self._take(root, before).pictures
        after = {p: new for p, new in seen.items() if p in before or self._is_new(kept, p)}
        for path in before.keys() - seen.keys():
            with contextlib.suppress(ToolError, OSError):
                # Not gone when it is only ignored by now, or has grown too large.
                after[path] = self._picture(root, path, before[path])
        return after

    def _is_new(self, kept: Kept, path: str) -> bool:
        """Whether a file that is not in `before` was not there either."""
        return not (kept.cut or path in kept.unseen or self._was_ignored(kept.before, path))

    def _was_ignored(self, before: Pictures, path: str) -> bool:
        """Whether the ignore rules of that time passed this file over."""
        rules, here = Ignore(), ""
        names = path.split("/")
        for depth, name in enumerate(names, start=1):
            inside = f"{here}/" if here else ""
            if (written := before.get(f"{inside}.gitignore")) is not None:
                text = self._object(written.sha256).decode("utf-8", errors="replace")
                rules = rules.plus(text, here)
            here = f"{inside}{name}"
            if rules.ignored(here, is_folder=depth < len(names)):
                return True
        return False

    def _is_still(self, root: Path, path: str, have: Picture | None) -> bool:
        """Whether what stands at this path now, seen or ignored, is the picture."""
        try:
            now = self._picture(root, path, have)
        except (FileNotFoundError, NotADirectoryError):
            now = None
        except (ToolError, OSError):
            # Something else than a file that can be read.
            return False
        return not _differ(now, have)

    def _picture(self, root: Path, path: str, known: Picture | None) -> Picture:
        status = (root / path).stat(follow_symlinks=False)
        mode = stat.S_IMODE(status.st_mode)
        size, mtime = status.st_size, status.st_mtime_ns
        if known is not None and (known.size, known.mtime, known.mode) == (size, mtime, mode):
            return known
        with os.fdopen(open_inside(root, Path(path)), "rb") as file:
            data = file.read()
        sha256 = hashlib.sha256(data).hexdigest()
        place = self._objects / sha256[:2] / sha256
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            temporary = place.with_suffix(".tmp")
            temporary.write_bytes(data)
            temporary.replace(place)
        return Picture(sha256, len(data), mode, mtime)

    def _cache(self) -> Pictures:
        """The newest picture there is: files unchanged since need not be read again."""
        names = self.runs()
        if not names:
            return {}
        kept = self._read(names[-1])
        return kept.after or kept.before

    def _changed(self, path: str, old: Picture | None, new: Picture | None) -> Changed:
        return Changed(path=path, kind=_kind(old, new), text=self._diff(path, old, new))

    def _diff(self, path: str, old: Picture | None, new: Picture | None) -> str:
        try:
            before = None if old is None else self._object(old.sha256).decode()
            after = "" if new is None else self._object(new.sha256).decode()
        except UnicodeDecodeError:
            return ""
        return diff(before, after, path)

    def _object(self, sha256: str) -> bytes:
        return (self._objects / sha256[:2] / sha256).read_bytes()

    def _file(self, run_id: str) -> Path:
        if not _RUN_ID.fullmatch(run_id):
            raise _unknown(run_id)
        return self._folder / f"{run_id}.json"

    def _read(self, run_id: str) -> Kept:
        try:
            return msgspec.json.decode(self._file(run_id).read_bytes(), type=Kept)
        except FileNotFoundError:
            raise _unknown(run_id) from None

    def _write(self, run_id: str, kept: Kept) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        temporary = self._file(run_id).with_suffix(".tmp")
        temporary.write_bytes(msgspec.json.encode(kept))
        temporary.replace(self._file(run_id))


@dataclass(slots=True)
class _Seen:
    """What a look at the workspace shows; see `Kept`."""

    pictures: Pictures = field(default_factory=dict[str, Picture])
    unseen: list[str] = field(default_factory=list[str])
    cut: bool = False
    size: int = 0


def _unknown(run_id: str) -> UserError:
    return UserError(f"There is no checkpoint of run {run_id[:80]}.", code="unknown_run")


def _kind(old: Picture | None, new: Picture | None) -> Literal["created", "changed", "deleted"]:
    if old is None:
        return "created"
    return "deleted" if new is None else "changed"


def _paths(a: Pictures, b: Pictures) -> list[str]:
    return sorted(path for path in a.keys() | b.keys() if _differ(a.get(path), b.get(path)))


def _differ(a: Picture | None, b: Picture | None) -> bool:
    if a is None or b is None:
        return a is not b
    return (a.sha256, a.mode) != (b.sha256, b.mode)


def _below(target: Path, root: Path) -> bool:
    return target.parent.resolve().is_relative_to(root.resolve())
