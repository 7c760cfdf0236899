"""A real HTTP server on a real socket that plays what a test wrote down, byte for byte."""

import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Seen:
    """A request as it came in. `gone` is set when the client closed the connection."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def json(self):
        return json.loads(self.body)


@dataclass
class Answer:
    """What is sent back: `chunks` one write each, `pause` an event to wait for before the last,
    `gate` one to pass before each; `cut` breaks the connection instead of ending the body."""

    status: int = 200
    chunks: list[bytes] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    pause: asyncio.Event | None = None
    gate: asyncio.Semaphore | None = None
    silent: bool = False


def sse(*events, done: bool = True) -> Answer:
    lines = [b"data: " + json.dumps(event).encode() + b"\n\n" for event in events]
    if done:
        lines.append(b"data: [DONE]\n\n")
    return Answer(chunks=lines, headers={"content-type": "text/event-stream"})


def delta(finish=None, **fields):
    return {"id": "r1", "model": "m", "choices": [
        {"index": 0, "delta": fields, "finish_reason": finish}
    ]}  # fmt: skip


def chat(text="hello", thought="hm", usage=None) -> Answer:
    """A whole streamed OpenAI chat answer."""
    events = []
    if thought is not None:
        events.append(delta(reasoning_content=thought))
    events += [delta(content=text), delta("stop")]
    events.append({"id": "r1", "choices": [], "usage": usage or {
        "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15
    }})  # fmt: skip
    return sse(*events)


def messages(text="hello", thought="hm", signature="sig") -> Answer:
    """A whole streamed Anthropic answer."""
    events = [("message_start", {"message": {
        "id": "msg_1", "model": "m", "role": "assistant", "content": [],
        "usage": {"input_tokens": 10, "output_tokens": 1},
    }})]  # fmt: skip
    if thought is not None:
        events += [
            ("content_block_start", {"index": 0, "content_block": {
                "type": "thinking", "thinking": "", "signature": ""}}),
            ("content_block_delta", {"index": 0, "delta": {
                "type": "thinking_delta", "thinking": thought}}),
            ("content_block_delta", {"index": 0, "delta": {
                "type": "signature_delta", "signature": signature}}),
            ("content_block_stop", {"index": 0}),
        ]  # fmt: skip
    events += [
        ("content_block_start", {"index": 1, "content_block": {"type": "text", "text": ""}}),
        ("content_block_delta", {"index": 1, "delta": {"type": "text_delta", "text": text}}),
        ("content_block_stop", {"index": 1}),
        ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}),
        ("message_stop", {}),
    ]
    body = [
        f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()
        for name, data in events
    ]
    return Answer(chunks=body, headers={"content-type": "text/event-stream"})


def refusal(message, status=400, **fields) -> Answer:
    body = {"error": {"message": message, "type": "invalid_request_error", **fields}}
    return Answer(status=status, chunks=[json.dumps(body).encode()])


def claude_refusal(message, status=400, kind="invalid_request_error") -> Answer:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return Answer(status=status, chunks=[json.dumps(body).encode()])


def whole(value, status=200) -> Answer:
    return Answer(
        status=status,
        chunks=[json.dumps(value).encode()],
        headers={"content-type": "application/json"},
    )


class Server:
    """Plays `answers` in order; the last one again and again. `routes` by path come first."""

    def __init__(self, *answers: Answer, routes: dict[str, Answer] | None = None) -> None:
        self.answers = list(answers)
        self.routes = routes or {}
        self.seen: list[Seen] = []
        self.url = ""
        self.connections = 0
        self.on_request: Callable[[Seen], None] | None = None
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task] = set()

    @property
    def calls(self) -> list[Seen]:
        """Requests that are no look at the listing."""
        return [seen for seen in self.seen if seen.path not in self.routes]

    async def __aenter__(self) -> "Server":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.url = f"http://{host}:{port}"
        return self

    async def __aexit__(self, *_) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader, writer) -> None:
        task = asyncio.current_task()
        self._tasks.add(task)
        self.connections += 1
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _one(self, reader, writer) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
        raw = dict(line.split(": ", 1) for line in lines if ": " in line)
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        method, path, _ = first.split(" ")
        seen = Seen(method, path, {k.lower(): v for k, v in raw.items()}, body)
        self.seen.append(seen)
        if self.on_request:
            self.on_request(seen)
        answer = self.routes.get(path)
        if answer is None:
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        watch = asyncio.create_task(self._watch(reader, seen))
        try:
            return await self._play(answer, writer)
        finally:
            watch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watch

    async def _watch(self, reader, seen: Seen) -> None:
        while not reader.at_eof():  # noqa: ASYNC110 - a reader has no event for its end
            await asyncio.sleep(0.005)
        seen.gone.set()

    async def _play(self, answer: Answer, writer) -> bool:
        if answer.silent:
            await asyncio.sleep(60)
        head = [f"HTTP/1.1 {answer.status} X", "transfer-encoding: chunked"]
        head += [f"{name}: {value}" for name, value in answer.headers.items()]
        writer.write(("\r\n".join(head) + "\r\n\r\n").encode())
        for at, chunk in enumerate(answer.chunks):
            if answer.pause is not None and at == len(answer.chunks) - 1:
                await writer.drain()
                await answer.pause.wait()
            if answer.gate is not None:
                await answer.gate.acquire()
            writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            await writer.drain()
        if answer.cut:
            writer.transport.abort()
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True
