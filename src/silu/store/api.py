"""The store's public face, as a protocol: what `silu.store.Store` offers its callers.

Every method is a coroutine over a dedicated thread. Errors a person can mend are `UserError`
with one of the codes `newer_database`, `not_a_database`, `damaged_database`, `locked`,
`disk_full`, `database_unreachable`, `unknown_session`, `unknown_message`, `bad_argument`.
Whatever takes `client_id` does its work once: the same id again, also after a restart, gives
the first answer. Facts passed in, or made here, are numbered in the same transaction and reach
the hub after it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, Self

import msgspec

from silu.types.api import CallView
from silu.types.capabilities import Learned
from silu.types.facts import FactData, Mode, QueuedSend, TokenUpdate
from silu.types.frames import FactFrame, MessagePage, SessionItem, SnapshotData, Wait
from silu.types.levels import LevelChoice
from silu.types.parts import BlobRef, Message
from silu.types.todos import Plan, Todo

SessionKind = Literal["root", "branch", "child"]


class Session(msgspec.Struct, kw_only=True):
    """One session, whole. `model` and `level` are those of `mode`; `level` is `None` while
    nobody chose one. `forked_at` is the id of the last shared message. `head` is the number of
    its last fact. `workspace_locked`: a tool has run, the folder stays."""

    item: SessionItem
    kind: SessionKind
    model: str | None
    mode: Mode
    level: LevelChoice | None
    workspace: str
    workspace_locked: bool
    language: str
    forked_at: str | None
    run_id: str | None
    todos: list[Todo]
    plan: Plan | None
    tokens: TokenUpdate | None
    queue: list[QueuedSend]
    waits: list[Wait]
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    trashed_at: int | None = None


class NewSession(msgspec.Struct, kw_only=True):
    """What a session starts with; `workspace` "" until its folder is known (`set_workspace`).
    `model` and `level` hold for both modes until one of them gets its own."""

    model: str | None = None
    level: LevelChoice | None = None
    mode: Mode = "build"
    title: str = ""
    workspace: str = ""
    language: str = "en"
    kind: SessionKind = "root"
    parent_id: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None


class StoreApi(Protocol):
    """What `Store` offers."""

    @classmethod
    async def open(
        cls, place: str | Path, *, blobs: Path | None = None, backups: Path | None = None
    ) -> Self:
        """Open `sqlite:///…`, `postgresql://…` or a file's path; make or migrate it when due.

        `blobs` and `backups` are folders, beside the database file unless given.
        """
        ...

    async def close(self) -> None: ...

    # ------------------------------------------------------------------- sessions
    async def create_session(self, new: NewSession, *, client_id: str | None = None) -> Session: ...

    async def session(self, session_id: str) -> Session: ...

    async def list_sessions(
        self, *, since: int = 0, archived: bool = False, trashed: bool = False, limit: int = 200
    ) -> "SessionPage": ...

    async def rename(
        self, session_id: str, title: str, *, client_id: str | None = None
    ) -> None: ...

    async def archive(self, session_id: str, archived: bool = True) -> None: ...

    async def set_workspace(self, session_id: str, workspace: str | Path) -> None:
        """`UserError` code `workspace_locked` after the first tool call."""
        ...

    async def trash(self, session_id: str) -> None:
        """Hide it, to be restored or purged."""
        ...

    async def restore(self, session_id: str) -> None: ...

    async def purge(self, session_id: str) -> None:
        """Delete for good: messages no branch shares, facts, deltas, blobs nobody else uses."""
        ...

    async def fork(
        self, session_id: str, message_id: str | None = None, *, client_id: str | None = None
    ) -> Session:
        """A sibling that shares the messages up to and including `message_id` (all when None)."""
        ...

    async def set_level(
        self,
        session_id: str,
        level: LevelChoice,
        *,
        mode: Mode | None = None,
        facts: Sequence[FactData] = (),
        client_id: str | None = None,
    ) -> None: ...

    async def set_model(
        self,
        session_id: str,
        model: str,
        *,
        mode: Mode | None = None,
        facts: Sequence[FactData] = (),
        client_id: str | None = None,
    ) -> None: ...

    async def set_mode(
        self, session_id: str, mode: Mode, *, client_id: str | None = None
    ) -> None: ...

    async def mark_read(self, session_id: str) -> None: ...

    # ---------------------------------------------------------- messages and log
    async def messages(
        self, session_id: str, *, before: str | None = None, limit: int = 50
    ) -> MessagePage:
        """The last `limit` messages before the cursor, oldest first, tool results folded into
        the segments of the calls they answer."""
        ...

    async def history(self, session_id: str) -> list[Message]:
        """Every message as the model sees it, with continuity, oldest first."""
        ...

    async def facts(self, session_id: str, since: int, *, limit: int = 2000) -> list[FactFrame]: ...

    async def snapshot(self, session_id: str) -> SnapshotData: ...

    async def calls(self, session_id: str, *, run_id: str | None = None) -> list[CallView]: ...

    async def todos(self, session_id: str) -> list[Todo]: ...

    async def put_todos(
        self, session_id: str, todos: list[Todo], *, by: str, client_id: str | None = None
    ) -> None:
        """Replace the list, keep every change in its history, tell it as `todo_update`."""
        ...

    # ------------------------------------------------------------ blobs and facts
    async def put_blob(
        self, data: bytes, *, media_type: str, name: str | None = None
    ) -> BlobRef: ...

    async def blob(self, sha256: str) -> tuple[BlobRef, bytes]:
        """`UserError` code `unknown_blob`."""
        ...

    async def learned(self) -> list[Learned]: ...
    async def learn(self, fact: Learned) -> None: ...
    async def forget(self, *, endpoint: str, model: str | None = None) -> int: ...

    async def setting(self, name: str) -> Any:
        """A JSON value, `None` where nothing was set."""
        ...

    async def set_setting(self, name: str, value: Any) -> None: ...


class SessionPage(msgspec.Struct, kw_only=True):
    """Newest first; `n` is the list's own counter, `gone` the sessions deleted since."""

    sessions: list[SessionItem]
    n: int
    gone: list[str] = []
