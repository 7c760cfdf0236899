"""Sessions: made, changed, read, branched and deleted, each with its workspace folder."""

import asyncio
import shutil
from pathlib import Path

import msgspec
from msgspec import UNSET

from silu.app.base import optional_level
from silu.app.changes import Changes
from silu.app.folders import existing_folder, resolved
from silu.store.api import NewSession, Session
from silu.store.carry import Thoughts
from silu.store.search import Filter
from silu.types import api
from silu.types import frames as f
from silu.types.agents import BUILT_IN
from silu.types.errors import UserError
from silu.types.parts import BlobRef
from silu.types.search import SearchResult

BIN_DAYS = 30

_STYLE = ("agent", "prompt", "max_tokens", "temperature", "top_p", "thinking_limit")


class Sessions(Changes):
    """Services of the session list and of what a session holds."""

    async def list_sessions(
        self, *, archived: bool = False, trashed: bool = False, limit: int = 200
    ) -> api.SessionList:
        page = await self.store.list_sessions(archived=archived, trashed=trashed, limit=limit)
        return api.SessionList(sessions=page.sessions, n=page.n)

    async def create_session(
        self, wish: api.SessionCreate, *, any_folder: bool = False
    ) -> api.SessionView:
        """A new session; unknown models and levels and folders outside the allowed roots are
        refused before anything is kept. `any_folder`: the command names its own folder."""
        name = None if wish.agent in {"", BUILT_IN.name} else wish.agent
        agent = await asyncio.to_thread(self.agent, name) if name else None
        chosen = wish.model or (agent.model if agent else None)
        model = self.client.model(chosen or await self._default_model()).ref
        level = optional_level(wish.level)
        workspace = None
        if wish.workspace:
            workspace = await self._allowed_folder(wish.workspace, any_folder=any_folder)
        new = NewSession(
            model=model,
            level=level,
            mode=wish.mode,
            title=wish.title or "",
            workspace="" if workspace is None else str(workspace),
            language=wish.language or self.settings.preferences.language or "en",
            rules=wish.approvals,
            agent=name,
            prompt=wish.prompt or None,
            max_tokens=wish.max_tokens,
            temperature=wish.temperature,
            top_p=wish.top_p,
            thinking_limit=wish.thinking_limit,
        )
        session = await self.store.create_session(new, client_id=wish.client_id)
        if workspace is None and not session.workspace:
            await self._own_folder(session.item.id)
        return await self.session(session.item.id)

    async def require_session(self, session_id: str) -> None:
        """`unknown_session` unless there is one of that id."""
        if not await self.store.items({session_id}):
            raise UserError("There is no such session.", code="unknown_session")

    async def session(self, session_id: str) -> api.SessionView:
        return await self._view(await self.store.session(session_id))

    async def patch_session(self, session_id: str, patch: api.SessionPatch) -> api.SessionView:
        if patch.title is not UNSET:
            await self.store.rename(session_id, patch.title)
        if patch.archived is not UNSET:
            await self.store.archive(session_id, patch.archived)
        if patch.workspace is not UNSET:
            folder = await self._allowed_folder(patch.workspace)
            await self.store.set_workspace(session_id, folder)
        if patch.approvals is not UNSET:
            await self.store.set_rules(patch.approvals, session_id)
        if patch.workspace_trusted is not UNSET:
            await self._trust(session_id, patch.workspace_trusted)
        await self._restyle(session_id, patch)
        return await self.session(session_id)

    async def _restyle(self, session_id: str, patch: api.SessionPatch) -> None:
        """Who answers and how; an agent brings the model it names."""
        named = {name: getattr(patch, name) for name in _STYLE}
        values = {name: value for name, value in named.items() if value is not UNSET}
        if not values:
            return
        ref = None
        if patch.agent in {"", BUILT_IN.name}:
            values["agent"] = None
        elif isinstance(patch.agent, str):
            agent = await asyncio.to_thread(self.agent, patch.agent)
            ref = self.client.model(agent.model).ref if agent.model else None
        await self.store.style(session_id, values)
        if ref is not None:
            state = await self._level_at(ref, await self.store.session(session_id))
            await self.engine.set_model(session_id, ref, state)

    async def _trust(self, session_id: str, trusted: bool) -> None:
        folder = str(resolved((await self.store.session(session_id)).workspace))
        kept = [one for one in self.settings.preferences.trusted_folders if one != folder]
        await self._prefer(trusted_folders=(*kept, folder) if trusted else tuple(kept))

    async def trash_session(self, session_id: str) -> None:
        """Stop its run and put it into the bin, from where it can be restored."""
        await self._stop(session_id)
        await self.store.trash(session_id)

    async def restore_session(self, session_id: str) -> api.SessionView:
        await self.store.restore(session_id)
        return await self.session(session_id)

    async def delete_session(self, session_id: str) -> None:
        """Stop its run, then delete it for good: with the folder silu made for it, unless a
        sibling works there."""
        folder = Path((await self.store.session(session_id)).workspace)
        await self._stop(session_id)
        for gone in await self.store.purge(session_id):
            await asyncio.to_thread(self.checkpoints(gone).forget)
        is_ours = folder.parent == self._folder_of(session_id).parent
        if is_ours and not await self.store.works_in(folder):
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    async def empty_bin(self) -> None:
        """Delete for good what has been in the bin for longer than `BIN_DAYS`."""
        for session_id in await self.store.trashed(older_than=BIN_DAYS * 24 * 3600 * 1000):
            await self.delete_session(session_id)

    async def search(self, query: str, wanted: Filter) -> SearchResult:
        """Messages in which all words of `query` occur, newest first."""
        limit = wanted.limit
        wanted.limit += 1
        hits = await self.store.search(query, wanted)
        return SearchResult(hits=hits[:limit], more=len(hits) > limit)

    async def export_json(self, session_id: str, *, opaque: bool) -> bytes:
        """The whole session as one JSON document; opaque vendor data only when asked for."""
        return await self.store.export(session_id, opaque=opaque)

    async def export_markdown(self, session_id: str, *, thoughts: Thoughts) -> str:
        """The conversation to read, with as much of the thoughts as was asked for."""
        return await self.store.export_markdown(session_id, thoughts=thoughts)

    async def import_session(
        self, document: bytes, *, client_id: str | None = None
    ) -> api.SessionView:
        """A new session from an export. Its folder is its own: the one it had elsewhere says
        nothing of this machine. `UserError` code `bad_import`."""
        session = await self.store.import_session(document, client_id=client_id)
        if not session.workspace:
            await self._own_folder(session.item.id)
        return await self.session(session.item.id)

    async def reload_session(self, session_id: str) -> None:
        """Follow AGENTS.md, the tools and the skills as they are now, from the next turn on."""
        await self.store.renew(session_id)

    async def fork_session(self, session_id: str, wish: api.SessionFork) -> api.SessionView:
        session = await self.store.fork(session_id, wish.message_id, client_id=wish.client_id)
        return await self._view(session)

    async def messages(
        self, session_id: str, *, before: str | None = None, limit: int = 50
    ) -> f.MessagePage:
        return await self.store.messages(session_id, before=before, limit=limit)

    async def calls(self, session_id: str, *, run_id: str | None = None) -> api.CallList:
        await self.store.session(session_id)
        return api.CallList(calls=await self.store.calls(session_id, run_id=run_id))

    async def mark_read(self, session_id: str) -> None:
        await self.store.mark_read(session_id)

    async def put_blob(self, data: bytes, *, media_type: str, name: str | None) -> BlobRef:
        return await self.store.put_blob(data, media_type=media_type, name=name)

    async def blob(self, sha256: str) -> tuple[BlobRef, bytes]:
        return await self.store.blob(sha256)

    async def _view(self, session: Session) -> api.SessionView:
        item = msgspec.structs.asdict(session.item)
        item["model"] = model = await self._model_of(session)
        return api.SessionView(
            **item,
            level=await self._level_at(model, session),
            workspace=session.workspace,
            workspace_locked=session.workspace_locked,
            forked_at=session.forked_at,
            run_id=session.run_id,
            todos=session.todos,
            plan=session.plan,
            tokens=session.tokens,
            queue=session.queue,
            waits=session.waits,
            approvals=list(session.rules),
            agent=session.agent,
            prompt=session.prompt,
            max_tokens=session.max_tokens,
            temperature=session.temperature,
            top_p=session.top_p,
            thinking_limit=session.thinking_limit,
            workspace_trusted=await asyncio.to_thread(self.trusts, Path(session.workspace)),
        )

    async def _stop(self, session_id: str) -> None:
        """End its run and those that wait."""
        await self.store.session(session_id)
        while await self.engine.cancel(session_id):
            for run in await self.engine.list(session_id):
                await self.engine.wait(run.run_id)

    def _folder_of(self, session_id: str) -> Path:
        return self.settings.paths.data / "workspaces" / session_id

    async def _own_folder(self, session_id: str) -> None:
        folder = self._folder_of(session_id)
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        await self.store.set_workspace(session_id, folder)

    async def _allowed_folder(self, wish: str, *, any_folder: bool = False) -> Path:
        """The wished folder, links followed, when it exists and lies in an allowed root, and
        silu's own keys and settings do not lie in it."""
        folder = await asyncio.to_thread(existing_folder, wish)
        paths = self.settings.paths
        config, data = resolved(str(paths.config)), resolved(str(paths.data))
        if folder.is_relative_to(config) or any(p.is_relative_to(folder) for p in (config, data)):
            raise UserError(
                f"{wish} holds silu's own keys or data, which no model may see.",
                code="own_folder",
                setting="workspace",
                fix="Choose a folder without them.",
            )
        roots = self.settings.preferences.workspace_roots
        if any_folder or any(folder.is_relative_to(resolved(root)) for root in roots):
            return folder
        raise UserError(
            f"{wish} is not below an allowed folder.",
            code="folder_not_allowed",
            setting="workspace_roots",
            fix="Add one in the settings, or leave the folder out.",
        )
