"""openai-chat answers: stream chunks and the whole completion."""

from typing import Any, cast

import msgspec

from silu.types import events as ev
from silu.types.assembly import MessageBuilder
from silu.types.errors import Failure
from silu.types.parts import Message, Origin, TextPart, ThinkingPart, ToolCallPart
from silu.types.usage import Usage, merge
from silu.wire.serve.errors import chat_error, dump, status_of
from silu.wire.serve.options import ServeOptions, sse

FINISH: dict[ev.FinishReason, str] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "pause": "stop",
    "context_overflow": "length",
    "error": "error",
    "unknown": "stop",
}


def usage_object(usage: Usage) -> dict[str, Any]:
    """The dialect's usage object; a number that was not told is left out of the details."""
    read, out = usage.input_tokens or 0, usage.output_tokens or 0
    body: dict[str, Any] = {
        "prompt_tokens": read,
        "completion_tokens": out,
        "total_tokens": read + out,
    }
    if usage.cache_read_tokens is not None:
        body["prompt_tokens_details"] = {"cached_tokens": usage.cache_read_tokens}
    if usage.reasoning_tokens is not None:
        body["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return body


def thinking_fields(text: str, options: ServeOptions) -> dict[str, Any]:
    """The fields of a delta or message that carry a piece of thinking."""
    if options.shape_thinking is not None:
        return options.shape_thinking(text)
    return dict.fromkeys(options.reasoning_fields, text)


def _finish_word(finish: ev.Finish, options: ServeOptions) -> str:
    if options.raw_finish and finish.raw:
        return finish.raw
    return FINISH[finish.reason]


class ChatStream:
    """One streamed completion; the first delta carries the role."""

    content_type = "text/event-stream"
    status = 200

    def __init__(self, options: ServeOptions) -> None:
        self._options = options
        self._model = options.model
        self._id = options.response_id
        self._usage: Usage | None = None
        self._begun = False
        self._failed = False
        self._kinds: dict[int, str] = {}
        self._calls: dict[int, int] = {}

    def feed(self, event: ev.StreamEvent) -> bytes:
        match event:
            case ev.ThinkingDelta():
                return self._delta(thinking_fields(event.text, self._options))
            case ev.TextDelta():
                return self._delta({"content": event.text})
            case ev.ToolCallDelta():
                return self._delta({"tool_calls": [self._call(event)]})
            case ev.Finish():
                return self._chunk({}, _finish_word(event, self._options))
            case ev.UsageReport():
                self._usage = merge(self._usage or Usage(), event.usage)
            case ev.Served():
                self._model = event.model or self._model
                self._id = event.response_id or self._id
            case ev.VendorFailure():
                return self._fail(event.failure)
            case ev.Keepalive():
                return b": keep-alive\n\n"
            case ev.ContinuityData():
                return self._opaque(event)
            case _:
                pass
        return b""

    def close(self) -> bytes:
        if self._failed:
            return b""
        tail = b""
        if self._options.include_usage and self._usage is not None:
            tail = self._usage_event(self._shape(self._usage))
        return tail + sse(b"[DONE]")

    def _usage_event(self, usage: dict[str, Any]) -> bytes:
        if not self._options.usage_in_choice:
            return self._event([], usage=usage)
        return self._event([{"index": 0, "delta": {}, "finish_reason": None, "usage": usage}])

    def _shape(self, usage: Usage) -> dict[str, Any]:
        return (self._options.shape_usage or usage_object)(usage)

    def _call(self, event: ev.ToolCallDelta) -> dict[str, Any]:
        first = event.index not in self._calls
        slot = self._calls.setdefault(event.index, len(self._calls))
        function: dict[str, Any] = {"arguments": event.args_delta}
        if not first:
            return {"index": slot, "function": function}
        function = {"name": event.name, "arguments": event.args_delta}
        return {"index": slot, "id": event.id, "type": "function", "function": function}

    def _opaque(self, event: ev.ContinuityData) -> bytes:
        # A plain reasoning field has no data of its own: its text has already gone out.
        if not self._options.opaque or event.data == "null":
            return b""
        return self._delta({event.field: msgspec.Raw(event.data.encode())})

    def _delta(self, delta: dict[str, Any]) -> bytes:
        return self._chunk(delta, None)

    def _chunk(self, delta: dict[str, Any], finish: str | None) -> bytes:
        if not self._begun:
            self._begun = True
            delta = {"role": "assistant", "content": None, **delta}
        return self._event([{"index": 0, "delta": delta, "finish_reason": finish}])

    def _event(self, choices: list[Any], usage: dict[str, Any] | None = None) -> bytes:
        body: dict[str, Any] = {
            "id": self._id,
            "object": "chat.completion.chunk",
            "created": self._options.created,
            "model": self._model,
            **self._options.extra,
            "choices": choices,
        }
        if usage is not None:
            body["usage"] = usage
        return sse(dump(body))

    def _fail(self, failure: Failure) -> bytes:
        self._failed = True
        return sse(dump(chat_error(failure)))


class ChatWhole:
    """One completion as a single JSON document."""

    content_type = "application/json"
    status = 200

    def __init__(self, options: ServeOptions) -> None:
        self._options = options
        origin = Origin(vendor="", model=options.model)
        self._builder = MessageBuilder(origin, new_id=_Names(), clock=lambda: 0)

    def feed(self, event: ev.StreamEvent) -> bytes:
        self._builder.feed(event)
        return b""

    def close(self) -> bytes:
        built, options = self._builder, self._options
        if built.failure is not None:
            self.status = status_of(built.failure)
            return dump(chat_error(built.failure))
        finish = built.finish or ev.Finish("unknown", None)
        body: dict[str, Any] = {
            "id": built.response_id or options.response_id,
            "object": "chat.completion",
            "created": options.created,
            "model": built.origin.served_model or options.model,
            **options.extra,
            "choices": [
                {
                    "index": 0,
                    "message": _message(built.message(), options),
                    "finish_reason": _finish_word(finish, options),
                }
            ],
            "usage": (options.shape_usage or usage_object)(built.usage),
        }
        return dump(body)


class _Names:
    """Part ids within one answer."""

    def __init__(self) -> None:
        self._last = 0

    def __call__(self) -> str:
        self._last += 1
        return f"p{self._last}"


def _message(message: Message, options: ServeOptions) -> dict[str, Any]:
    texts = [p.text for p in message.parts if isinstance(p, TextPart)]
    thoughts = [p.text for p in message.parts if isinstance(p, ThinkingPart)]
    calls = [p for p in message.parts if isinstance(p, ToolCallPart)]
    body: dict[str, Any] = {"role": "assistant", "content": "".join(texts) if texts else None}
    if thoughts:
        fields = thinking_fields("".join(thoughts), options)
        chunks = fields.get("content")
        if isinstance(chunks, list) and texts:
            # Thinking in content chunks: the text becomes the last of them.
            said = {"type": "text", "text": "".join(texts)}
            fields["content"] = [*cast("list[Any]", chunks), said]
        body.update(fields)
    if calls:
        body["tool_calls"] = [
            {
                "id": call.call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in calls
        ]
    if options.opaque:
        for kept in message.continuity:
            if kept.data != "null":
                body[kept.origin.field] = msgspec.Raw(kept.data.encode())
    return body
