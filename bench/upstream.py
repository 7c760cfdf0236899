"""The bench's vendor, a process of its own: streams of both dialects, at once or paced.

The first part of the path says what is wanted, so that any client can ask through its base URL:
`/n=2000,delay=20,wait=500/v1/chat/completions` is 2,000 deltas, one every 20 ms, after half a
second; without `delay` all of them at once. In a paced stream each delta's text is its number and
the moment it was sent (`00017:00000123456789012345 `, nanoseconds of the machine's clock).
"""

import asyncio
import sys
import time
from contextlib import AbstractContextManager
from functools import cache

from bench import streams
from bench.processes import Server, serving

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
STAMP = "@" * 20
"""Stands for the moment in a stream that is kept ready."""
STAMPED = 27
"""Characters of a paced delta's text."""
PORTION = 64
"""Deltas of one write in a burst."""

_PATHS = {"/chat/completions": "openai-chat", "/messages": "anthropic-messages"}


def moments(text: str) -> list[tuple[int, int]]:
    """(number, nanoseconds) of every paced delta in `text`, however they were joined."""
    cut = (text[at : at + STAMPED] for at in range(0, len(text), STAMPED))
    return [(int(one[:5]), int(one[6:26])) for one in cut]


@cache
def pieces(dialect: str, n: int, paced: bool) -> list[bytes]:
    """A stream as HTTP chunks, one an event, as vendors send it."""
    said = (f"{number:05d}:{STAMP} " for number in range(n)) if paced else None
    events = streams.STREAMS[dialect](n, said).split(b"\n\n")[:-1]
    return [b"%x\r\n%b\n\n\r\n" % (len(event) + 2, event) for event in events]


class Vendor(asyncio.Protocol):
    """One connection: answers each whole request with the stream its path asks for."""

    def __init__(self) -> None:
        self._got = b""
        self._writable = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._writable.set()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        self._got += data
        head, found, body = self._got.partition(b"\r\n\r\n")
        if not found or len(body) < _length(head):
            return
        self._got = b""
        self._task = asyncio.ensure_future(self._answer(head.split(b" ", 2)[1].decode()))

    async def _answer(self, path: str) -> None:
        dialect = next((d for end, d in _PATHS.items() if path.endswith(end)), None)
        if dialect is None:
            # Clients that look for a list of models get an empty one.
            self._transport.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                b'content-length: 11\r\n\r\n{"data":[]}'
            )
            return
        asked = dict(item.split("=") for item in path.split("/")[1].split(","))
        delay = float(asked.get("delay", 0)) / 1e3
        ready = pieces(dialect, int(asked["n"]), delay > 0)
        self._transport.write(HEAD)
        await asyncio.sleep(float(asked.get("wait", 0)) / 1e3)
        await (self._paced(ready, delay) if delay else self._burst(ready))
        self._transport.write(END)

    async def _burst(self, ready: list[bytes]) -> None:
        for at in range(0, len(ready), PORTION):
            self._transport.write(b"".join(ready[at : at + PORTION]))
            await self._writable.wait()

    async def _paced(self, ready: list[bytes], delay: float) -> None:
        loop, mark = asyncio.get_running_loop(), STAMP.encode()
        due = loop.time()
        for piece in ready:
            if mark not in piece:
                self._transport.write(piece)
                continue
            due += delay
            await asyncio.sleep(due - loop.time())
            self._transport.write(piece.replace(mark, b"%020d" % time.monotonic_ns()))


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line[15:])
    return 0


def serve(port: int) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Vendor, "127.0.0.1", port, backlog=1024)
        await server.serve_forever()

    asyncio.run(main())


def vendor() -> AbstractContextManager[Server]:
    """The vendor, started."""
    return serving("bench.upstream")


if __name__ == "__main__":
    serve(int(sys.argv[1]))
