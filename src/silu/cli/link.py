"""How the command speaks with the workspace: inside this process, or with the running one.

Both ends speak frames of the gateway's protocol, so that what comes out is the same.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Protocol, cast

import aiohttp
import msgspec

from silu.app import App
from silu.config import Paths
from silu.engine import Owner
from silu.engine.api import OwnerInfo
from silu.gateway.commands import run_command
from silu.types import api
from silu.types.errors import UserError
from silu.types.frames import COMMANDS

Frame = dict[str, Any]

PATIENCE = 60.0
"""Seconds to wait for another `silu ask` that has the data folder."""

_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Link(Protocol):
    """A workspace to talk to."""

    async def create_session(self, wish: api.SessionCreate) -> str: ...

    async def session(self, session_id: str) -> Frame: ...

    async def patch_session(self, session_id: str, patch: api.SessionPatch) -> None: ...

    async def sessions(self, limit: int) -> list[Frame]: ...

    async def command(self, kind: str, session_id: str | None, data: Frame) -> Frame:
        """Run a command; the data of its `ack`. Raises `UserError` when it is refused."""
        ...

    def frames(self) -> AsyncIterator[Frame]:
        """Facts, deltas and snapshots of what is subscribed, as they come."""
        ...

    async def close(self) -> None: ...


async def connect(
    env: Mapping[str, str], *, patience: float = PATIENCE, tell: Callable[[str], None]
) -> Link:
    """The running workspace of this data folder, or one of our own.

    Where another `silu ask` has the folder, it waits for that one, at most `patience` seconds;
    `tell` is given a sentence when the wait is felt.
    """
    paths = Paths.find(env)
    loop = asyncio.get_running_loop()
    begun, told = loop.time(), False
    while True:
        owner = await asyncio.to_thread(Owner.find, paths.data)
        if owner is not None and owner.url is not None:
            return await RemoteLink.open(owner)
        try:
            return LocalLink(await App.open(env, paths=paths))
        except UserError as exc:
            if exc.code != "owned" or loop.time() - begun > patience:
                raise
        if not told and loop.time() - begun > 1:
            told = True
            tell("Waiting for another silu that uses this data folder…")
        await asyncio.sleep(0.1)


class LocalLink:
    """The workspace inside this process: it owns the data folder while it runs."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._client = app.hub.client()

    async def create_session(self, wish: api.SessionCreate) -> str:
        return (await self._app.create_session(wish, any_folder=True)).id

    async def session(self, session_id: str) -> Frame:
        return cast("Frame", msgspec.to_builtins(await self._app.session(session_id)))

    async def patch_session(self, session_id: str, patch: api.SessionPatch) -> None:
        await self._app.patch_session(session_id, patch)

    async def sessions(self, limit: int) -> list[Frame]:
        page = await self._app.list_sessions(limit=limit)
        return cast("list[Frame]", msgspec.to_builtins(page.sessions))

    async def command(self, kind: str, session_id: str | None, data: Frame) -> Frame:
        command = msgspec.convert(data, COMMANDS[kind])
        return await run_command(self._app, self._client, session_id, command, by="terminal")

    async def frames(self) -> AsyncIterator[Frame]:
        while taken := await self._client.take():
            for frame in taken:
                yield _decode(frame.data)

    async def close(self) -> None:
        self._client.close()
        await self._app.close()


class RemoteLink:
    """The workspace that another process runs, over its WebSocket."""

    def __init__(
        self,
        base: str,
        session: aiohttp.ClientSession,
        socket: aiohttp.ClientWebSocketResponse,
    ) -> None:
        self._base = base
        self._http = session
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[str, asyncio.Future[Frame]] = {}
        self._frames: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, owner: OwnerInfo) -> "RemoteLink":
        base = str(owner.url)
        headers = {"authorization": f"Bearer {owner.token() or ''}"}
        session = aiohttp.ClientSession(headers=headers)
        try:
            socket = await session.ws_connect(f"{base}api/v1/ws", max_msg_size=0)
        except aiohttp.ClientError as exc:
            await session.close()
            raise UserError(
                f"The workspace at {base} (process {owner.pid}) does not let us in: {exc}.",
                code="unreachable_workspace",
                setting="SILU_HOME",
                fix="Stop that process, or use another SILU_HOME.",
            ) from exc
        return cls(base, session, socket)

    async def create_session(self, wish: api.SessionCreate) -> str:
        return str((await self._request("POST", "sessions", wish))["id"])

    async def session(self, session_id: str) -> Frame:
        return await self._request("GET", f"sessions/{session_id}")

    async def patch_session(self, session_id: str, patch: api.SessionPatch) -> None:
        await self._request("PATCH", f"sessions/{session_id}", patch)

    async def sessions(self, limit: int) -> list[Frame]:
        answer = await self._request("GET", f"sessions?limit={limit}")
        return list(answer["sessions"])

    async def command(self, kind: str, session_id: str | None, data: Frame) -> Frame:
        frame_id = str(next(self._numbers))
        frame = {"type": kind, "frame_id": frame_id, "session_id": session_id, "data": data}
        if self._reader.done():
            raise _stopped()
        answer = self._answers[frame_id] = asyncio.get_running_loop().create_future()
        try:
            await self._socket.send_str(msgspec.json.encode(frame).decode())
        except ConnectionError as exc:
            raise _stopped() from exc
        frame = await answer
        if frame["type"] == "error":
            raise _refused(frame["data"])
        return cast("Frame", frame["data"])

    async def frames(self) -> AsyncIterator[Frame]:
        while (frame := await self._frames.get()) is not None:
            yield frame

    async def close(self) -> None:
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        await self._socket.close()
        await self._http.close()

    async def _request(self, method: str, path: str, body: msgspec.Struct | None = None) -> Frame:
        data = None if body is None else msgspec.json.encode(body)
        url = f"{self._base}api/v1/{path}"
        try:
            async with self._http.request(method, url, data=data) as answer:
                found = _decode(await answer.read())
        except aiohttp.ClientError as exc:
            raise _stopped() from exc
        if answer.status >= 400:
            raise _refused(found["error"])
        return found

    async def _read(self) -> None:
        try:
            async for message in self._socket:
                frame = _decode(message.data)
                if frame["type"] in ("ack", "error"):
                    waiting = self._answers.pop(str(frame["frame_id"]), None)
                    if waiting is not None:
                        waiting.set_result(frame)
                else:
                    self._frames.put_nowait(frame)
        finally:
            for waiting in self._answers.values():
                if not waiting.done():
                    waiting.set_exception(_stopped())
            self._frames.put_nowait(None)


def _stopped() -> UserError:
    return UserError(
        "The workspace has stopped.",
        code="unreachable_workspace",
        fix="Start it again with `silu serve`.",
    )


def _refused(info: Frame) -> UserError:
    return UserError(
        str(info["message"]),
        code=str(info.get("code") or info["kind"]),
        setting=str(info.get("setting") or ""),
    )
