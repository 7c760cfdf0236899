"""The ASGI application: one door with the checks of `auth`, behind it the routes."""

import logging
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import Message, Receive, Scope, Send

from silu.app import App
from silu.gateway import documents, http, static
from silu.gateway.auth import Guard, Principal, RefusalError, content_policy
from silu.gateway.compat import Compat
from silu.gateway.dispatch import (
    Operation,
    failure,
    json_response,
    not_allowed,
    parse,
    read_body,
    respond,
)
from silu.gateway.logs import Access
from silu.gateway.logs import log as access_log
from silu.gateway.sse import stream_session
from silu.gateway.ws import HEARTBEAT_SECONDS, Sockets
from silu.types.api import TokenPost

_OPEN = frozenset({"/api/v1/health", "/api/v1/ready"})
"""Told to anyone who reaches us: that we live, and nothing else."""

_AUTH = "/api/v1/auth"
_LINK = "/api/v1/auth/link"
_SOCKET = "/api/v1/ws"

_SAFE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
)


class Gateway:
    """Checks every request, then hands it to the socket, the routes or the static app."""

    def __init__(self, app: App, guard: Guard, *, heartbeat: float = HEARTBEAT_SECONDS) -> None:
        self._app = app
        self._guard = guard
        self.sockets = Sockets(app, heartbeat=heartbeat)
        self._compat = Compat(app)
        self._router = Router(
            routes=[_route(app, operation) for operation in documents.OPERATIONS], default=_no_route
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http" if access_log.isEnabledFor(logging.INFO):
                access = Access(scope)
                try:
                    await self._http(scope, receive, _with_safe_headers(access.watched(send)))
                finally:
                    access.tell()
            case "http":
                await self._http(scope, receive, _with_safe_headers(send))
            case "websocket":
                await self._websocket(scope, receive, send)
            case _:
                return

    # ---------------------------------------------------------------------------- HTTP

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        path: str = scope["path"]
        try:
            self._check_host(headers)
            if not path.startswith(("/api/", "/v1/")):
                response = _page(scope["method"], path, headers)
            elif path == _AUTH:
                response = await self._auth(scope, receive, headers)
            elif path == _LINK:
                response = self._link(scope["method"], headers)
            else:
                if path not in _OPEN:
                    scope["silu.principal"] = self._admit(scope["method"], path, headers)
                else:
                    scope["silu.principal"] = Principal("anyone", "bearer")
                await self._routed(scope, receive, send)
                return
        except RefusalError as exc:
            response = failure(exc)
        await response(scope, receive, send)

    def _check_host(self, headers: Headers) -> None:
        # Two values, and whoever stands behind us may read the other one.
        for name in ("host", "origin", "authorization"):
            if len(headers.getlist(name)) > 1:
                raise RefusalError(400, "doubled_header", f"There are two `{name}` headers.")
        self._guard.check_host(headers)

    def _admit(self, method: str, path: str, headers: Mapping[str, str]) -> Principal:
        self._guard.check_origin(method, headers, handshake=False)
        return self._guard.identify(headers, bearer_only=path.startswith("/v1/"))

    async def _routed(self, scope: Scope, receive: Receive, send: Send) -> None:
        stream = http.stream_path(scope["path"]) if scope["method"] == "GET" else None
        if scope["path"].startswith("/v1/"):
            await self._compat(scope, receive, send)
            return
        if stream is not None:
            await stream_session(self._app, stream, scope, receive, send)
            return
        await self._router(scope, receive, send)

    async def _auth(self, scope: Scope, receive: Receive, headers: Headers) -> Response:
        """`POST` trades a token for the cookie, `DELETE` ends it, `GET` tells whether it holds."""
        request = Request(scope, receive)
        if scope["method"] == "GET":
            self._guard.check_origin("GET", headers, handshake=False)
            self._guard.identify(headers)
            return Response(status_code=204)
        origin = self._guard.check_origin(scope["method"], headers, handshake=False)
        match scope["method"]:
            case "POST":
                try:
                    posted = parse(await read_body(request, limit=4096), TokenPost)
                except Exception as exc:
                    return failure(exc)
                cookie = self._guard.trade(posted.token)
            case "DELETE" if origin:
                cookie = self._guard.farewell()
            case _:
                return not_allowed("GET, POST, DELETE")
        return Response(status_code=204, headers={"set-cookie": cookie})

    def _link(self, method: str, headers: Headers) -> Response:
        """A new one-time token, for whoever has the owner's bearer token (`silu open`)."""
        self._guard.check_origin(method, headers, handshake=False)
        self._guard.identify(headers, bearer_only=True)
        if method != "POST":
            return not_allowed("POST")
        return json_response(TokenPost(token=self._guard.new_link_token()))

    # ----------------------------------------------------------------------- WebSocket

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            self._check_host(headers)
            self._guard.check_origin("GET", headers, handshake=True)
            principal = self._guard.identify(headers)
        except RefusalError as exc:
            await _refuse_handshake(exc, receive, send)
            return
        if scope["path"] != _SOCKET:
            wrong = RefusalError(404, "not_found", f"The WebSocket is at {_SOCKET}.")
            await _refuse_handshake(wrong, receive, send)
            return
        if self.sockets.full:
            many = RefusalError(503, "too_many_sockets", "Too many connections are open.")
            await _refuse_handshake(many, receive, send)
            return
        await self.sockets.serve(principal, scope, receive, send)


class _Route(Route):
    """A route that says in our own words which methods it has."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.methods and scope["method"] not in self.methods:
            await not_allowed(_methods_at(self.path))(scope, receive, send)
            return
        await super().handle(scope, receive, send)


def _route(app: App, operation: Operation) -> Route:
    async def endpoint(request: Request) -> Response:
        return await respond(app, operation, request)

    return _Route(operation.path, endpoint, methods=[operation.method], name=operation.name)


def _methods_at(path: str) -> str:
    found = {each.method for each in documents.OPERATIONS if each.path == path}
    return ", ".join(sorted(found | ({"HEAD"} if "GET" in found else set())))


async def _no_route(scope: Scope, receive: Receive, send: Send) -> None:
    wrong = RefusalError(404, "not_found", "There is nothing at this path.")
    await failure(wrong)(scope, receive, send)


async def _refuse_handshake(refusal: RefusalError, receive: Receive, send: Send) -> None:
    """Answer the handshake with a plain HTTP error, before any frame."""
    await receive()
    response = failure(refusal)
    headers = [(k, v) for k, v in response.raw_headers if k != b"content-length"]
    await send(
        {"type": "websocket.http.response.start", "status": refusal.status, "headers": headers}
    )
    await send({"type": "websocket.http.response.body", "body": bytes(response.body)})


def _page(method: str, path: str, headers: Headers) -> Response:
    if method not in ("GET", "HEAD"):
        return not_allowed("GET, HEAD")
    page = static.find(path, gzip="gzip" in headers.get("accept-encoding", ""))
    if page is None:
        return Response("Not found.", status_code=404, media_type="text/plain")
    out = {"etag": page.etag, "cache-control": page.cache, "vary": "accept-encoding"}
    if page.is_html:
        out["content-security-policy"] = content_policy(headers["host"])
    if page.encoding:
        out["content-encoding"] = page.encoding
    if headers.get("if-none-match") == page.etag:
        return Response(status_code=304, headers=out)
    return Response(page.body, media_type=page.media_type, headers=out)


def _with_safe_headers(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            extra: Any = [*message.get("headers", []), *_SAFE_HEADERS]
            message = {**message, "headers": extra}
        await send(message)

    return sender
