"""The WebSocket's lower half, as uvicorn drives it."""

import asyncio
import base64
import os

import pytest
from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.server import ServerState

from silu.gateway.socket import FrameSocket

pytestmark = pytest.mark.anyio

SHAKE = (
    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n"
    "Sec-WebSocket-Version: 13\r\n\r\n"
).encode()
GOODBYE = bytes([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8])
"""A client's close frame, code 1000, under a mask of zeros."""


class Stuck(asyncio.Transport):
    """A connection whose reader takes nothing: closing it does not end it yet."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.closes = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        pass

    def is_closing(self) -> bool:
        return self.closes > 0

    def close(self) -> None:
        self.closes += 1


async def test_a_page_that_has_said_goodbye_is_no_trouble_when_the_server_ends() -> None:
    accepted = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        accepted.set()
        while (await receive())["type"] != "websocket.disconnect":
            pass

    state, transport = ServerState(), Stuck()
    config = Config(app, ws=FrameSocket, log_config=None)
    config.load()
    socket = FrameSocket(config, state, {})
    socket.connection_made(transport)
    socket.data_received(SHAKE)
    await accepted.wait()
    socket.data_received(GOODBYE)
    assert transport.closes == 1
    socket.shutdown()
    assert transport.closes == 2
