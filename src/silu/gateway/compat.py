"""The compatible routes: any OpenAI or Anthropic client, over every configured vendor.

`/v1/models`, `/v1/chat/completions` (`reasoning_effort` in, `reasoning_content` out) and
`/v1/messages` (thinking blocks out). Clients need not send thinking back: it is kept here
(`recall`), and goes to its own vendor where that one wants it.
"""

import asyncio
import contextlib
import logging
import math
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from fnmatch import fnmatchcase
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from silu.app import App
from silu.gateway.auth import Principal
from silu.gateway.dispatch import describe, read_body
from silu.gateway.rates import Rates
from silu.gateway.recall import Recall
from silu.gateway.stops import StopFilter
from silu.gateway.tasks import ended
from silu.types import events as ev
from silu.types.calls import CallEnd, CallRequest, CallStart
from silu.types.capabilities import ModelInfo
from silu.types.errors import Failure, UserError, VendorError
from silu.types.parts import Message
from silu.types.sizes import has_too_many_values
from silu.wire.serve import (
    BadRequestError,
    ServedRequest,
    ServeEncoder,
    ServeOptions,
    decode_request,
    encode_error,
    encoder,
)

log = logging.getLogger("silu.gateway")

OPENAI = "openai-chat"
ANTHROPIC = "anthropic-messages"

_ROUTES = {"/v1/chat/completions": OPENAI, "/v1/messages": ANTHROPIC}
_MODELS = "/v1/models"

MAX_BODY = 64 * 1024 * 1024
KEEPALIVE_SECONDS = 15.0

_STREAM_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class Compat:
    """The ASGI application below `/v1/`."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._recall = Recall(app.store)
        self._rates = Rates()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        method: str = scope["method"]
        if path in _ROUTES and method == "POST":
            await self._complete(_ROUTES[path], scope, receive, send)
            return
        try:
            if method == "GET" and (path == _MODELS or path.startswith(f"{_MODELS}/")):
                who: Principal = scope["silu.principal"]
                response = await self._models(who, path.removeprefix(_MODELS).lstrip("/"))
            else:
                failure = Failure(kind="unknown_model", message=f"There is no {method} {path}.")
                response = _refused(OPENAI, failure)
        except UserError as exc:
            response = _refused(OPENAI, _failure(exc))
        await response(scope, receive, send)

    async def _models(self, who: Principal, wanted: str) -> Response:
        """One shape for clients of both kinds: each reads its own fields."""
        if wanted:
            found = self._app.client.model(await self._app.find_model(wanted))
            _require(who, found.ref)
            return _json(_model(found))
        models = (await self._app.models()).models
        listed = [_model(model) for model in models if _may_use(who, model.ref)]
        ends = {
            "first_id": listed[0]["id"] if listed else None,
            "last_id": listed[-1]["id"] if listed else None,
        }
        return _json({"object": "list", "data": listed, "has_more": False, **ends})

    async def _complete(self, dialect: str, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        who: Principal = scope["silu.principal"]
        try:
            self._count(who)
            served = _decoded(dialect, await read_body(request, limit=MAX_BODY))
            call = await self._asked(who, served)
        except ClientDisconnect:
            return
        except Exception as exc:
            await _refused(dialect, _failure(exc))(scope, receive, send)
            return

        async def keep(answer: Message) -> None:
            await self._recall.keep(_id(who), served.call.messages, answer)

        answer = _Answer(dialect, served, call, self._app.client.stream(call), keep=keep)
        if served.call.stream:
            gone = asyncio.create_task(_gone(receive))
            pump = asyncio.create_task(answer.stream(scope, receive, send))
            try:
                await asyncio.wait({gone, pump}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                # A client that goes away shows as OSError where we were writing to it.
                with contextlib.suppress(OSError):
                    await ended(gone, pump)
        else:
            await (await answer.whole())(scope, receive, send)

    def _count(self, who: Principal) -> None:
        """`VendorError` as a vendor's own when a program asks more often than it may."""
        token = who.scoped
        if token is None or token.per_minute is None:
            return
        wait = self._rates.take(token.id, per_minute=token.per_minute)
        if wait:
            words = f"This token may ask {token.per_minute} times a minute."
            raise VendorError(
                Failure(kind="rate_limit", message=words, status=429, retry_after=math.ceil(wait))
            )

    async def _asked(self, who: Principal, served: ServedRequest) -> CallRequest:
        """The client's request as a call of ours."""
        if served.response_format and served.response_format.get("type") != "text":
            raise BadRequestError(
                "response_format: only plain text can be asked for here", param="response_format"
            )
        ref = await self._app.find_model(served.call.model)
        _require(who, ref)
        messages = await self._recall.restored(_id(who), served.call.messages)
        for position, message in enumerate(messages):
            message.id = message.id or f"m{position}"
        return msgspec.structs.replace(served.call, model=ref, messages=messages)


