"""The WebSocket: many sessions on one socket, commands in, facts and deltas out."""

import asyncio
import contextlib

import msgspec
from starlette.types import Receive, Scope, Send

from silu.app import App
from silu.engine.api import HubClientApi
from silu.gateway.auth import Principal
from silu.gateway.commands import run_command
from silu.gateway.dispatch import describe, parse
from silu.gateway.socket import AT_ONCE, portions
from silu.gateway.tasks import ended
from silu.types.assembly import wall_ms
from silu.types.errors import UserError
from silu.types.frames import (
    COMMANDS,
    AckFrame,
    ClientFrame,
    ErrorFrame,
    HeartbeatFrame,
    Subscribe,
)

HEARTBEAT_SECONDS = 15.0
"""At most 20: proxies cut what is silent for longer, and a page shows how long it has waited."""

MOST_OWED = 256
"""Answers a client may leave unread before its commands wait."""

MOST_SOCKETS = 512
"""Connections at a time; a page has one, a program may have some."""

_GOING_AWAY = 1001


class Sockets:
    """All open connections; one task beats the heart of every one while runs are on."""

    def __init__(self, app: App, *, heartbeat: float) -> None:
        self._app = app
        self._clients: set[HubClientApi] = set()
        self._heartbeat = heartbeat
        self._beat: asyncio.Task[None] | None = None

    @property
    def full(self) -> bool:
        """No more connections are taken for now."""
        return len(self._clients) >= MOST_SOCKETS

    async def serve(self, principal: Principal, scope: Scope, receive: Receive, send: Send) -> None:
        """Speak with one client until it goes away; its runs go on."""
        client = self._app.hub.client()
        at_once = scope.get("extensions", {}).get(AT_ONCE)
        client.at_once = None if at_once is None else at_once["write"]
        self._enter(client)
        try:
            await receive()
            await send({"type": "websocket.accept"})
            connection = _Connection(self._app, client, principal, receive, send)
            await connection.run()
        finally:
            self._leave(client)
            client.close()

    def close_all(self) -> None:
        """The server stops: every client gets its last frames and then the close."""
        for client in list(self._clients):
            client.close()

    def _enter(self, client: HubClientApi) -> None:
        self._clients.add(client)
        if self._beat is None:
            self._beat = asyncio.create_task(self._beats(), name="heartbeats")

    def _leave(self, client: HubClientApi) -> None:
        self._clients.discard(client)
        if not self._clients and self._beat is not None:
            # Nobody listens: no timer wakes an idle server.
            self._beat.cancel()
            self._beat = None

    async def _beats(self) -> None:
        while True:
            await asyncio.sleep(self._heartbeat)
            running = self._app.hub.running()
            if not running:
                continue
            frame = HeartbeatFrame(ts=wall_ms(), running=running)
            for client in self._clients:
                client.push(frame)


class _Connection:
    """One socket: a reader that runs commands in order, a writer that empties the queue."""

    def __init__(
        self,
        app: App,
        client: HubClientApi,
        principal: Principal,
        receive: Receive,
        send: Send,
    ) -> None:
        self._app = app
        self._client = client
        self._principal = principal
        self._receive = receive
        self._send = send
        self._owed = 0
        self._paid = asyncio.Event()

    async def run(self) -> None:
        writer = asyncio.create_task(self._write(), name="socket writer")
        reader = asyncio.create_task(self._read(), name="socket reader")
        try:
            await asyncio.wait({reader, writer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            # A lost connection shows as OSError in whichever task was writing.
            with contextlib.suppress(OSError):
                await ended(reader, writer)

    async def _write(self) -> None:
        while frames := await self._client.take():
            for message in portions(frames):
                await self._send(message)
            self._owed = 0
            self._paid.set()
        await self._send({"type": "websocket.close", "code": _GOING_AWAY, "reason": "stopping"})

    async def _read(self) -> None:
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            if text is None:
                self._refuse(None, UserError("Frames are JSON text.", code="bad_json"))
            else:
                await self._frame(text)
            await self._patience()

    async def _patience(self) -> None:
        """Whoever sends commands must read the answers: else no more are taken."""
        while self._owed >= MOST_OWED:
            self._paid.clear()
            await self._paid.wait()

    async def _frame(self, text: str) -> None:
        frame_id: str | None = None
        try:
            frame: ClientFrame = parse(text.encode(), ClientFrame)
            frame_id = frame.frame_id
            command = parse(bytes(frame.data), _shape(frame.type))
            # What was missed may be much: a client that asks again and again must read it.
            self._owed += MOST_OWED // 8 if isinstance(command, Subscribe) else 0
            by = f"{self._principal.name} ({self._principal.via})"
            data = await run_command(self._app, self._client, frame.session_id, command, by=by)
        except Exception as exc:
            self._refuse(frame_id, exc)
            return
        self._answer(AckFrame(frame_id=frame.frame_id, data=data))

    def _refuse(self, frame_id: str | None, exc: Exception) -> None:
        _, info = describe(exc)
        self._answer(ErrorFrame(frame_id=frame_id, data=info))

    def _answer(self, frame: msgspec.Struct) -> None:
        self._owed += 1
        self._client.push(frame)


def _shape(kind: str) -> type[msgspec.Struct]:
    shape = COMMANDS.get(kind)
    if shape is None:
        raise UserError(f"There is no frame {kind[:40]!r}.", code="unknown_type")
    return shape
