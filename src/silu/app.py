"""The house, wired: settings, store, vendors, turns and live fan-out, as plain services.

`App.open()` takes a data folder and gives the services that the gateway and the command call.
Every method that changes something takes the command as it came and does its work once for one
`client_id`. Errors a person can mend are `UserError`.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec import UNSET

from silu.agent.loop import run_turn
from silu.agent.settings import TurnSettings
from silu.agent.todo import TodoStore
from silu.config import Endpoint, Paths, Settings
from silu.config.settings import load_preferences, save_preferences
from silu.engine import Hub, LocalEngine, Owner
from silu.engine.api import Done, Parked, Sent, TurnPorts
from silu.providers.client import Client
from silu.providers.trial import EndpointTest, Trial, trial_of
from silu.store import Store
from silu.store.api import NewSession, Session
from silu.tools import workspace_tools
from silu.types import api
from silu.types import frames as f
from silu.types.errors import UserError
from silu.types.facts import ErrorInfo, LevelState
from silu.types.levels import LevelChoice, parse_level
from silu.types.parts import BlobRef, FilePart, ImagePart, Part, part_from_object
from silu.types.version import VERSION


class App:
    """All services over one data folder; make it with `open()` and end it with `close()`."""

    def __init__(
        self,
        *,
        settings: Settings,
        store: Store,
        client: Client,
        owner: Owner,
        closing: AsyncExitStack,
    ) -> None:
        self.settings = settings
        self.store = store
        self.client = client
        self.owner = owner
        self.hub = Hub(store, level_of=self._level_of)
        self.engine = LocalEngine(
            store, self.hub, execute=self._execute, default_model=client.default_model
        )
        self._closing = closing
        self._looked_around = asyncio.create_task(client.models(), name="first look around")

    @classmethod
    async def open(cls, env: Mapping[str, str], *, paths: Paths | None = None) -> Self:
        """Own the data folder, open its store and take up what an earlier process left.

        `UserError` codes: `owned`, `newer_database`, `not_a_database`, `bad_config`, …
        """
        paths = paths or Paths.find(env)
        settings = Settings.load(paths, env)
        async with AsyncExitStack() as stack:
            owner = Owner.acquire(paths.data)
            stack.callback(owner.release)
            place = settings.env.get("SILU_DATABASE") or paths.data / "silu.db"
            store = await Store.open(place, blobs=paths.data / "blobs")
            stack.push_async_callback(store.close)
            client = Client(settings)
            stack.push_async_callback(client.aclose)
            app = cls(
                settings=settings,
                store=store,
                client=client,
                owner=owner,
                closing=stack.pop_all(),
            )
        await app.engine.start()
        return app

    async def close(self, *, grace: float = 5.0) -> None:
        """Let turns end or put them down, then close everything in order."""
        self._looked_around.cancel()
        await asyncio.wait({self._looked_around})
        try:
            await self.engine.stop(grace=grace)
        finally:
            await self._closing.aclose()

    async def ready(self) -> api.Ready:
        """Whether a turn could run now."""
        checks = {"store": "ok", "models": "ok"}
        try:
            await self.store.list_sessions(limit=1)
        except UserError as exc:
            checks["store"] = str(exc)
        return api.Ready(ready=checks["store"] == "ok", checks=checks)

    # ------------------------------------------------------------------------ sessions

    async def list_sessions(self, *, archived: bool = False, limit: int = 200) -> api.SessionList:
        page = await self.store.list_sessions(archived=archived, limit=limit)
        return api.SessionList(sessions=page.sessions, n=page.n)

    async def create_session(
        self, wish: api.SessionCreate, *, any_folder: bool = False
    ) -> api.SessionView:
        """A new session; unknown models and levels and folders outside the allowed roots are
        refused before anything is kept. `any_folder`: the command names its own folder."""
        model = self.client.model(wish.model or await self._default_model()).ref
        level = _level(wish.level)
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
        return await self.session(session_id)

    async def delete_session(self, session_id: str) -> None:
        """Stop its run, then delete it for good."""
        await self.store.session(session_id)
        while await self.engine.cancel(session_id):
            for run in await self.engine.list(session_id):
                await self.engine.wait(run.run_id)
        await self.store.purge(session_id)

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

    # --------------------------------------------------------------------------- turns

    async def send(self, session_id: str, command: f.Send) -> Sent:
        if not command.text.strip() and not command.parts:
            raise UserError("There is nothing to send.", code="bad_argument", setting="text")
        return await self.engine.send(
            session_id,
            command.text,
            parts=_parts(command.parts),
            level=_level(command.level),
            mode=command.mode,
            client_id=command.client_id,
        )

    async def cancel(self, session_id: str, command: f.Cancel) -> bool:
        return await self.engine.cancel(
            session_id, run_id=command.run_id, client_id=command.client_id
        )

    async def steer(self, session_id: str, command: f.Steer) -> bool:
        return await self.engine.steer(session_id, command.text, client_id=command.client_id)

    async def edit(self, session_id: str, command: f.Edit) -> Sent:
        return await self.engine.edit(
            session_id, command.message_id, command.text, client_id=command.client_id
        )

    async def regenerate(self, session_id: str, command: f.Regenerate) -> Sent:
        if command.model is not None:
            self.client.model(command.model)
        return await self.engine.regenerate(
            session_id,
            command.message_id,
            level=_level(command.level),
            model=command.model,
            client_id=command.client_id,
        )

    async def queue_edit(self, session_id: str, command: f.QueueEdit) -> None:
        await self.engine.queue_edit(
            session_id,
            command.message_id,
            text=command.text,
            remove=command.remove,
            client_id=command.client_id,
        )

    async def set_level(self, session_id: str, command: f.SetThinkingLevel) -> None:
        session = await self.store.session(session_id)
        level = _known_level(command.level)
        await self.engine.set_level(
            session_id,
            level,
            self._level_state(await self._model_of(session), level),
            client_id=command.client_id,
        )

    async def set_model(self, session_id: str, command: f.SetModel) -> None:
        session = await self.store.session(session_id)
        ref = self.client.model(command.model).ref
        await self.engine.set_model(
            session_id,
            ref,
            self._level_state(ref, session.level),
            client_id=command.client_id,
        )

    async def set_mode(self, session_id: str, command: f.SetMode) -> None:
        await self.engine.set_mode(session_id, command.mode, client_id=command.client_id)

    async def todo_edit(self, session_id: str, command: f.TodoEdit) -> None:
        """The person's own edit: repaired like the agent's, kept as theirs."""
        before = {todo.id for todo in await self.store.todos(session_id)}
        todos = TodoStore(await self.store.todos(session_id))
        todos.write(command.todos)
        after = todos.todos()
        for todo in after:
            if todo.id not in before:
                todo.origin = "person"
        await self.engine.todo_edit(session_id, after, client_id=command.client_id)

    async def _execute(self, ports: TurnPorts) -> Done | Parked:
        await run_turn(
            journal=ports.journal,
            events=ports.events,
            runs=ports.runs,
            blobs=ports.blobs,
            client=self.client,
            tools=workspace_tools(),
            settings=TurnSettings(),
        )
        return Done()

    # --------------------------------------------------------------------------- models

    async def models(self, *, refresh: bool = False) -> api.ModelList:
        """What can be chosen; asks vendors and local servers whose listing is old."""
        models = await self.client.models(refresh=refresh)
        return api.ModelList(
            models=models,
            default=self.client.default_model(),
            demo_only=all(model.demo for model in models),
            problems=self.client.problems(),
        )

    async def find_model(self, word: str) -> str:
        """A model by its reference, or by its id alone where that is known; `default` is the
        default model."""
        if word in ("", "default"):
            return await self._default_model()
        if "/" not in word:
            for model in await self.client.models():
                if model.model == word:
                    return model.ref
        return self.client.model(word).ref

    async def endpoints(self) -> api.EndpointList:
        await self.client.models()
        return self.client.endpoints()

    async def test_endpoint(self, wish: api.EndpointTry) -> api.EndpointReport:
        """One real call; nothing is kept."""
        if wish.url is None:
            trial = trial_of(wish.name, self.settings)
            return _report(
                await self.client.test_endpoint(Trial(endpoint=trial.endpoint, key=wish.key))
            )
        return _report(
            await self.client.test_endpoint(Trial(endpoint=_endpoint(wish), key=wish.key))
        )

    async def add_endpoint(self, wish: api.EndpointCreate) -> api.EndpointReport:
        """Keep an endpoint and its key; with `test` only when a real call went well."""
        endpoint = _endpoint(wish)
        report = api.EndpointReport(ok=True, message=f"{wish.name} was added.")
        if wish.test:
            found = await self.client.test_endpoint(Trial(endpoint=endpoint, key=wish.key))
            if not found.ok:
                return _report(found)
            report = _report(found)
            endpoint = msgspec.structs.replace(endpoint, dialect=found.dialect)
        await asyncio.to_thread(self.settings.endpoints.put, endpoint)
        if wish.key:
            await asyncio.to_thread(self.settings.keys.save, wish.name, wish.key)
        await self.client.models(refresh=True)
        return report

    async def remove_endpoint(self, name: str) -> None:
        if not await asyncio.to_thread(self.settings.endpoints.remove, name):
            raise UserError(
                f"There is no endpoint {name!r} of your own.",
                code="unknown_endpoint",
                setting="name",
            )
        await asyncio.to_thread(self.settings.keys.remove, name)

    async def save_key(self, name: str, key: str) -> None:
        """Keep a vendor's or an endpoint's key; an empty one forgets it."""
        known = {vendor.id for vendor in self.client.endpoints().vendors}
        if name not in known and self.settings.endpoint(name) is None:
            raise UserError(f"There is no vendor {name!r}.", code="unknown_vendor")
        await asyncio.to_thread(self.settings.keys.save, name, key.strip())
        await self.client.models(refresh=True)

    async def learned(self) -> api.LearnedList:
        return api.LearnedList(learned=await asyncio.to_thread(self.client.learned.all))

    async def forget(
        self, endpoint: str, *, model: str | None = None, fact: str | None = None
    ) -> None:
        await asyncio.to_thread(self.client.learned.forget, endpoint, model, fact)

    # ------------------------------------------------------------------------- settings

    def settings_view(self) -> api.SettingsView:
        chosen = self.settings.preferences
        return api.SettingsView(
            version=VERSION,
            data_dir=str(self.settings.paths.data),
            config_dir=str(self.settings.paths.config),
            default_model=chosen.default_model,
            language=chosen.language,
            thinking_enabled=chosen.thinking_enabled,
            workspace_roots=list(chosen.workspace_roots),
        )

    async def patch_settings(self, patch: api.SettingsPatch) -> api.SettingsView:
        """Keep what was chosen and put it in force at once; variables of the process win."""
        if isinstance(patch.default_model, str):
            self.client.model(patch.default_model)
        changes = {k: v for k, v in msgspec.structs.asdict(patch).items() if v is not UNSET}
        if patch.workspace_roots is not UNSET:
            folders = [await asyncio.to_thread(_existing_folder, r) for r in patch.workspace_roots]
            changes["workspace_roots"] = tuple(map(str, folders))
        paths = self.settings.paths
        kept = msgspec.structs.replace(await asyncio.to_thread(load_preferences, paths), **changes)
        await asyncio.to_thread(save_preferences, paths, kept)
        self.settings = self.client.settings = self.settings.with_preferences(kept)
        return self.settings_view()

    # -------------------------------------------------------------------------- details

    async def _default_model(self) -> str:
        """Where nothing is chosen. Waits for the first look around: a local server counts."""
        await self._looked_around
        return self.client.default_model()

    async def _model_of(self, session: Session) -> str:
        return session.model or await self._default_model()

    def _level_state(self, ref: str, level: LevelChoice | None) -> LevelState:
        """What a level comes to for a model; an unknown model resolves to nothing sent."""
        asked = "default" if level is None else level
        source = "model" if level is None else "session"
        try:
            found = self.client.resolve(ref, asked, source=source)
        except UserError as exc:
            # The session's model is gone (an endpoint was removed): say so beside the level.
            return LevelState(
                requested=str(asked), effective="unset", source=source, notes=[str(exc)]
            )
        return LevelState(
            requested=found.requested,
            effective=found.effective,
            source=found.source,
            notes=list(found.notes),
        )

    async def _level_of(self, session: Session) -> LevelState:
        return self._level_state(await self._model_of(session), session.level)

    async def _view(self, session: Session) -> api.SessionView:
        item = msgspec.structs.asdict(session.item)
        item["model"] = model = await self._model_of(session)
        return api.SessionView(
            **item,
            level=self._level_state(model, session.level),
            workspace=session.workspace,
            workspace_locked=session.workspace_locked,
            forked_at=session.forked_at,
            run_id=session.run_id,
            todos=session.todos,
            plan=session.plan,
            tokens=session.tokens,
            queue=session.queue,
            waits=session.waits,
        )

    async def _own_folder(self, session_id: str) -> None:
        folder = self.settings.paths.data / "workspaces" / session_id
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        await self.store.set_workspace(session_id, folder)

    async def _allowed_folder(self, wish: str, *, any_folder: bool = False) -> Path:
        """The wished folder, links followed, when it exists and lies in an allowed root."""
        folder = await asyncio.to_thread(_existing_folder, wish)
        roots = self.settings.preferences.workspace_roots
        if any_folder or any(folder.is_relative_to(_resolved(root)) for root in roots):
            return folder
        raise UserError(
            f"{wish} is not below an allowed folder.",
            code="folder_not_allowed",
            setting="workspace_roots",
            fix="Add one in the settings, or leave the folder out.",
        )


def _resolved(root: str) -> Path:
    return Path(root).expanduser().resolve()


def _existing_folder(wish: str) -> Path:
    folder = _resolved(wish)
    if not folder.is_dir():
        raise UserError(f"{wish} is no folder.", code="bad_argument", setting="workspace")
    return folder


def _endpoint(wish: api.EndpointCreate | api.EndpointTry) -> Endpoint:
    return Endpoint(
        name=wish.name.strip(),
        url=(wish.url or "").strip().rstrip("/"),
        dialect=wish.dialect,
        like=wish.like,
        key_env=wish.key_env,
        models=tuple(wish.models),
    )


def _report(found: EndpointTest) -> api.EndpointReport:
    failure = found.failure
    error = None
    if failure is not None:
        error = ErrorInfo(
            kind=failure.kind,
            message=failure.message,
            setting=failure.setting,
            status=failure.status,
            code=failure.code,
            request_id=failure.request_id,
            retryable=failure.retryable,
        )
    return api.EndpointReport(
        ok=found.ok,
        message=found.message,
        model=found.model,
        models=list(found.models),
        thinking=found.thinking,
        duration_ms=found.duration_ms,
        error=error,
    )


def _level(word: str | None) -> LevelChoice | None:
    return None if word is None else _known_level(word)


def _known_level(word: str) -> LevelChoice:
    try:
        return parse_level(word)
    except ValueError as exc:
        raise UserError(f"{exc}.", code="bad_level", setting="level") from exc


def _parts(items: Sequence[dict[str, Any]]) -> list[Part]:
    """Attachments of a message: pictures and files that were uploaded as blobs before."""
    parts: list[Part] = []
    for item in items:
        try:
            part = part_from_object(item)
        except msgspec.ValidationError as exc:
            raise UserError(f"An attachment is malformed: {exc}.", code="bad_argument") from exc
        if not isinstance(part, ImagePart | FilePart) or part.blob is None:
            raise UserError(
                "An attachment is an `image` or a `file` with its `blob`.", code="bad_argument"
            )
        parts.append(part)
    return parts
