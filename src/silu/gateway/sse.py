"""Server-sent events: the same facts and deltas for clients without a WebSocket.

`id:` is a fact's number, so that a browser's own `Last-Event-ID` resumes where it was. Written
with raw ASGI sends: a response object would buffer and add a task a stream.
"""

import asyncio
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from silu.app import App
from silu.engine.api import HubClientApi, Out
from silu.gateway.dispatch import failure
from silu.gateway.tasks import ended
from silu.types.errors import UserError

SILENCE_SECONDS = 15.0
"""A comment goes out after so long without a frame: proxies cut what is silent for a minute."""

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    # nginx and its like pass on at once what they are told not to buffer (F152).
    (b"cache-control", b"no-store, no-transform"),
    (b"x-accel-buffering", b"no"),
]


async def stream_session(
    app: App, session_id: str, scope: Scope, receive: Receive, send: Send
) -> None:
    """Follow one session until the client goes away."""
    client = app.hub.client()
    try:
        try:
            await client.subscribe(session_id, since=_since(scope))
        except Exception as exc:
            await failure(exc)(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        gone = asyncio.create_task(_gone(receive))
        try:
            await _pump(client, gone, send)
        finally:
            await ended(gone)
    finally:
        client.close()


async def _pump(client: HubClientApi, gone: asyncio.Task[None], send: Send) -> None:
    taking: asyncio.Task[list[Out]] | None = None
    try:
        while not gone.done():
            taking = taking or asyncio.create_task(client.take())
            await asyncio.wait(
                {taking, gone}, timeout=SILENCE_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            body = b": still here\n\n"
            if taking.done():
                frames, taking = taking.result(), None
                if not frames:
                    break
                body = b"".join(map(_event, frames))
            if not gone.done():
                await send({"type": "http.response.body", "body": body, "more_body": True})
    finally:
        if taking is not None:
            await ended(taking)
    if not gone.done():
        await send({"type": "http.response.body", "body": b""})


def _event(out: Out) -> bytes:
    if out.n is None:
        return b"data: " + out.data + b"\n\n"
    return b"id: %d\ndata: %b\n\n" % (out.n, out.data)


async def _gone(receive: Receive) -> None:
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return


def _since(scope: Scope) -> int:
    """Where to go on: `Last-Event-ID`, else `?since=`, else the beginning."""
    told = Headers(scope=scope).get("last-event-id")
    if told is None:
        told = parse_qs(scope["query_string"].decode("latin-1")).get("since", ["0"])[0]
    if not (told.isascii() and told.isdigit()) or len(told) > 15:
        raise UserError(
            "`since` and `Last-Event-ID` are a fact's number.",
            code="bad_argument",
            setting="Last-Event-ID",
        )
    return int(told)
