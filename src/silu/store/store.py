"""The store: what everyone above it calls. Each method is one job on a dedicated thread.

Errors a person can mend are `UserError`s: `newer_database`, `not_a_database`,
`damaged_database`, `locked`, `disk_full`, `database_unreachable`, `unknown_session`,
`unknown_message`, `unknown_blob`, `workspace_locked`, `bad_argument`.

Whatever takes `client_id` does its work once: the same id again, also after a restart, gives the
first answer. Facts are numbered in the job's transaction and reach listeners after its commit.
"""

import asyncio
import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

import msgspec

from silu.store import (
    audit,
    carry,
    children,
    importing,
    log,
    messages,
    misc,
    purge,
    recalled,
    runs,
    search,
    sessions,
    snapshot,
    spending,
    todos,
    turns,
)
from silu.store import blobs as blob_table
from silu.store.api import NewSession, Session, SessionPage
from silu.store.database import Database, Trouble
from silu.store.search import Filter
from silu.store.sql import Tx
from silu.store.writer import Readers, Writer
from silu.types.access import ApprovalRecord
from silu.types.api import CallView
from silu.types.capabilities import Learned
from silu.types.errors import UserError
from silu.types.facts import FactData, Mode
from silu.types.frames import FactFrame, MessagePage, SessionItem, SnapshotData
from silu.types.levels import LevelChoice
from silu.types.parts import BlobRef, Message
from silu.types.policy import Rule
from silu.types.search import SearchHit
from silu.types.spending import UsageReport
from silu.types.todos import Todo

T = TypeVar("T")
Listener = Callable[[list[FactFrame], set[str]], None]

_INDEX_AFTER = 2.0
_ORPHAN_MS = 24 * 3600 * 1000


