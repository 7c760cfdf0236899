"""What reads a gateway: a workspace in a process of its own, and pages on its WebSocket."""

import asyncio
import contextlib
import itertools
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Generator
from typing import Any

import aiohttp
import msgspec

from bench import house
from bench.processes import Server
from silu.config import Endpoint

TOKEN = "bench-token-0123456789"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
MODEL = "deepseek-v4-pro"


class Frame(msgspec.Struct):
    """A frame of silu's, or of the relay's (`kind` and `text`)."""

    type: str = ""
    session_id: str | None = None
    frame_id: str | None = None
    data: msgspec.Raw = msgspec.Raw()
    kind: str = ""
    text: str = ""


class Delta(msgspec.Struct):
    block_id: str
    offset: int
    text: str


_frame = msgspec.json.Decoder(Frame).decode
_delta = msgspec.json.Decoder(Delta).decode


def place(name: str, base: str, parameters: str) -> Endpoint:
    """An endpoint whose every call gets such a stream: `name/MODEL` then."""
    return house.endpoint(name, f"{base}/{parameters}/v1", "openai-chat", MODEL)


@contextlib.contextmanager
def workspace(*places: Endpoint) -> Generator[Server]:
    """`silu serve` with a home of its own, until the block ends."""
    home = house.home()
    house.settle(home, *places)
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith(("_api_key", "_proxy"))}
    ours = {"SILU_HOME": str(home), "SILU_TOKEN": TOKEN, "SILU_LOCAL_SERVERS": "false"}
    process = subprocess.Popen(
        [sys.executable, "-m", "silu", "serve", "--port", "0", "--no-open"],
        env={**kept, **ours, "NEAR_KEY": house.KEY},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        yield Server(line.split(" at ")[1].partition("#")[0].strip().rstrip("/"), process.pid)
    finally:
        process.terminate()
        process.communicate()


class Page:
    """One socket. Keeps every delta with the moment it came, by session and block."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.deltas: dict[str, list[tuple[int, Delta]]] = defaultdict(list)
        self.frames = 0
        self.chars = 0
        self.done: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.first: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._answers: dict[str, asyncio.Future[Frame]] = {}
        self._ids = itertools.count()
        self._reader = asyncio.create_task(self._read())

    async def ask(self, kind: str, session_id: str | None = None, **data: Any) -> None:
        frame_id = f"f{next(self._ids)}"
        answer = self._answers[frame_id] = asyncio.get_running_loop().create_future()
        frame = {"type": kind, "frame_id": frame_id, "session_id": session_id, "data": data}
        await self.socket.send_str(msgspec.json.encode(frame).decode())
        if (got := await answer).type != "ack":
            raise RuntimeError(f"{kind}: {bytes(got.data).decode()}")

    async def go(self, session_id: str) -> None:
        """Follow a session and set it going."""
        await self.ask("subscribe", session_id, since=0)
        await self.ask("send", session_id, client_id=f"c-{session_id}", text="Go")

    async def begun(self, session_id: str) -> None:
        """Until its first delta came."""
        await self.first[session_id].wait()

    async def ended(self, session_id: str, *, seconds: float) -> None:
        await asyncio.wait_for(self.done[session_id].wait(), seconds)

    def in_order(self, session_id: str) -> list[tuple[int, str]]:
        """(moment, text) of a session's deltas; a hole or an overlap is an error."""
        lengths: dict[str, int] = defaultdict(int)
        told: list[tuple[int, str]] = []
        for moment, delta in self.deltas[session_id]:
            if delta.offset != lengths[delta.block_id]:
                raise RuntimeError(f"{session_id}: {delta.offset}, not {lengths[delta.block_id]}")
            lengths[delta.block_id] += len(delta.text)
            told.append((moment, delta.text))
        return told

    async def _read(self) -> None:
        async for message in self.socket:
            now = time.monotonic_ns()
            frame = _frame(message.data)
            self.frames += 1
            session_id = frame.session_id or ""
            if frame.type.endswith("_delta"):
                delta = _delta(frame.data)
                self.deltas[session_id].append((now, delta))
                self.chars += len(delta.text)
                self.first[session_id].set()
            elif frame.kind == "thinking_delta":
                self.chars += len(frame.text)
                self.first[session_id].set()
            elif frame.type == "done" or frame.kind == "done":
                self.done[session_id].set()
            elif frame.frame_id is not None:
                self._answers.pop(frame.frame_id).set_result(frame)


@contextlib.asynccontextmanager
async def page(http: aiohttp.ClientSession, url: str) -> AsyncGenerator[Page]:
    async with http.ws_connect(url, headers=BEARER, compress=0, max_msg_size=0) as socket:
        yield Page(socket)


async def new_session(http: aiohttp.ClientSession, url: str, name: str) -> str:
    wish = {"model": f"{name}/{MODEL}"}
    async with http.post(f"{url}/api/v1/sessions", json=wish, headers=BEARER) as answer:
        return (await answer.json())["id"]
