"""From an HTTP request to a service call and back: thin, typed, without a framework's magic.

An `Operation` is a route as data: the table of them drives both the routing and the OpenAPI
document, so that neither can say what the other does not do.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from silu.gateway.auth import Principal, RefusalError
from silu.types.api import ErrorBody
from silu.types.errors import SiluError, UserError, VendorError, place_of
from silu.types.facts import ErrorInfo

log = logging.getLogger("silu.gateway")

MAX_BODY = 1024 * 1024
"""Bytes of an ordinary request body; routes that take files name their own limit."""

_STATUS_OF_CODE: dict[str, int] = {
    "unknown_session": 404,
    "unknown_message": 404,
    "unknown_model": 404,
    "unknown_endpoint": 404,
    "unknown_run": 404,
    "unknown_blob": 404,
    "unknown_call": 404,
    "unknown_vendor": 404,
    "unknown_token": 404,
    "unknown_mcp_server": 404,
    "unknown_agent": 404,
    "not_found": 404,
    "not_text": 415,
    "running": 409,
    "nothing_to_undo": 409,
    "nothing_to_redo": 409,
    "conflict": 409,
    "workspace_locked": 409,
    "too_large": 413,
    "not_available": 501,
    "owned": 503,
}

_encoder = msgspec.json.Encoder()


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One request, read: `body` is an instance of the operation's struct, the raw bytes where
    that is `bytes`, or `None`. Header names are lower case."""

    principal: Principal
    path: dict[str, str]
    query: dict[str, str]
    headers: Mapping[str, str]
    body: Any = None

    def number(self, name: str, default: int, *, top: int) -> int:
        """A whole number of the query between 0 and `top`."""
        text = self.query.get(name)
        if text is None:
            return default
        try:
            value = int(text)
        except ValueError:
            value = -1
        if not 0 <= value <= top:
            raise UserError(
                f"`{name}` must be a whole number from 0 to {top}.",
                code="bad_argument",
                setting=name,
            )
        return value

    def flag(self, name: str) -> bool:
        """`true` or `false` of the query, false when it is not there."""
        match self.query.get(name, "false"):
            case "true" | "1":
                return True
            case "false" | "0":
                return False
            case _:
                raise UserError(
                    f"`{name}` is `true` or `false`.", code="bad_argument", setting=name
                )

    def choice(self, name: str, options: tuple[str, ...]) -> str | None:
        """One of some words of the query, `None` when it is not there."""
        word = self.query.get(name)
        if word is None or word in options:
            return word
        raise UserError(
            f"`{name}` is one of {', '.join(options)}.", code="bad_argument", setting=name
        )


class Parameter(msgspec.Struct, frozen=True):
    """A query parameter, as the OpenAPI document tells it."""

    name: str
    kind: str
    about: str
    required: bool = False
    choices: tuple[str, ...] = ()


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One route. `run` gets the services and the call and gives the answer's struct."""

    method: str
    path: str
    name: str
    about: str
    run: Callable[[Any, Call], Awaitable[Any]]
    answer: type[msgspec.Struct] | None
    body: type[msgspec.Struct] | type[bytes] | None = None
    query: tuple[Parameter, ...] = ()
    status: int = 200
    max_body: int = MAX_BODY


def route(method: str, path: str, about: str, run: Any, answer: Any, **more: Any) -> Operation:
    """An operation below `/api/v1`, named like the function that runs it."""
    return Operation(
        method=method,
        path=f"/api/v1{path}",
        name=run.__name__.lstrip("_"),
        about=about,
        run=run,
        answer=answer,
        **more,
    )


async def respond(app: Any, operation: Operation, request: Request) -> Response:
    """Run an operation; every failure becomes an `ErrorBody`."""
    try:
        call = Call(
            principal=request.scope["silu.principal"],
            path=dict(request.path_params),
            query=dict(request.query_params),
            headers=request.headers,
            body=await _body(operation, request),
        )
        answer = await operation.run(app, call)
    except ClientDisconnect:
        return Response(status_code=499)
    except Exception as exc:
        return failure(exc)
    if isinstance(answer, Response):
        return answer
    return json_response(answer, status=operation.status)


def json_response(value: Any, *, status: int = 200) -> Response:
    """An answer that no cache keeps."""
    return Response(
        _encoder.encode(value),
        status_code=status,
        media_type="application/json",
        headers={"cache-control": "no-store"},
    )


def failure(exc: Exception) -> Response:
    """The response that tells a failure: one sentence, never a traceback."""
    status, info = describe(exc)
    response = json_response(ErrorBody(error=info), status=status)
    if status == 429 and info.code == "too_many_tries":
        response.headers["retry-after"] = "60"
    return response


def not_allowed(methods: str) -> Response:
    """The answer to a method that a path does not have."""
    refused = failure(RefusalError(405, "method_not_allowed", f"This path takes {methods}."))
    refused.headers["allow"] = methods
    return refused


def describe(exc: Exception) -> tuple[int, ErrorInfo]:
    """HTTP status and error body of an exception; anything unforeseen is logged and hidden."""
    match exc:
        case RefusalError():
            return exc.status, ErrorInfo(kind="refused", code=exc.code, message=exc.message)
        case UserError():
            return _STATUS_OF_CODE.get(exc.code, 400), ErrorInfo(
                kind="user", code=exc.code, message=str(exc), setting=exc.setting or None
            )
        case VendorError(failure=fault):
            return 502, ErrorInfo.of(fault)
        case SiluError():
            return 400, ErrorInfo(kind="user", code="failed", message=str(exc))
        case _:
            log.error("unforeseen %s", place_of(exc))
            return 500, ErrorInfo(
                kind="internal",
                code="internal",
                message="The gateway failed at this; its log names the place. "
                "Nothing else is affected.",
            )


async def _body(operation: Operation, request: Request) -> Any:
    if operation.body is None:
        return None
    raw = await read_body(request, limit=operation.max_body)
    if issubclass(operation.body, bytes):
        return raw
    return parse(raw or b"{}", operation.body)


async def read_body(request: Request, *, limit: int) -> bytes:
    """The request's body; `UserError` (`too_large`) as soon as it passes `limit` bytes."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise UserError(f"The request is larger than {limit // 1024} KiB.", code="too_large")
        chunks.append(chunk)
    return b"".join(chunks)


def parse(raw: bytes, shape: type[msgspec.Struct]) -> Any:
    """Read JSON into a struct; `UserError` (`bad_json`, `bad_argument`) says what is wrong."""
    try:
        return msgspec.json.decode(raw, type=shape)
    except msgspec.ValidationError as exc:
        raise UserError(f"This request is not as expected: {exc}.", code="bad_argument") from exc
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise UserError("This is not JSON.", code="bad_json") from exc
    except RecursionError as exc:
        raise UserError("This JSON is nested too deeply.", code="bad_json") from exc
