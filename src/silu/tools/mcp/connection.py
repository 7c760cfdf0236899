"""One connection to an MCP server: opened, used, watched and closed in a task of its own."""

import asyncio
import contextlib
import logging
import os
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Self, TextIO, cast

from silu.tools.mcp.convert import RemoteResult, result
from silu.types.errors import ToolError, place_of
from silu.types.mcp import McpServer
from silu.types.version import VERSION

log = logging.getLogger(__name__)

CALL_SECONDS = 60.0
CONNECT_SECONDS = 30.0
_MAX_PAGES = 20
_STDERR_LINES = 8
_LINE = 300


class GoneError(Exception):
    """The connection is no more; what a call under way did is unknown."""


class Sdk:
    """The parts of the SDK in use. Importing it takes a second and 50 MB: on first use, on a
    thread."""

    def __init__(self) -> None:
        import anyio
        from mcp import MCPError, types
        from mcp.client import client, stdio, streamable_http, subscriptions
        from mcp.shared._httpx_utils import create_mcp_http_client

        self.anyio: Any = anyio
        self.client: Any = client
        self.stdio: Any = stdio
        self.http: Any = streamable_http
        self.make_http: Any = create_mcp_http_client
        self.subscriptions: Any = subscriptions
        self.types: Any = types
        self.error: type[Exception] = MCPError
        self.modern: Sequence[str] = self.subscriptions.MODERN_PROTOCOL_VERSIONS

    @classmethod
    async def load(cls) -> Self:
        return await asyncio.to_thread(cls)