class _Answer:
    """One answer on its way: call events in, bytes of a dialect out."""

    def __init__(
        self,
        dialect: str,
        served: ServedRequest,
        call: CallRequest,
        events: AsyncGenerator[Any],
        *,
        keep: Callable[[Message], Awaitable[None]],
    ) -> None:
        self._keep = keep
        self.end: CallEnd | None = None
        self.stopped = False
        self._dialect = dialect
        self._call = call
        self._served = served
        self._events = events
        self._filter = StopFilter(served.stop)
        self._base = 0
        self._top = -1
        self._open: set[int] = set()

    async def whole(self) -> Response:
        """The answer as one JSON document."""
        writer = self._writer()
        try:
            async for event in self._of_dialect():
                writer.feed(event)
        except Exception as exc:
            return _refused(self._dialect, _failure(exc))
        if self.end is not None and self.end.failure is not None:
            return _refused(self._dialect, self.end.failure)
        await self._kept()
        body = writer.close()
        return Response(body, status_code=writer.status, media_type=writer.content_type)

    async def stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The answer as events. It begins with the first byte of content, so that a call that
        fails before gets an HTTP status of its own."""
        writer = self._writer()
        out = _Output(send)
        keeping = asyncio.create_task(out.keep_alive())
        try:
            async for event in self._of_dialect():
                if data := writer.feed(event):
                    await out.write(data)
            failure = self.end.failure if self.end is not None else None
        except Exception as exc:
            failure = _failure(exc)
        finally:
            await ended(keeping)
        if failure is not None and not out.begun:
            await _refused(self._dialect, failure)(scope, receive, send)
            return
        tail = writer.feed(ev.VendorFailure(failure)) if failure is not None else b""
        await self._kept()
        await out.end(tail + writer.close())

    async def _kept(self) -> None:
        """Before the client knows of the end: its next request may come at once."""
        if self.end is None or self.end.failure is not None or self.stopped:
            return
        try:
            await self._keep(self.end.message)
        except UserError as exc:
            # A full disk costs the thought's way back, not the answer.
            log.warning("an answer could not be kept: %s", exc.code)

    def _writer(self) -> ServeEncoder:
        prefix = "msg_" if self._dialect == ANTHROPIC else "chatcmpl-"
        options = ServeOptions(
            model=self._call.model,
            response_id=prefix + secrets.token_hex(12),
            created=int(time.time()),
            include_usage=self._served.include_usage or not self._served.call.stream,
            raw_finish=True,
            opaque=False,
        )
        return encoder(self._dialect, stream=self._served.call.stream, options=options)

    async def _of_dialect(self) -> AsyncGenerator[ev.StreamEvent]:
        """The stream events of all attempts as those of one answer."""
        async with contextlib.aclosing(self._events) as events:
            async for event in events:
                match event:
                    case CallStart():
                        for ending in self._next_attempt():
                            yield ending
                    case CallEnd():
                        self.end = event
                    case _ if isinstance(event, _STREAM_EVENTS):
                        for part in self._filter.feed(event):
                            yield self._numbered(part)
                    case _:
                        continue
                if self._filter.hit:
                    self.stopped = True
                    for ending in self._next_attempt():
                        yield ending
                    yield ev.Finish("stop", "stop_sequence" if self._dialect == ANTHROPIC else None)
                    return

    def _next_attempt(self) -> list[ev.StreamEvent]:
        """Close what an attempt left open: a thought that was shown stays shown."""
        ending: list[ev.StreamEvent] = [ev.BlockEnd(index) for index in sorted(self._open)]
        self._open.clear()
        self._base = self._top + 1
        return ending

    def _numbered(self, event: ev.StreamEvent) -> ev.StreamEvent:
        """Blocks of a later attempt are further blocks; words of the vendor stay out."""
        match event:
            case ev.Served():
                return ev.Served(model=None, response_id=None)
            case ev.Finish():
                return ev.Finish(event.reason, None)
            case (
                ev.BlockStart()
                | ev.ThinkingDelta()
                | ev.TextDelta()
                | ev.ToolCallDelta()
                | ev.BlockEnd()
                | ev.Reroute()
            ):
                index = self._base + event.index
            case _:
                return event
        self._top = max(self._top, index)
        if isinstance(event, ev.BlockStart):
            self._open.add(index)
        elif isinstance(event, ev.BlockEnd):
            self._open.discard(index)
        return event if self._base == 0 else msgspec.structs.replace(event, index=index)


# A failed attempt says so with a `VendorFailure`; whether the call failed is told by its end.
_STREAM_EVENTS = (
    ev.BlockStart,
    ev.ThinkingDelta,
    ev.TextDelta,
    ev.ToolCallDelta,
    ev.BlockEnd,
    ev.Reroute,
    ev.Served,
    ev.UsageReport,
    ev.Finish,
    ev.Keepalive,
)


class _Output:
    """The response of a stream; comments keep it alive while the model is silent."""

    def __init__(self, send: Send) -> None:
        self.begun = False
        self._send = send
        self._last = time.monotonic()

    async def write(self, data: bytes) -> None:
        if not self.begun:
            self.begun = True
            start = {"type": "http.response.start", "status": 200, "headers": _STREAM_HEADERS}
            await self._send(start)
        self._last = time.monotonic()
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def keep_alive(self) -> None:
        while True:
            await asyncio.sleep(KEEPALIVE_SECONDS)
            if time.monotonic() - self._last >= KEEPALIVE_SECONDS:
                await self.write(b": still here\n\n")

    async def end(self, data: bytes) -> None:
        await self.write(data)
        await self._send({"type": "http.response.body", "body": b""})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _id(who: Principal) -> str:
    return who.scoped.id if who.scoped else ""


def _may_use(who: Principal, ref: str) -> bool:
    wanted = who.scoped.models if who.scoped else []
    return not wanted or any(fnmatchcase(ref, pattern) for pattern in wanted)


def _require(who: Principal, ref: str) -> None:
    if not _may_use(who, ref):
        raise VendorError(
            Failure(kind="unknown_model", message=f"This token does not open {ref}.", param="model")
        )


def _decoded(dialect: str, raw: bytes) -> ServedRequest:
    if has_too_many_values(raw):
        raise BadRequestError("the body has more values than a conversation can have")
    try:
        body = msgspec.json.decode(raw, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as exc:
        raise BadRequestError("the body is not a JSON object") from exc
    return decode_request(dialect, body)


def _failure(exc: Exception) -> Failure:
    match exc:
        case VendorError():
            return exc.failure
        case BadRequestError():
            return Failure(kind="bad_request", message=exc.message, param=exc.param)
        case UserError(code="unknown_model"):
            return Failure(kind="unknown_model", message=str(exc), param="model")
        case UserError():
            return Failure(kind="bad_request", message=str(exc), code=exc.code)
        case _:
            return Failure(kind="server", message=describe(exc)[1].message)


def _refused(dialect: str, failure: Failure) -> Response:
    status, body = encode_error(dialect, failure)
    headers = {"cache-control": "no-store"}
    if failure.retry_after is not None:
        headers["retry-after"] = str(round(failure.retry_after))
    return Response(body, status_code=status, media_type="application/json", headers=headers)


def _json(body: dict[str, Any]) -> Response:
    data = msgspec.json.encode(body)
    return Response(data, media_type="application/json", headers={"cache-control": "no-store"})


def _model(model: ModelInfo) -> dict[str, Any]:
    capability = model.capability
    return {
        "id": model.ref,
        "object": "model",
        "created": 0,
        "owned_by": model.vendor,
        "type": "model",
        "display_name": f"{model.label} ({model.vendor_label})",
        "created_at": "1970-01-01T00:00:00Z",
        "context_window": capability.context_window,
        "max_output": capability.max_output,
        "thinking": capability.thinking,
        "thinking_levels": [str(level) for level in capability.thinking_levels],
    }
