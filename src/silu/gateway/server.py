"""The listening socket and uvicorn, tuned: httptools, sans-I/O WebSockets, no idle ticking."""

import asyncio
import errno
import signal
import socket
from collections.abc import Callable
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.config import Config

from silu.gateway.socket import FrameSocket
from silu.types.errors import UserError

WS_MAX_BYTES = 1024 * 1024
"""The largest frame a client may send; attachments go through the blob route."""


def bind(host: str, port: int) -> socket.socket:
    """Take the address before anything else starts; `UserError` (`port_in_use`) when it is taken.

    Port 0 lets the system choose.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen(2048)
    except OSError as exc:
        sock.close()
        raise _cannot_listen(host, port, exc) from exc
    sock.setblocking(False)
    return sock


def _cannot_listen(host: str, port: int, exc: OSError) -> UserError:
    if exc.errno == errno.EADDRINUSE:
        return UserError(
            f"Port {port} on {host} is in use by another program.",
            code="port_in_use",
            setting="--port",
            fix="Choose another with --port.",
        )
    if exc.errno == errno.EACCES:
        return UserError(
            f"This account may not listen on port {port}.",
            code="port_forbidden",
            setting="--port",
            fix="Choose one above 1023 with --port.",
        )
    return UserError(
        f"Cannot listen on {host}:{port}: {exc.strerror or exc}.",
        code="bad_address",
        setting="--host",
        fix="Give an address of this machine with --host.",
    )


class Server(uvicorn.Server):
    """uvicorn without its ten wake-ups a second: the main loop waits for the end.

    `on_ready` is called once connections are taken, `on_stopping` before they are closed.
    """

    def __init__(self, config: Config, *, on_stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self.on_ready: Callable[[], None] | None = None
        self._stop = asyncio.Event()
        self._on_stopping = on_stopping
        self._loop: asyncio.AbstractEventLoop | None = None

    async def main_loop(self) -> None:
        # uvicorn's loop refreshes the date header and counts requests; we use neither.
        self._loop = asyncio.get_running_loop()
        self.server_state.default_headers = self.config.encoded_headers
        if self.on_ready is not None and not self.should_exit:
            self.on_ready()
        if not self.should_exit:
            await self._stop.wait()
        self._on_stopping()

    def stop(self) -> None:
        """End from inside the loop."""
        self.should_exit = True
        self._stop.set()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # A signal handler runs between two byte codes of the loop's thread: waking the loop
        # needs the thread-safe door. Signals are not raised again: stopping is the answer.
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)


def server(app: Any, *, on_stopping: Callable[[], None]) -> Server:
    """A server for an ASGI application; give it its bound socket with `serve(sockets=[…])`."""
    config = Config(
        app,
        http="httptools",
        ws=FrameSocket,
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        ws_max_size=WS_MAX_BYTES,
        ws_ping_interval=20.0,
        ws_ping_timeout=60.0,
        # Small JSON frames at a high rate: compressing costs more than the loopback saves, and
        # `FrameSocket` writes frames as they are.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=5,
    )
    return Server(config, on_stopping=on_stopping)