class Connection:
    """An open connection. `changed` is called when the server says that its tools changed,
    `gone` is set when the connection has ended by itself."""

    def __init__(
        self,
        server: McpServer,
        env: Mapping[str, str],
        *,
        changed: Callable[[], Awaitable[None]],
    ) -> None:
        self.server = server
        self.gone = asyncio.Event()
        self.label: str | None = None
        self.protocol: str | None = None
        self._env = env
        self._changed = changed
        self._client: Any = None
        self._sdk: Any = None
        self._said: deque[str] = deque(maxlen=_STDERR_LINES)
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect; `ToolError` says in a sentence why that failed."""
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(opened), name=f"mcp {self.server.name}")
        try:
            await asyncio.wait_for(asyncio.shield(opened), CONNECT_SECONDS)
        except TimeoutError:
            await self.close()
            raise ToolError(
                f"it did not answer within {CONNECT_SECONDS:g} seconds{self._tail()}"
            ) from None
        except asyncio.CancelledError:
            await self.close()
            raise

    async def close(self) -> None:
        self._stop.set()
        task, self._task = self._task, None
        if task is None:
            return
        done, _ = await asyncio.wait({task}, timeout=8)
        if not done:
            task.cancel()
            await asyncio.wait({task}, timeout=4)

    async def tools(self) -> list[Any]:
        """The server's tool list, all pages of it."""
        found: list[Any] = []
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await self._ask(self._client.list_tools(cursor=cursor, cache_mode="bypass"))
            found += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        return found

    async def call(self, tool: str, args: dict[str, Any]) -> RemoteResult:
        seconds = self.server.timeout or CALL_SECONDS
        told = await self._ask(
            self._client.call_tool(tool, args, read_timeout_seconds=seconds), seconds=seconds
        )
        return result(told)

    async def _ask(self, request: Awaitable[Any], *, seconds: float = CALL_SECONDS) -> Any:
        """Await a request, but no longer than the connection lives."""
        asked = asyncio.ensure_future(request)
        gone = asyncio.ensure_future(self.gone.wait())
        try:
            await asyncio.wait(
                {asked, gone}, timeout=seconds + 5, return_when=asyncio.FIRST_COMPLETED
            )
            if asked.done():
                return asked.result()
        except self._sdk.error as error:
            raise self._told(error, seconds) from error
        except (RuntimeError, OSError) as error:
            raise GoneError(f"the connection failed ({type(error).__name__})") from error
        finally:
            for task in (asked, gone):
                task.cancel()
            await asyncio.gather(asked, gone, return_exceptions=True)
        if self.gone.is_set():
            raise GoneError(f"the server ended{self._tail()}")
        raise ToolError(f"the server did not answer within {seconds:g} seconds")

    def _told(self, error: Any, seconds: float) -> Exception:
        code, message = error.error.code, str(error.error.message)[:1_000]
        if code == self._sdk.types.REQUEST_TIMEOUT:
            return ToolError(f"the server did not answer within {seconds:g} seconds")
        if code == self._sdk.types.CONNECTION_CLOSED:
            return GoneError(f"the connection was closed{self._tail()}")
        return ToolError(f"the server refused: {message}")

    # ------------------------------------------------------------------- its own task

    async def _live(self, opened: "asyncio.Future[None]") -> None:
        """Enter and leave everything in one task, as the SDK's task groups want it."""
        try:
            async with AsyncExitStack() as stack:
                self._sdk = await Sdk.load()
                self._client = await stack.enter_async_context(await self._made(stack))
                info = self._client.server_info
                self.label = f"{info.name} {info.version}".strip() if info else None
                self.protocol = self._client.protocol_version
                if not opened.done():
                    opened.set_result(None)
                await self._until_the_end()
        except Exception as error:
            # Whatever the SDK or a server comes up with ends this connection and nothing else.
            if opened.done():
                log.info(
                    "MCP server %s: its connection ended: %s", self.server.name, place_of(error)
                )
            else:
                opened.set_exception(ToolError(f"{_reason(error)}{self._tail()}"))
        finally:
            self.gone.set()
            if not opened.done():
                opened.set_exception(ToolError(f"the server ended{self._tail()}"))
            if not opened.cancelled():
                opened.exception()  # marks it as seen where nobody waits for it any more

    async def _made(self, stack: AsyncExitStack) -> Any:
        sdk, server = self._sdk, self.server
        if server.url is not None:
            client = sdk.make_http(headers=dict(server.headers) or None)
            transport = sdk.http.streamable_http_client(
                server.url, http_client=await stack.enter_async_context(client)
            )
        else:
            parameters = sdk.stdio.StdioServerParameters(
                command=server.command,
                args=list(server.args),
                env=dict(self._env),
                cwd=server.cwd,
            )
            errors = await stack.enter_async_context(self._stderr())
            transport = self._watched(sdk.stdio.stdio_client(parameters, errlog=errors))
        return sdk.client.Client(
            transport,
            message_handler=self._message,
            client_info=sdk.types.Implementation(name="silu", version=VERSION),
            read_timeout_seconds=CALL_SECONDS,
        )

    async def _until_the_end(self) -> None:
        waits: list[asyncio.Task[Any]] = [
            asyncio.create_task(self._stop.wait()),
            asyncio.create_task(self.gone.wait()),
        ]
        listens: asyncio.Task[Any] | None = None
        if self.protocol in self._sdk.modern:
            listens = asyncio.create_task(self._listen())
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            tasks = [*waits, *([listens] if listens else [])]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self) -> None:
        """Newer servers tell of changes on a stream of its own, where they do so at all."""
        lost = (self._sdk.error, self._sdk.subscriptions.SubscriptionLost)
        with contextlib.suppress(*lost):
            async with self._client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    await self._changed()

    async def _message(self, message: Any) -> None:
        if isinstance(message, self._sdk.types.ToolListChangedNotification):
            await self._changed()

    @contextlib.asynccontextmanager
    async def _watched(self, transport: Any) -> AsyncGenerator[Any]:
        """The transport, and a word when its server's output has ended."""
        anyio = self._sdk.anyio
        async with transport as (read, write):
            into, out = anyio.create_memory_object_stream(0)

            async def pump() -> None:
                try:
                    async with into:
                        async for item in read:
                            await into.send(item)
                except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                    return
                finally:
                    self.gone.set()

            async with anyio.create_task_group() as group:
                group.start_soon(pump)
                yield out, write
                group.cancel_scope.cancel()

    @contextlib.asynccontextmanager
    async def _stderr(self) -> AsyncGenerator[TextIO]:
        """Where a started server writes its errors: the last lines are kept for people."""
        reading, writing = os.pipe()
        pipe = os.fdopen(reading, "rb", buffering=0)
        lines = asyncio.StreamReader(limit=65_536)
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(lines), pipe
        )
        task = asyncio.create_task(self._keep(lines))
        try:
            with os.fdopen(writing, "w") as file:
                yield file
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            transport.close()

    async def _keep(self, lines: asyncio.StreamReader) -> None:
        rest = b""
        while chunk := await lines.read(4_096):
            *whole, rest = (rest + chunk).split(b"\n")
            rest = rest[-_LINE:]
            for line in whole:
                if text := line.decode("utf-8", errors="replace").strip():
                    self._said.append(text[:_LINE])

    def _tail(self) -> str:
        return f"; its last words: {self._said[-1]}" if self._said else ""


def _reason(error: BaseException) -> str:
    """Why connecting failed, without a trace."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, FileNotFoundError):
        return f"there is no program {error.filename!r}"
    told = getattr(error, "error", None)
    text = str(told.message) if told is not None else str(error)
    return text.strip()[:500] or type(error).__name__
