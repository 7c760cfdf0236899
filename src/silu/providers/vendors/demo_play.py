"""The demo's transport: recorded turns as the bytes of two dialects, at a model's pace."""

import asyncio
import hashlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import msgspec

from silu.providers.vendors.demo_turns import Step, next_step
from silu.types import events as ev
from silu.types.calls import HttpRequest, HttpResponse
from silu.types.errors import Failure
from silu.types.usage import Usage
from silu.wire.serve import (
    BadRequestError,
    ServeEncoder,
    ServeOptions,
    decode_request,
    encode_error,
    encoder,
)

RATE = 64.0
"""Deltas a second, about what a hosted model of middling speed sends."""
_HESITATION = 24
"""Deltas that a model could have sent before its first: it reads the prompt."""
# A delta is a piece of a word, or one or two Chinese characters, with the space before it.
_PIECES = re.compile(r"\s*[!-~]{1,7}|\s*[^\s!-~]{1,2}|\s+")


def pieces(text: str) -> list[str]:
    """The text in pieces of about a token."""
    return _PIECES.findall(text)


class DemoTransport:
    """Plays the demo's turns as an HTTP answer. `rate` is deltas a second, `None` for at once."""

    def __init__(self, rate: float | None = RATE) -> None:
        self.rate = rate

    def open(
        self, request: HttpRequest, *, idle_timeout: float
    ) -> AbstractAsyncContextManager[HttpResponse]:
        """The answer to a request; the demo is never silent for long, so no timeout is kept."""
        del idle_timeout
        return self._open(request)

    async def aclose(self) -> None:
        """Nothing is held open."""

    @asynccontextmanager
    async def _open(self, request: HttpRequest) -> AsyncGenerator[HttpResponse]:
        yield _answer(request, self.rate)


class _Answer:
    """One answer; leaving its context ends the generator, and with it the pacing."""

    def __init__(self, status: int, kind: str, pieces: AsyncIterator[bytes]) -> None:
        self.status = status
        self.headers = {"content-type": kind}
        self._pieces = pieces

    def chunks(self) -> AsyncIterator[bytes]:
        return self._pieces


def _answer(request: HttpRequest, rate: float | None) -> _Answer:
    dialect = "anthropic-messages" if request.url.endswith("/messages") else "openai-chat"
    body: dict[str, Any] = msgspec.json.decode(request.body)
    try:
        asked = decode_request(dialect, body)
    except BadRequestError as error:
        failure = Failure(kind="bad_request", message=error.message, param=error.param)
        status, data = encode_error(dialect, failure)
        return _Answer(status, "application/json", _once(data))
    step = next_step(asked.call, body, len(request.body))
    mark = hashlib.sha256(request.body).hexdigest()[:12]
    options = ServeOptions(
        model=asked.call.model, response_id=f"demo-{mark}", include_usage=asked.include_usage
    )
    writer = encoder(dialect, stream=asked.call.stream, options=options)
    signed = dialect == "anthropic-messages"
    happenings = _events(step, mark, len(request.body), signed=signed)
    if asked.call.stream:
        return _Answer(200, writer.content_type, _paced(happenings, writer, rate))
    for event in happenings:
        writer.feed(event)
    return _Answer(200, writer.content_type, _once(writer.close()))


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def _paced(
    happenings: Iterator[ev.StreamEvent], writer: ServeEncoder, rate: float | None
) -> AsyncIterator[bytes]:
    pause = 1 / rate if rate else 0.0
    if pause:
        await asyncio.sleep(pause * _HESITATION)
    for event in happenings:
        data = writer.feed(event)
        if not data:
            continue
        yield data
        if pause and isinstance(event, ev.ThinkingDelta | ev.TextDelta | ev.ToolCallDelta):
            await asyncio.sleep(pause)
    yield writer.close()


def _events(step: Step, mark: str, size: int, *, signed: bool) -> Iterator[ev.StreamEvent]:
    read = -(-size // 4)
    yield ev.UsageReport(Usage(input_tokens=read, output_tokens=1))
    index = 0
    if step.thought:
        yield ev.BlockStart(index, "thinking", "full")
        for piece in pieces(step.thought):
            yield ev.ThinkingDelta(index, piece)
        if signed:
            seal = msgspec.json.encode(f"demo-{mark}").decode()
            yield ev.ContinuityData(index, "signature", seal, "signature")
        yield ev.BlockEnd(index)
        index += 1
    if step.text:
        yield ev.BlockStart(index, "text")
        for piece in pieces(step.text):
            yield ev.TextDelta(index, piece)
        yield ev.BlockEnd(index)
        index += 1
    arguments = [msgspec.json.encode(call.args).decode() for call in step.calls]
    for number, (call, args) in enumerate(zip(step.calls, arguments, strict=True)):
        yield ev.BlockStart(index, "tool_call")
        yield ev.ToolCallDelta(index, f"call_{mark}_{number}", call.name, "")
        for piece in pieces(args):
            yield ev.ToolCallDelta(index, "", "", piece)
        yield ev.BlockEnd(index)
        index += 1
    yield ev.Finish("tool_calls" if step.calls else "stop", None)
    thought = len(pieces(step.thought))
    written = thought + len(pieces(step.text)) + sum(len(pieces(args)) for args in arguments)
    usage = Usage(input_tokens=read, output_tokens=written, reasoning_tokens=thought)
    yield ev.UsageReport(usage)
