"""anthropic-messages answers: stream events and the whole message."""

from typing import Any

import msgspec

from silu.types import events as ev
from silu.types.assembly import MessageBuilder
from silu.types.errors import Failure
from silu.types.parts import (
    Continuity,
    Origin,
    Part,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    VendorPart,
)
from silu.types.usage import Usage, merge
from silu.wire.serve.errors import dump, messages_error, status_of
from silu.wire.serve.options import ServeOptions, sse

FINISH: dict[ev.FinishReason, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
    "refusal": "refusal",
    "pause": "pause_turn",
    "context_overflow": "model_context_window_exceeded",
    "error": "end_turn",
    "unknown": "end_turn",
}


def usage_object(usage: Usage) -> dict[str, Any]:
    """The dialect's usage object: `input_tokens` leaves out what the cache gave or took."""
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    body: dict[str, Any] = {
        "input_tokens": max(0, (usage.input_tokens or 0) - read - written),
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": usage.output_tokens or 0,
    }
    if usage.reasoning_tokens is not None:
        body["output_tokens_details"] = {"thinking_tokens": usage.reasoning_tokens}
    return body


def _finish_word(finish: ev.Finish, options: ServeOptions) -> str:
    if options.raw_finish and finish.raw:
        return finish.raw
    return FINISH[finish.reason]


def _head(options: ServeOptions, model: str, response_id: str) -> dict[str, Any]:
    return {
        "id": response_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        **options.extra,
    }


class _Open:
    """A block on the wire: its wire index, its kind and whether its start has been written."""

    __slots__ = ("begun", "kind", "redacted", "slot")

    def __init__(self, slot: int, kind: str, *, redacted: bool) -> None:
        self.slot = slot
        self.kind = kind
        self.redacted = redacted
        self.begun = False


class MessagesStream:
    """One streamed message. A block's start is written with its first content, so that a block
    that changes its kind (`Reroute`) or is opaque is announced as what it is."""

    content_type = "text/event-stream"
    status = 200

    def __init__(self, options: ServeOptions) -> None:
        self._options = options
        self._model = options.model
        self._id = options.response_id
        self._usage = Usage()
        self._finish: ev.Finish | None = None
        self._begun = False
        self._failed = False
        self._next = 0
        self._blocks: dict[int, _Open] = {}

    def feed(self, event: ev.StreamEvent) -> bytes:
        match event:
            case ev.ThinkingDelta() | ev.TextDelta() | ev.ToolCallDelta():
                return self._content(event)
            case ev.ContinuityData():
                return self._opaque(event)
            case ev.BlockData():
                return self._whole_block(event)
            case ev.BlockEnd():
                return self._end(event.index)
            case ev.Reroute():
                return self._reroute(event)
            case ev.VendorFailure():
                return self._fail(event.failure)
            case ev.Keepalive():
                return self._start() + self._event({"type": "ping"})
            case _:
                self._note(event)
                return b""

    def close(self) -> bytes:
        if self._failed:
            return b""
        finish = self._finish or ev.Finish("unknown", None)
        delta = {"stop_reason": _finish_word(finish, self._options), "stop_sequence": None}
        body = {"type": "message_delta", "delta": delta, "usage": self._shape()}
        return self._start() + self._event(body) + self._event({"type": "message_stop"})

    def _note(self, event: ev.StreamEvent) -> None:
        match event:
            case ev.BlockStart():
                self._blocks[event.index] = self._open(event.kind, event.thinking_kind)
            case ev.UsageReport():
                self._usage = merge(self._usage, event.usage)
            case ev.Finish():
                self._finish = event
            case ev.Served():
                self._model = event.model or self._model
                self._id = event.response_id or self._id
            case _:
                pass

    def _shape(self) -> dict[str, Any]:
        return (self._options.shape_usage or usage_object)(self._usage)

    def _open(self, kind: str, thinking_kind: str | None) -> _Open:
        block = _Open(self._next, kind, redacted=thinking_kind == "redacted")
        self._next += 1
        return block

    def _event(self, body: dict[str, Any]) -> bytes:
        return sse(dump(body), body["type"])

    def _start(self) -> bytes:
        if self._begun:
            return b""
        self._begun = True
        message = {**_head(self._options, self._model, self._id), "usage": self._shape()}
        return self._event({"type": "message_start", "message": message})

    def _begin(self, block: _Open, content: dict[str, Any]) -> bytes:
        block.begun = True
        body = {"type": "content_block_start", "index": block.slot, "content_block": content}
        return self._start() + self._event(body)

    def _delta(self, block: _Open, delta: dict[str, Any]) -> bytes:
        return self._event({"type": "content_block_delta", "index": block.slot, "delta": delta})

    def _content(self, event: ev.ThinkingDelta | ev.TextDelta | ev.ToolCallDelta) -> bytes:
        block = self._blocks[event.index]
        head = b"" if block.begun else self._begin(block, _empty(event))
        match event:
            case ev.ThinkingDelta():
                delta = {"type": "thinking_delta", "thinking": event.text}
            case ev.TextDelta():
                delta = {"type": "text_delta", "text": event.text}
            case ev.ToolCallDelta():
                delta = {"type": "input_json_delta", "partial_json": event.args_delta}
        return head + self._delta(block, delta)

    def _opaque(self, event: ev.ContinuityData) -> bytes:
        if not self._options.opaque or event.index is None or event.data == "null":
            return b""
        block = self._blocks[event.index]
        value = msgspec.Raw(event.data.encode())
        if block.redacted:
            return self._begin(block, {"type": "redacted_thinking", "data": value})
        thinking = {"type": "thinking", "thinking": "", "signature": ""}
        head = b"" if block.begun else self._begin(block, thinking)
        return head + self._delta(block, {"type": "signature_delta", "signature": value})

    def _whole_block(self, event: ev.BlockData) -> bytes:
        return self._begin_raw(self._blocks[event.index], msgspec.Raw(event.data.encode()))

    def _begin_raw(self, block: _Open, content: msgspec.Raw) -> bytes:
        block.begun = True
        body = {"type": "content_block_start", "index": block.slot, "content_block": content}
        return self._start() + self._event(body)

    def _end(self, index: int) -> bytes:
        block = self._blocks[index]
        head = b""
        if not block.begun:
            if block.kind not in ("thinking", "text") or block.redacted:
                return b""
            head = self._begin(block, {"type": block.kind, block.kind: ""})
        return head + self._event({"type": "content_block_stop", "index": block.slot})

    def _reroute(self, event: ev.Reroute) -> bytes:
        block = self._blocks[event.index]
        # What has gone out cannot be taken back: the block ends and the rest opens a new one.
        tail = self._end(event.index) if block.begun else b""
        fresh = self._open(event.kind, None) if block.begun else block
        fresh.kind = event.kind
        self._blocks[event.index] = fresh
        return tail

    def _fail(self, failure: Failure) -> bytes:
        self._failed = True
        return self._start() + self._event(messages_error(failure))