class Store:
    """Belongs to the event loop it was opened on."""

    def __init__(self, database: Database, files: blob_table.BlobFiles) -> None:
        self._database = database
        self._files = files
        self._listeners: list[Listener] = []
        self._troubles: list[Callable[[Trouble | None], None]] = []
        self._filling: asyncio.Task[None] | None = None
        self._indexing: asyncio.TimerHandle | None = None
        self._readers = Readers(database)
        self._writer = Writer(
            database,
            asyncio.get_running_loop(),
            on_commit=self._committed,
            on_trouble=self._in_trouble,
        )

    @classmethod
    async def open(
        cls, place: str | Path, *, blobs: Path | None = None, backups: Path | None = None
    ) -> Self:
        """Open a file's path, `sqlite:///…` or `postgresql://…`; make or migrate it when due.

        The folders for blobs and backups stand beside the database file unless given;
        PostgreSQL needs them.
        """
        database = Database(place)
        base = database.path.parent if database.path is not None else Path()
        backups = backups or base / "backups"
        await asyncio.to_thread(database.prepare, backups)
        store = cls(database, blob_table.BlobFiles(blobs or base / "blobs"))
        await store.write(store._drop_orphans)
        store._filling = asyncio.create_task(store._fill_index(), name="search index")
        return store

    async def close(self) -> None:
        """Finish what is queued and end the threads."""
        if self._indexing is not None:
            self._indexing.cancel()
        if self._filling is not None:
            self._filling.cancel()
            await asyncio.wait({self._filling})
        await asyncio.to_thread(self._writer.close)
        await asyncio.to_thread(self._readers.close)
        self._database.dispose()

    # ---------------------------------------------------------------- for the engine

    @property
    def name(self) -> str:
        """The database's place, without a password."""
        return self._database.name

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Be told, on the loop and after each commit, of its facts in order and of the sessions
        whose line in the sidebar changed. Returns what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def on_trouble(self, callback: Callable[[Trouble | None], None]) -> None:
        """Be told when writing fails for a reason that may pass, and when it works again."""
        self._troubles.append(callback)

    def write(
        self, work: Callable[[Tx], T], *, patient: bool = False, durable: bool = False
    ) -> "asyncio.Future[T]":
        """Queue a job; see `writer.Job`. Jobs are committed in the order they are queued."""
        return self._writer.submit(work, patient=patient, durable=durable)

    async def read(self, work: Callable[[Tx], T]) -> T:
        return await self._readers.run(work)

    # ---------------------------------------------------------------------- sessions

    async def create_session(self, new: NewSession, *, client_id: str | None = None) -> Session:
        def work(tx: Tx) -> Session:
            made = misc.once(
                tx, client_id, "create_session", None, lambda: sessions.create(tx, new)
            )
            return sessions.read(tx, made)

        return await self.write(work)

    async def session(self, session_id: str) -> Session:
        return await self.read(lambda tx: sessions.read(tx, session_id))

    async def items(self, ids: set[str]) -> list[SessionItem]:
        """Sidebar lines of some sessions."""
        return await self.read(lambda tx: sessions.items(tx, ids))

    async def list_sessions(
        self, *, since: int = 0, archived: bool = False, trashed: bool = False, limit: int = 200
    ) -> SessionPage:
        """Newest first; with `since` (a page's `n`) what changed after it."""
        return await self.read(
            lambda tx: sessions.page(
                tx, since=since, archived=archived, trashed=trashed, limit=limit
            )
        )

    async def rename(self, session_id: str, title: str, *, client_id: str | None = None) -> None:
        await self._once(client_id, "rename", session_id, partial(sessions.rename, title=title))

    async def archive(self, session_id: str, archived: bool = True) -> None:
        await self.write(lambda tx: sessions.archive(tx, session_id, archived))

    async def set_workspace(self, session_id: str, workspace: str | Path) -> None:
        """`workspace_locked` after the first tool call."""
        await self.write(lambda tx: sessions.set_workspace(tx, session_id, str(workspace)))

    async def family(self, session_id: str) -> list[str]:
        """The session and those of its sub-agents, and of theirs."""
        return await self.read(lambda tx: children.family(tx, session_id))

    async def renew(self, session_id: str) -> None:
        """The next turn reads the system text and the tools anew."""
        await self.write(lambda tx: sessions.renew(tx, session_id))

    async def style(self, session_id: str, values: Mapping[str, Any]) -> None:
        """Keep who answers in a session and how; see `sessions.style`."""
        await self.write(lambda tx: sessions.style(tx, session_id, values))

    async def approvals(
        self, *, session_id: str | None, before: int | None, limit: int
    ) -> list[ApprovalRecord]:
        """What a person was asked to allow, newest first, and what they decided."""
        return await self.read(
            lambda tx: audit.approvals(tx, session_id=session_id, before=before, limit=limit)
        )

    async def rules(self) -> list[Rule]:
        """What a person allowed and denied for all sessions."""
        return await self.read(runs.rules)

    async def set_rules(self, kept: Sequence[Rule], session_id: str | None = None) -> None:
        """Put these in place of the rules for all sessions, or of one session's own."""
        await self.write(lambda tx: runs.set_rules(tx, kept, session_id))

    async def trash(self, session_id: str) -> None:
        """Hide it, to be restored or purged."""
        await self.write(lambda tx: sessions.trash(tx, session_id, away=True))

    async def restore(self, session_id: str) -> None:
        await self.write(lambda tx: sessions.trash(tx, session_id, away=False))

    async def trashed(self, *, older_than: int) -> list[str]:
        """Sessions that have been in the bin for more than so many milliseconds."""
        return await self.read(lambda tx: sessions.trashed(tx, before=tx.now - older_than))

    async def works_in(self, folder: str | Path) -> bool:
        """Whether a session has this folder as its workspace."""
        return await self.read(lambda tx: sessions.works_in(tx, str(folder)))

    async def purge(self, session_id: str) -> list[str]:
        """Delete for good: its facts, its deltas, messages no branch shares, blobs nobody else
        uses, the sessions of its sub-agents. Gives the ids of all sessions that went."""
        return await self.write(lambda tx: purge.purge(tx, session_id, self._files))

    async def fork(
        self, session_id: str, message_id: str | None = None, *, client_id: str | None = None
    ) -> Session:
        """A sibling that shares the messages up to and including `message_id` (all when None)."""

        def work(tx: Tx) -> Session:
            made = misc.once(
                tx, client_id, "fork", session_id, lambda: sessions.fork(tx, session_id, message_id)
            )
            return sessions.read(tx, made)

        return await self.write(work)

    async def set_level(
        self,
        session_id: str,
        level: LevelChoice,
        *,
        mode: Mode | None = None,
        facts: Sequence[FactData] = (),
        client_id: str | None = None,
    ) -> None:
        """Kept for the session's present mode unless one is named."""
        work = partial(sessions.choose, level=level, mode=mode, facts=tuple(facts))
        await self._once(client_id, "set_level", session_id, work)

    async def set_model(
        self,
        session_id: str,
        model: str,
        *,
        mode: Mode | None = None,
        facts: Sequence[FactData] = (),
        client_id: str | None = None,
    ) -> None:
        work = partial(sessions.choose, model=model, mode=mode, facts=tuple(facts))
        await self._once(client_id, "set_model", session_id, work)

    async def set_mode(self, session_id: str, mode: Mode, *, client_id: str | None = None) -> None:
        await self._once(client_id, "set_mode", session_id, partial(sessions.set_mode, mode=mode))

    async def mark_read(self, session_id: str) -> None:
        await self.write(lambda tx: sessions.mark_read(tx, session_id))

    # -------------------------------------------------------------- messages and log

    async def messages(
        self, session_id: str, *, before: str | None = None, limit: int = 50
    ) -> MessagePage:
        """The last `limit` messages before the cursor, oldest first, tool results folded into
        the segments of the calls they answer."""
        return await self.read(lambda tx: messages.page(tx, session_id, before=before, limit=limit))

    async def history(self, session_id: str) -> list[Message]:
        """Every message as the model sees it, with continuity, oldest first."""
        return await self.read(lambda tx: messages.history(tx, session_id))

    async def facts(self, session_id: str, since: int, *, limit: int = 2000) -> list[FactFrame]:
        return await self.read(lambda tx: log.since(tx, session_id, since, limit=limit))

    async def prune_facts(self, session_id: str, *, keep: int) -> None:
        await self.write(lambda tx: log.prune(tx, session_id, keep=keep))

    async def snapshot(self, session_id: str) -> SnapshotData:
        return (await self.read(lambda tx: snapshot.read(tx, session_id)))[1]

    async def calls(self, session_id: str, *, run_id: str | None = None) -> list[CallView]:
        return await self.read(lambda tx: misc.calls(tx, session_id, run_id))

    async def newest_call(self, session_id: str) -> CallView | None:
        """The last call of a turn's own."""
        return await self.read(lambda tx: misc.newest_call(tx, session_id))

    async def usage(self, wanted: spending.Wanted) -> UsageReport:
        """What model calls used up."""
        return await self.read(lambda tx: spending.report(tx, wanted))

    async def system_of(self, session_id: str) -> tuple[str, str]:
        """The system text and the tools (JSON) as they are sent now; "" before the first turn."""
        epoch = await self.read(lambda tx: turns.last_epoch(tx, session_id))
        return ("", "") if epoch is None else (epoch.system, epoch.tools_json)

    async def search(self, query: str, wanted: Filter | None = None) -> list[SearchHit]:
        """Messages in which all words of the query occur, newest first."""
        await self._catch_up()
        return await self.read(lambda tx: search.find(tx, query, wanted or Filter()))

    async def todos(self, session_id: str) -> list[Todo]:
        return await self.read(lambda tx: todos.read(tx, session_id))

    async def put_todos(
        self, session_id: str, new: Sequence[Todo], *, by: str, client_id: str | None = None
    ) -> None:
        """Replace the list, keep the change in its history, tell it as `todo_update`."""

        def work(tx: Tx, _session_id: str) -> None:
            todos.replace(tx, session_id, list(new), by=by, run_id=None)
            log.append(tx, session_id, None, [todos.update_of(list(new))])

        await self._once(client_id, "put_todos", session_id, work)

    async def todo_history(self, session_id: str) -> list[tuple[int, str, list[Todo]]]:
        """Every state of the list, oldest first: (ms, who changed it, the list)."""
        return await self.read(lambda tx: todos.history(tx, session_id))

    # ------------------------------------------------------------------------- runs

    async def command(
        self,
        client_id: str | None,
        kind: str,
        session_id: str,
        work: Callable[[Tx], Any],
    ) -> Any:
        """Do `work` (its result JSON values) once for a `client_id`."""
        return await self.write(
            lambda tx: misc.once(tx, client_id, kind, session_id, lambda: work(tx))
        )

    # ------------------------------------------------------------------ out and in again

    async def export(self, session_id: str, *, opaque: bool = False) -> bytes:
        """The session as one JSON document, with the vendors' opaque data only when asked."""

        def work(tx: Tx) -> bytes:
            return msgspec.json.encode(carry.export(tx, session_id, self._files, opaque=opaque))

        return await self.read(work)

    async def export_markdown(self, session_id: str, *, thoughts: carry.Thoughts = "none") -> str:
        """The conversation to read: answers only, with summaries, or with full thoughts."""
        return await self.read(
            lambda tx: carry.markdown(
                carry.export(tx, session_id, self._files, opaque=False), thoughts=thoughts
            )
        )

    async def import_session(self, data: bytes, *, client_id: str | None = None) -> Session:
        """A new session from an exported document; `UserError` code `bad_import`."""
        document = await asyncio.to_thread(importing.read_document, data)
        for blob in document.blobs:
            await self._import_blob(blob)

        def work(tx: Tx) -> Session:
            made = misc.once(
                tx, client_id, "create_session", None, lambda: importing.bring_in(tx, document)
            )
            return sessions.read(tx, made)

        return await self.write(work)

    async def _import_blob(self, blob: carry.CarriedBlob) -> None:
        try:
            data = base64.b64decode(blob.data, validate=True)
        except ValueError as error:
            raise UserError("An attachment of the export is damaged.", code="bad_import") from error
        if hashlib.sha256(data).hexdigest() != blob.ref.sha256:
            raise UserError("An attachment of the export is another one.", code="bad_import")
        await self.put_blob(data, media_type=blob.ref.media_type, name=blob.ref.name)

    # --------------------------------------------------------------------- small ones

    async def put_blob(self, data: bytes, *, media_type: str, name: str | None = None) -> BlobRef:
        sha256 = await asyncio.to_thread(self._files.write, data)
        ref = BlobRef(sha256=sha256, size=len(data), media_type=media_type, name=name)

        def work(tx: Tx) -> None:
            self._files.write(data)  # again only if a purge took the same bytes away meanwhile
            blob_table.note(tx, ref)

        await self.write(work)
        return ref

    async def blob(self, sha256: str) -> tuple[BlobRef, bytes]:
        def work(tx: Tx) -> tuple[BlobRef, bytes]:
            return blob_table.find(tx, sha256), self._files.read(sha256)

        return await self.read(work)

    async def learned(self) -> list[Learned]:
        return await self.read(misc.learned)

    async def learn(self, fact: Learned) -> None:
        await self.write(lambda tx: misc.learn(tx, fact))

    async def forget(self, *, endpoint: str, model: str | None = None) -> int:
        """Forget what was learned of an endpoint or one of its models; how many facts it was."""
        return await self.write(lambda tx: misc.forget(tx, endpoint, model))

    async def keep_answer(self, key: str, answer: Message) -> None:
        """Keep an answer for a client that sends no thinking back; see `recalled`."""
        await self.write(lambda tx: recalled.keep(tx, key, answer))

    async def kept_answers(self, keys: list[str]) -> dict[str, Message]:
        """Those of the answers that are kept."""
        found = await self.read(lambda tx: recalled.find(tx, keys))
        if found:
            await self.write(lambda tx: recalled.used(tx, list(found)), patient=True)
        return found

    async def setting(self, name: str) -> Any:
        """A JSON value, `None` where nothing was set."""
        return await self.read(lambda tx: misc.setting(tx, name))

    async def set_setting(self, name: str, value: Any) -> None:
        await self.write(lambda tx: misc.set_setting(tx, name, value))

    # ------------------------------------------------------------------------- inside

    async def _once(
        self,
        client_id: str | None,
        kind: str,
        session_id: str,
        work: Callable[[Tx, str], None],
    ) -> None:
        await self.write(
            lambda tx: misc.once(tx, client_id, kind, session_id, lambda: work(tx, session_id))
        )

    def _index_soon(self) -> None:
        """Some time after a turn, when nobody waits for its words."""
        if self._indexing is None:
            loop = asyncio.get_running_loop()
            self._indexing = loop.call_later(_INDEX_AFTER, self._index_now)

    def _index_now(self) -> None:
        self._indexing = None
        if self._filling is None or self._filling.done():
            self._filling = asyncio.get_running_loop().create_task(self._catch_up())

    async def _catch_up(self) -> None:
        """Index what was said since, a little at a time."""
        more = True
        while more:
            more = await self.write(search.catch_up, patient=True)

    async def _fill_index(self) -> None:
        """Index what an older silu wrote, and what the last one did not come to."""
        await self._catch_up()
        more = True
        while more:
            more = await self.write(search.fill, patient=True)

    def _drop_orphans(self, tx: Tx) -> None:
        """Blobs that no message came to use, a day after they were put."""
        blob_table.forget(tx, blob_table.unreferenced(tx, before=tx.now - _ORPHAN_MS), self._files)

    def _committed(self, facts: list[FactFrame], touched: set[str]) -> None:
        for listener in list(self._listeners):
            listener(facts, touched)
        if any(fact.type == "done" for fact in facts):
            self._index_soon()

    def _in_trouble(self, trouble: Trouble | None) -> None:
        for callback in self._troubles:
            callback(trouble)
