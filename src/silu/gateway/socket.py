"""uvicorn's WebSocket with one message more: many text frames in a single write.

A page that follows many sessions has many frames due at once, and a frame may be due at many
pages: so each is put into the form of the wire once for all pages, and all that is due at a page
goes out in one system call. That holds while nothing is negotiated that changes frames on the
way, and the server negotiates nothing (`ws_per_message_deflate` is off).
"""

import struct
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any

from starlette.types import Message
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.http11 import Request
from websockets.protocol import State

from silu.engine.api import Out

FRAMES = "silu.frames"
"""The message's type; its `data` is of `portions`."""

_MOST_BYTES = 256 * 1024
"""Bytes of one write, about: between writes a slow reader may hold the server back."""

_FINAL_TEXT = 0x81
"""First byte of a whole text frame (RFC 6455, section 5.2)."""


AT_ONCE = "silu.at_once"
"""The connection's extension: its `write` is an `AtOnce`."""


class FrameSocket(WebSocketsSansIOProtocol):
    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
            # The application is a task that has not begun yet.
            known = self.scope.get("extensions") or {}
            self.scope["extensions"] = {**known, AT_ONCE: {"write": self.write_at_once}}

    def write_at_once(self, outs: Sequence[Out]) -> bool:
        """Write frames where the page takes them without waiting; false: nothing was written."""
        open_now = self.writable.is_set() and not self.disconnected
        if not open_now or self.conn.state is not State.OPEN or not self.handshake_complete:
            return False
        for message in portions(outs):
            self.transport.write(message["data"])
        return True

    async def send(self, message: Any) -> None:
        if message["type"] != FRAMES:
            await super().send(message)
            return
        if not self.writable.is_set():
            await self.writable.wait()
        if self.disconnected or self.conn.state is not State.OPEN:
            raise ClientDisconnected
        self.transport.write(message["data"])

    def shutdown(self) -> None:
        # A page that has said goodbye and whose last bytes are still on their way is closed by
        # uvicorn a second time, which its own state machine refuses.
        try:
            super().shutdown()
        except InvalidState:
            self.transport.close()


def portions(outs: Sequence[Out]) -> Iterator[Message]:
    """`FRAMES` messages that carry these frames in order."""
    due: list[bytes] = []
    size = 0
    for out in outs:
        frame = out.wire
        if frame is None:
            frame = out.wire = text_frame(out.data)
        due.append(frame)
        size += len(frame)
        if size >= _MOST_BYTES:
            yield {"type": FRAMES, "data": b"".join(due)}
            due, size = [], 0
    if due:
        yield {"type": FRAMES, "data": b"".join(due)}


def text_frame(data: bytes) -> bytes:
    """A server's frame: final, unmasked, the shortest form of its length."""
    length = len(data)
    if length < 126:
        head = struct.pack("!BB", _FINAL_TEXT, length)
    elif length < 1 << 16:
        head = struct.pack("!BBH", _FINAL_TEXT, 126, length)
    else:
        head = struct.pack("!BBQ", _FINAL_TEXT, 127, length)
    return head + data