def _empty(event: ev.ThinkingDelta | ev.TextDelta | ev.ToolCallDelta) -> dict[str, Any]:
    match event:
        case ev.ThinkingDelta():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case ev.TextDelta():
            return {"type": "text", "text": ""}
        case ev.ToolCallDelta():
            return {"type": "tool_use", "id": event.id, "name": event.name, "input": {}}


class MessagesWhole:
    """One message as a single JSON document."""

    content_type = "application/json"
    status = 200

    def __init__(self, options: ServeOptions) -> None:
        self._options = options
        self._count = 0
        origin = Origin(vendor="", model=options.model)
        self._builder = MessageBuilder(origin, new_id=self._name, clock=lambda: 0)

    def feed(self, event: ev.StreamEvent) -> bytes:
        self._builder.feed(event)
        return b""

    def close(self) -> bytes:
        built, options = self._builder, self._options
        if built.failure is not None:
            self.status = status_of(built.failure, "anthropic-messages")
            return dump(messages_error(built.failure))
        message = built.message()
        kept = {c.part: c for c in message.continuity if options.opaque and c.part is not None}
        blocks = [_block(part, kept.get(part.id)) for part in message.parts]
        finish = built.finish or ev.Finish("unknown", None)
        body = {
            **_head(
                options,
                built.origin.served_model or options.model,
                built.response_id or options.response_id,
            ),
            "content": blocks,
            "stop_reason": _finish_word(finish, options),
            "usage": (options.shape_usage or usage_object)(built.usage),
        }
        return dump(body)

    def _name(self) -> str:
        self._count += 1
        return f"p{self._count}"


def _block(part: Part, kept: Continuity | None) -> Any:
    raw = None if kept is None or kept.data == "null" else msgspec.Raw(kept.data.encode())
    match part:
        case ThinkingPart(kind="redacted"):
            return {"type": "redacted_thinking", "data": "" if raw is None else raw}
        case ThinkingPart():
            signature = "" if raw is None else raw
            return {"type": "thinking", "thinking": part.text, "signature": signature}
        case TextPart():
            return {"type": "text", "text": part.text}
        case ToolCallPart():
            return {
                "type": "tool_use",
                "id": part.call_id,
                "name": part.name,
                "input": _arguments(part.arguments),
            }
        case _:
            # An assembled answer holds nothing else.
            assert isinstance(part, ServerToolPart | VendorPart)
            return msgspec.Raw(part.data.encode())


def _arguments(text: str) -> Any:
    # The dialect has no place for arguments that are no JSON object; a cut call becomes empty.
    try:
        value = msgspec.json.decode(text or "{}")
    except msgspec.DecodeError:
        return {}
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] -- any JSON object passes through
