"""A recorded answer in its other form: whole as a stream, or a stream as a whole document."""

from collections.abc import Iterator

import msgspec

from silu.fakes.answers import Told
from silu.fakes.mistral import chunk
from silu.fakes.raw import obj
from silu.fakes.recordings import Exchange
from silu.types import events as ev
from silu.types.usage import Usage
from silu.wire.serve import ServeOptions, encoder

_STEP = 16
_FINISH: dict[str, ev.FinishReason] = {
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
}


def convert(dialect: str, exchange: Exchange, *, stream: bool) -> tuple[str, list[bytes]]:
    """Content type and bytes of the answer in the form asked for."""
    told = exchange.told
    usage = told.usage
    fields = tuple(name for name, text in told.fields.items() if text) or ("reasoning_content",)
    options = ServeOptions(
        model=told.model or exchange.model or "",
        response_id=f"replay-{exchange.label}",
        reasoning_fields=fields,
        raw_finish=True,
        shape_thinking=chunk if dialect == "mistral-chat" else None,
        shape_usage=None if usage is None else lambda _: usage,
    )
    match dialect:
        case "openai-chat":
            happenings = _chat(told)
        case "anthropic-messages":
            happenings = _messages(told)
        case _:
            happenings = _pieces(dialect, told)
    writer = encoder(dialect, stream=stream, options=options)
    data = [writer.feed(event) for event in happenings]
    return writer.content_type, [piece for piece in [*data, writer.close()] if piece]


_DATA_FIELDS = {
    "openai-responses": "encrypted_content",
    "gemini-generate": "thoughtSignature",
}


def _pieces(dialect: str, told: Told) -> Iterator[ev.StreamEvent]:
    field = _DATA_FIELDS.get(dialect, "signature")
    for index, piece in enumerate(told.pieces):
        sealed = list(_opaque(index, field, piece.data))
        match piece.kind:
            case "thinking":
                yield ev.BlockStart(index, "thinking", "summary")
                for text in _cut(piece.text):
                    yield ev.ThinkingDelta(index, text)
                yield from sealed
            case "text":
                yield ev.BlockStart(index, "text")
                for text in _cut(piece.text):
                    yield ev.TextDelta(index, text)
                yield from sealed
            case "call":
                yield ev.BlockStart(index, "tool_call")
                yield from sealed
                yield ev.ToolCallDelta(index, piece.id, piece.name, "")
                for text in _cut(piece.text):
                    yield ev.ToolCallDelta(index, "", "", text)
        yield ev.BlockEnd(index)
    yield from _end(told)


def _cut(text: str) -> list[str]:
    return [text[i : i + _STEP] for i in range(0, len(text), _STEP)]


def _end(told: Told) -> Iterator[ev.StreamEvent]:
    if told.finish is not None:
        yield ev.Finish(_FINISH.get(told.finish, "stop"), told.finish)
    if told.usage is not None:
        yield ev.UsageReport(Usage())


def _chat(told: Told) -> Iterator[ev.StreamEvent]:
    thought = next((text for text in told.fields.values() if text), None)
    index = 0
    if thought is not None or told.opaque:
        yield ev.BlockStart(index, "thinking", "full")
        for piece in _cut(thought or ""):
            yield ev.ThinkingDelta(index, piece)
        for field, value in told.opaque.items():
            yield ev.ContinuityData(index, field, msgspec.json.encode(value).decode(), field)
        yield ev.BlockEnd(index)
        index += 1
    if told.text:
        yield ev.BlockStart(index, "text")
        for piece in _cut(told.text):
            yield ev.TextDelta(index, piece)
        yield ev.BlockEnd(index)
        index += 1
    for call in told.calls:
        yield from _call(index, call["id"], call["name"], call["args"])
        index += 1
    yield from _end(told)


def _call(index: int, id_: str, name: str, args: str) -> Iterator[ev.StreamEvent]:
    yield ev.BlockStart(index, "tool_call")
    yield ev.ToolCallDelta(index, id_, name, "")
    for piece in _cut(args):
        yield ev.ToolCallDelta(index, "", "", piece)
    yield ev.BlockEnd(index)


def _messages(told: Told) -> Iterator[ev.StreamEvent]:
    if told.usage is not None:
        yield ev.UsageReport(Usage())
    for index, block in enumerate(told.blocks):
        match block.get("type"):
            case "thinking":
                yield ev.BlockStart(index, "thinking", "full")
                for piece in _cut(block.get("thinking", "")):
                    yield ev.ThinkingDelta(index, piece)
                yield from _opaque(index, "signature", block.get("signature"))
                yield ev.BlockEnd(index)
            case "redacted_thinking":
                yield ev.BlockStart(index, "thinking", "redacted")
                yield from _opaque(index, "data", block.get("data"))
                yield ev.BlockEnd(index)
            case "text":
                yield ev.BlockStart(index, "text")
                for piece in _cut(block.get("text", "")):
                    yield ev.TextDelta(index, piece)
                yield ev.BlockEnd(index)
            case "tool_use":
                args = msgspec.json.encode(obj(block.get("input")) or {}).decode()
                yield from _call(index, block["id"], block["name"], args)
            case kind:
                yield ev.BlockStart(index, "vendor")
                yield ev.BlockData(index, str(kind), msgspec.json.encode(block).decode())
                yield ev.BlockEnd(index)
    yield from _end(told)


def _opaque(index: int, field: str, value: object) -> Iterator[ev.StreamEvent]:
    if isinstance(value, str) and value:
        yield ev.ContinuityData(index, field, msgspec.json.encode(value).decode(), field)
