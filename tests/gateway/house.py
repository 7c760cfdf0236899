"""A real workspace in a process of its own, and a client that reads frames as a page would."""

import asyncio
import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedError

from silu.config import Endpoint, EndpointFile, Paths

TOKEN = "owner-token-for-tests"
Frame = dict[str, Any]


def clean_env(home: Path, **more: str) -> dict[str, str]:
    """The environment of a person without keys, with a data folder of their own."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith(("_API_KEY", "_PROXY", "_proxy")) and not name.startswith("SILU_")
    }
    ours = {"SILU_HOME": str(home), "SILU_TOKEN": TOKEN, "SILU_DEMO_RATE": "0"}
    return {**kept, **ours, "SILU_LOCAL_SERVERS": "false", **more}


@dataclass
class Workspace:
    """A `silu serve` of its own."""

    home: Path
    env: dict[str, str] = field(default_factory=dict[str, str])
    process: subprocess.Popen[str] | None = None
    link: str = ""

    def start(self, *args: str) -> "Workspace":
        command = [sys.executable, "-m", "silu", "serve", "--port", "0", "--no-open", *args]
        self.process = subprocess.Popen(
            command,
            env=clean_env(self.home, **self.env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=(self.home / "stderr.txt").open("a"),
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("silu is ready at http://"), line + self.stderr()
        self.link = line.removeprefix("silu is ready at ").strip()
        return self

    @property
    def work(self) -> Path:
        """A folder of the person's: commands start in it."""
        folder = self.home / "work"
        folder.mkdir(exist_ok=True)
        return folder

    @property
    def url(self) -> str:
        return self.link.partition("#")[0]

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://").rstrip("/")

    @property
    def ws_url(self) -> str:
        return f"ws://{self.host}/api/v1/ws"

    def stderr(self) -> str:
        return (self.home / "stderr.txt").read_text()

    def kill(self) -> None:
        """As a crash would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)

    def stop(self, sig: int = signal.SIGTERM) -> int:
        """As a person would; gives the exit code."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(sig)
        return self.process.wait(20)

    def add_endpoint(self, endpoint: Endpoint, key: str | None = "test-key") -> None:
        paths = Paths.under(self.home)
        paths.config.mkdir(parents=True, exist_ok=True)
        EndpointFile(paths.endpoints_file).put(endpoint)
        if key is not None and endpoint.key_env:
            self.env[endpoint.key_env] = key


@contextlib.contextmanager
def ended(workspace: Workspace) -> Any:
    try:
        yield workspace
    finally:
        if workspace.process is not None:
            try:
                workspace.stop()
            except subprocess.TimeoutExpired:
                workspace.kill()
                raise


class Known(NamedTuple):
    """A page's blocks: text, attempts by message, kinds, messages."""

    blocks: dict[str, str]
    attempts: dict[str, int]
    kinds: dict[str, str]
    owners: dict[str, str]


