"""A small HTTP/1.1 server on asyncio streams, so that a fake can break the framing too."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable

import msgspec

# The words matter to no client; the numbers do.
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}
_MAX_HEAD = 64 * 1024


class Incoming(msgspec.Struct, kw_only=True):
    """One request; header names are lower case, `path` has no query."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes


class Reply(msgspec.Struct, kw_only=True):
    """One answer. `pieces` go out one HTTP chunk each, as they come; `abort` sends nothing at
    all and drops the connection."""

    status: int
    headers: dict[str, str]
    body: bytes = b""
    pieces: AsyncIterator[bytes] | None = None
    abort: bool = False


class DroppedError(Exception):
    """Raised by a piece iterator: write `raw` without framing, then drop the connection."""

    def __init__(self, raw: bytes = b"") -> None:
        super().__init__("the connection is dropped on purpose")
        self.raw = raw


Handler = Callable[[Incoming], Awaitable[Reply]]


@contextlib.asynccontextmanager
async def listening(
    handler: Handler, *, host: str = "127.0.0.1", port: int = 0
) -> AsyncGenerator[str]:
    """Serve on `host`; yields the base URL. Open connections are dropped at the end."""
    tasks: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(_serve(reader, writer, handler))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(connected, host, port, limit=_MAX_HEAD)
    try:
        bound = server.sockets[0].getsockname()
        yield f"http://{bound[0]}:{bound[1]}"
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


async def _serve(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: Handler
) -> None:
    try:
        while (request := await _read(reader)) is not None:
            reply = await handler(request)
            if not await _write(writer, reply, head_only=request.method == "HEAD"):
                break
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, DroppedError):
        writer.transport.abort()
    finally:
        writer.close()


async def _read(reader: asyncio.StreamReader) -> Incoming | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    path, _, query = target.partition("?")
    body = await _read_body(reader, headers)
    return Incoming(method=method, path=path, query=query, headers=headers, body=body)


async def _read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        parts: list[bytes] = []
        while size := int((await reader.readline()).split(b";")[0], 16):
            parts.append(await reader.readexactly(size))
            await reader.readline()
        await reader.readline()
        return b"".join(parts)
    length = int(headers.get("content-length", "0"))
    return await reader.readexactly(length) if length else b""


async def _write(writer: asyncio.StreamWriter, reply: Reply, *, head_only: bool) -> bool:
    """Write one answer; false when the connection must not be used again."""
    if reply.abort:
        writer.transport.abort()
        return False
    headers = dict(reply.headers)
    if reply.pieces is None:
        headers["content-length"] = str(len(reply.body))
    else:
        headers["transfer-encoding"] = "chunked"
    lines = [f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, 'Status')}"]
    lines.extend(f"{name}: {value}" for name, value in headers.items())
    writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")
    if reply.pieces is None:
        writer.write(b"" if head_only else reply.body)
        await writer.drain()
        return True
    try:
        async for piece in reply.pieces:
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()
    except DroppedError as dropped:
        writer.write(dropped.raw)
        await writer.drain()
        raise
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True
