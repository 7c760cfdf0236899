"""From a scripted answer to the bytes on the wire, with the trouble that was asked for."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator

import msgspec

from silu.fakes.http import DroppedError
from silu.fakes.script import Answer, Call, Own, Say, Think, Trouble
from silu.types import events as ev
from silu.types.errors import Failure
from silu.types.parts import ThinkingKind
from silu.types.usage import Usage
from silu.wire.serve import ServeEncoder

_DELTAS = (ev.ThinkingDelta, ev.TextDelta, ev.ToolCallDelta)

Seal = Callable[[int, Think], Iterator[ev.StreamEvent]]
"""The opaque data that belongs to a thought: called with the block's index before it ends."""


def no_seal(index: int, thought: Think) -> Iterator[ev.StreamEvent]:
    """For vendors whose thoughts carry nothing beside their text."""
    del index, thought
    return iter(())


def tokens(text: str) -> int:
    """A fake vendor's way of counting: four characters a token, rounded up."""
    return math.ceil(len(text) / 4)


def pieces_of(text: str, step: int) -> list[str]:
    """The text in deltas of `step` characters; empty text is one empty delta."""
    return [text[i : i + step] for i in range(0, len(text), step)] or [""]


def count(answer: Answer, read: int) -> Usage:
    """The usage of an answer to a prompt of `read` tokens."""
    if answer.usage is not None:
        return answer.usage
    thought = sum(tokens(p.text) for p in answer.parts if isinstance(p, Think))
    said = sum(tokens(p.text) for p in answer.parts if isinstance(p, Say))
    called = sum(tokens(args_of(p)) + 4 for p in answer.parts if isinstance(p, Call))
    return Usage(
        input_tokens=read,
        output_tokens=thought + said + called,
        reasoning_tokens=thought,
        cache_read_tokens=0,
    )


def args_of(call: Call) -> str:
    """A call's arguments as JSON text."""
    if isinstance(call.args, str):
        return call.args
    import msgspec

    return msgspec.json.encode(call.args).decode()


def finish_of(answer: Answer) -> ev.Finish:
    if answer.finish is not None:
        return ev.Finish(answer.finish, answer.raw_finish)
    called = any(isinstance(part, Call) for part in answer.parts)
    return ev.Finish("tool_calls" if called else "stop", answer.raw_finish)


def events(
    answer: Answer,
    *,
    usage: Usage,
    show_thinking: bool = True,
    seal: Seal = no_seal,
    kind: ThinkingKind = "full",
) -> Iterator[ev.StreamEvent]:
    """The answer as stream events; every call must have its id by now."""
    yield ev.UsageReport(Usage(input_tokens=usage.input_tokens, output_tokens=1))
    for index, part in enumerate(answer.parts):
        match part:
            case Think():
                yield ev.BlockStart(index, "thinking", "redacted" if part.redacted else kind)
                if show_thinking and not part.redacted:
                    for piece in pieces_of(part.text, answer.step):
                        yield ev.ThinkingDelta(index, piece)
                yield from seal(index, part)
            case Say():
                yield ev.BlockStart(index, "text")
                for piece in pieces_of(part.text, answer.step):
                    yield ev.TextDelta(index, piece)
            case Call():
                yield ev.BlockStart(index, "tool_call")
                yield from _call(index, part, answer.step)
            case Own():
                yield ev.BlockStart(index, "server_tool")
                data = msgspec.json.encode(part.block).decode()
                yield ev.BlockData(index, str(part.block.get("name", "")), data)
        yield ev.BlockEnd(index)
    yield finish_of(answer)
    yield ev.UsageReport(usage)


def _call(index: int, call: Call, step: int) -> Iterator[ev.StreamEvent]:
    yield ev.ToolCallDelta(index, call.id or "", call.name, "")
    for piece in pieces_of(args_of(call), step):
        yield ev.ToolCallDelta(index, "", "", piece)


async def stream(
    happenings: Iterator[ev.StreamEvent],
    encoder: ServeEncoder,
    *,
    rate: float | None,
    trouble: Trouble,
) -> AsyncIterator[bytes]:
    """The bytes of a streamed answer, paced at `rate` deltas a second."""
    deltas = 0
    for event in happenings:
        is_delta = isinstance(event, _DELTAS)
        if is_delta and trouble.then is not None and deltas == trouble.after:
            ended = False
            async for piece in _trouble(event, encoder, trouble):
                ended = piece is None
                if piece:
                    yield piece
            if ended:
                return
        for _ in range(trouble.comments if is_delta else 0):
            yield encoder.feed(ev.Keepalive())
        data = encoder.feed(event)
        if data:
            for piece in cut_up(data, trouble.chunk):
                yield piece
        if is_delta:
            deltas += 1
            if rate:
                await asyncio.sleep(1 / rate)
    for piece in cut_up(encoder.close(), trouble.chunk):
        yield piece


async def _trouble(
    event: ev.StreamEvent, encoder: ServeEncoder, trouble: Trouble
) -> AsyncIterator[bytes | None]:
    """What happens before `event`; a last `None` says that nothing follows."""
    match trouble.then:
        case "cut":
            raise DroppedError
        case "cut_in_character":
            raise DroppedError(_inside_character(encoder.feed(event)))
        case "bad_chunk":
            raise DroppedError(b"ffff\r\n" + encoder.feed(event))
        case "silence":
            await asyncio.sleep(trouble.seconds)
        case "error":
            failure = trouble.failure or Failure(kind="server", message="Internal server error")
            yield encoder.feed(ev.VendorFailure(failure))
            yield None
        case _:
            yield None


def _inside_character(data: bytes) -> bytes:
    """The bytes up to and with the first byte of their first multi-byte character, as a chunk."""
    at = next((i for i, byte in enumerate(data) if byte >= 0xC0), len(data) // 2)
    kept = data[: at + 1]
    return b"%x\r\n%b\r\n" % (len(kept), kept)


def cut_up(data: bytes, size: int | None) -> list[bytes]:
    """The data in pieces of `size` bytes, or whole."""
    if not data:
        return []
    if size is None:
        return [data]
    return [data[i : i + size] for i in range(0, len(data), size)]