class Client:
    """One socket. Keeps all frames and, like the page, the text of every block."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.frames: list[Frame] = []
        self.blocks: dict[str, str] = {}
        self.attempts: dict[str, int] = {}
        self.kinds: dict[str, str] = {}
        self.owners: dict[str, str] = {}
        self.numbers: dict[str, int] = {}
        self._ids = itertools.count(1)
        self._news = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        # A server that is killed says no goodbye; `until` tells where that was not meant.
        with contextlib.suppress(ConnectionClosedError):
            async for text in self.socket:
                frame = json.loads(text)
                self._take(frame)
                self.frames.append(frame)
                self._news.set()

    def _take(self, frame: Frame) -> None:
        kind = frame["type"]
        if "n" in frame and "session_id" in frame:
            before = self.numbers.get(frame["session_id"])
            assert before is None or frame["n"] == before + 1, f"gap before {frame}"
            self.numbers[frame["session_id"]] = frame["n"]
        if kind == "snapshot":
            self.numbers[frame["session_id"]] = frame["data"]["n"]
            for block in frame["data"]["blocks"]:
                self._begin(block)
                self.blocks[block["block_id"]] = block["text"]
        elif kind.endswith("_delta"):
            self._delta(frame["data"])

    def _begin(self, block: Frame) -> None:
        block_id, message_id = block["block_id"], block["message_id"]
        if block["attempt"] > self.attempts.get(message_id, -1):
            # A new attempt at the step clears what earlier ones showed.
            self.attempts[message_id] = block["attempt"]
            for gone in [b for b, m in self.owners.items() if m == message_id]:
                self.blocks.pop(gone, None)
                del self.owners[gone]
        if block_id not in self.owners:
            self.owners[block_id] = message_id
            self.kinds[block_id] = block["kind"]
            self.blocks[block_id] = ""

    def _delta(self, data: Frame) -> None:
        self._begin(data)
        known = self.blocks[data["block_id"]]
        assert data["offset"] <= len(known), f"a hole before {data}, known {len(known)}"
        assert known[data["offset"] :] == data["text"][: len(known) - data["offset"]]
        self.blocks[data["block_id"]] = known[: data["offset"]] + data["text"]

    def text(self, kind: str) -> str:
        """All text of a kind, blocks run together."""
        return "".join(text for key, text in self.blocks.items() if self.kinds[key] == kind)

    def of(self, kind: str) -> list[Frame]:
        return [frame for frame in self.frames if frame["type"] == kind]

    async def until(self, check: Callable[[], Any], *, seconds: float = 20) -> Any:
        """Wait until a check of what has arrived gives something."""
        deadline = time.monotonic() + seconds
        while not (found := check()):
            self._news.clear()
            left = deadline - time.monotonic()
            assert left > 0, f"in vain; last frames: {[f['type'] for f in self.frames[-30:]]}"
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), min(left, 1))
            assert not self._reader.done() or check(), "the connection has closed"
        return found

    def known(self) -> "Known":
        """What a page would still have after its connection was lost."""
        return Known(dict(self.blocks), dict(self.attempts), dict(self.kinds), dict(self.owners))

    def remember(self, known: "Known") -> None:
        self.blocks, self.attempts, self.kinds, self.owners = known

    async def ask(self, kind: str, session_id: str | None = None, **data: Any) -> Frame:
        """Send a command and give the answering frame."""
        frame_id = f"f{next(self._ids)}"
        frame: Frame = {"type": kind, "frame_id": frame_id, "data": data}
        if session_id is not None:
            frame["session_id"] = session_id
        await self.socket.send(json.dumps(frame))
        return await self.answer(frame_id)

    async def answer(self, frame_id: str | None) -> Frame:
        return await self.until(
            lambda: next(
                (
                    f
                    for f in self.frames
                    if f["type"] in ("ack", "error") and f["frame_id"] == frame_id
                ),
                None,
            )
        )

    async def done(self, run_id: str, *, seconds: float = 20) -> Frame:
        frame = await self.until(
            lambda: next((f for f in self.of("done") if f["run_id"] == run_id), None),
            seconds=seconds,
        )
        return frame["data"]


@contextlib.asynccontextmanager
async def client(workspace: Workspace, **headers: str) -> AsyncGenerator[Client]:
    """A client with the owner's token."""
    given = headers or {"Authorization": f"Bearer {TOKEN}"}
    async with connect(workspace.ws_url, additional_headers=given, max_size=None) as socket:
        made = Client(socket)
        try:
            yield made
        finally:
            await socket.close()


class Http:
    """The HTTP interface with the owner's token."""

    def __init__(self, workspace: Workspace, session: aiohttp.ClientSession) -> None:
        self.base = workspace.url + "api/v1"
        self.session = session

    async def __call__(
        self, method: str, path: str, body: Any = None, *, status: int | None = None
    ) -> Any:
        async with self.session.request(method, self.base + path, json=body) as answer:
            text = await answer.text()
            expected = answer.status < 400 if status is None else answer.status == status
            assert expected, f"{method} {path}: {answer.status} {text}"
            return json.loads(text) if text else None

    async def new_session(self, **wish: Any) -> str:
        return (await self("POST", "/sessions", wish))["id"]


@contextlib.asynccontextmanager
async def http(workspace: Workspace) -> AsyncGenerator[Http]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        yield Http(workspace, session)
