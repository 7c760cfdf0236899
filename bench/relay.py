"""The gateway's floor: a plain ASGI app under the same uvicorn, without store, session or facts.

Its WebSocket takes one line: `relay PARAMETERS` reads a stream of the bench's vendor and sends an
event a delta; `follow` listens; `push N DELAY TEXT` sends N events to all who follow, one every
DELAY milliseconds. Both end with `{"kind":"done"}`.
"""

import asyncio
import sys
from typing import Any

import msgspec
import uvicorn

from bench.clients import floor

encode = msgspec.json.Encoder().encode
DONE = '{"kind":"done"}'


class Event(msgspec.Struct):
    kind: str
    text: str
    n: int


class Relay:
    def __init__(self, vendor: str) -> None:
        self._vendor = vendor
        self._stream: Any = None
        self._followers: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "websocket":
            return
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            word, _, rest = message["text"].partition(" ")
            match word:
                case "relay":
                    await self._relay(rest, send)
                case "follow":
                    self._followers.append(send)
                case "push":
                    await self._push(*rest.split(" ", 2))
                case _:
                    raise ValueError(word)

    async def _relay(self, parameters: str, send: Any) -> None:
        """Reads on while it sends: what has come since the last send goes out as it was cut."""
        stream = self._stream = self._stream or floor("openai-chat")
        due: list[Event] = []
        news = asyncio.Event()
        count = 0

        def on(text: str) -> None:
            nonlocal count
            due.append(Event("thinking_delta", text, count))
            count += 1
            news.set()

        reading = asyncio.ensure_future(stream(f"{self._vendor}/{parameters}", on))
        reading.add_done_callback(lambda _: news.set())
        while due or not reading.done():
            await news.wait()
            news.clear()
            now, due[:] = due[:], []
            for event in now:
                await send({"type": "websocket.send", "text": encode(event).decode()})
        await reading
        await send({"type": "websocket.send", "text": DONE})

    async def _push(self, n: str, delay: str, text: str) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time()
        for number in range(int(n)):
            due += float(delay) / 1e3
            await asyncio.sleep(due - loop.time())
            out = encode(Event("thinking_delta", text, number)).decode()
            for send in self._followers:
                await send({"type": "websocket.send", "text": out})
        for send in self._followers:
            await send({"type": "websocket.send", "text": DONE})
        self._followers.clear()


def main(port: int, vendor: str) -> None:
    uvicorn.run(
        Relay(vendor),
        port=port,
        http="httptools",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        loop="asyncio",
        lifespan="off",
        log_level="critical",
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
