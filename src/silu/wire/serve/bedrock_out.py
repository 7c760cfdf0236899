"""bedrock-converse answers: event-stream messages, and the whole document."""

import struct
import zlib
from typing import Any

import msgspec

from silu.types import events as ev
from silu.types.errors import Failure
from silu.types.usage import Usage, merge
from silu.wire.serve.errors import dump, status_of
from silu.wire.serve.options import ServeOptions

FINISH: dict[ev.FinishReason, str] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "content_filtered",
    "refusal": "content_filtered",
    "pause": "end_turn",
    "context_overflow": "model_context_window_exceeded",
    "error": "end_turn",
    "unknown": "end_turn",
}


def usage_object(usage: Usage) -> dict[str, Any]:
    """The dialect's usage: cached tokens stand beside the input."""
    hit, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    read, out = (usage.input_tokens or 0) - hit - written, usage.output_tokens or 0
    return {
        "inputTokens": read,
        "outputTokens": out,
        "totalTokens": read + out + hit + written,
        "cacheReadInputTokens": hit,
        "cacheWriteInputTokens": written,
    }


def message(kind: str, name: str, body: dict[str, Any]) -> bytes:
    """One event-stream message: lengths, headers, payload, each checked by a CRC-32."""
    headers = b"".join(
        bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for key, value in (
            (f":{kind}-type", name),
            (":content-type", "application/json"),
            (":message-type", kind),
        )
    )
    payload = dump(body)
    head = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    head += struct.pack(">I", zlib.crc32(head))
    whole = head + headers + payload
    return whole + struct.pack(">I", zlib.crc32(whole))


class BedrockWriter:
    """One answer. Only tool calls have a start event; continuity data of field `signature` or
    `data` belongs to its thought."""

    status = 200

    def __init__(self, options: ServeOptions, *, stream: bool) -> None:
        self.content_type = "application/vnd.amazon.eventstream" if stream else "application/json"
        self._options = options
        self._stream = stream
        self._usage = Usage()
        self._finish: ev.Finish | None = None
        self._failure: Failure | None = None
        self._begun = False
        self._blocks: dict[int, dict[str, Any]] = {}

    def feed(self, event: ev.StreamEvent) -> bytes:
        match event:
            case ev.BlockStart():
                self._blocks[event.index] = {"kind": event.kind, "text": ""}
            case ev.ThinkingDelta():
                return self._grow(
                    event.index, event.text, {"reasoningContent": {"text": event.text}}
                )
            case ev.TextDelta():
                return self._grow(event.index, event.text, {"text": event.text})
            case ev.ToolCallDelta():
                return self._call(event)
            case ev.ContinuityData() if event.index is not None and event.data != "null":
                return self._opaque(event.index, event)
            case ev.BlockEnd():
                return self._event("contentBlockStop", {"contentBlockIndex": event.index})
            case ev.UsageReport():
                self._usage = merge(self._usage, event.usage)
            case ev.Finish():
                self._finish = event
            case ev.VendorFailure():
                return self._fail(event.failure)
            case _:
                pass
        return b""

    def close(self) -> bytes:
        if self._failure is not None:
            if self._stream:
                return b""
            self.status = status_of(self._failure)
            return dump({"message": self._failure.message})
        reason = FINISH[self._finish.reason if self._finish else "unknown"]
        usage = (self._options.shape_usage or usage_object)(self._usage)
        told = {"usage": usage, "metrics": {"latencyMs": 1}}
        if self._stream:
            return self._event("messageStop", {"stopReason": reason}) + self._event(
                "metadata", told
            )
        content = [_whole(self._blocks[index]) for index in sorted(self._blocks)]
        spoken = {"message": {"role": "assistant", "content": content}}
        return dump({"output": spoken, "stopReason": reason, **told})

    def _event(self, name: str, body: dict[str, Any]) -> bytes:
        if not self._stream:
            return b""
        head = b""
        if not self._begun:
            self._begun = True
            head = message("event", "messageStart", {"role": "assistant"})
        return head + message("event", name, body)

    def _delta(self, index: int, delta: dict[str, Any]) -> bytes:
        return self._event("contentBlockDelta", {"contentBlockIndex": index, "delta": delta})

    def _grow(self, index: int, text: str, delta: dict[str, Any]) -> bytes:
        self._blocks[index]["text"] += text
        return self._delta(index, delta)

    def _call(self, event: ev.ToolCallDelta) -> bytes:
        block = self._blocks[event.index]
        head = b""
        if "id" not in block:
            block |= {"id": event.id, "name": event.name}
            start = {"toolUse": {"toolUseId": event.id, "name": event.name}}
            body = {"contentBlockIndex": event.index, "start": start}
            head = self._event("contentBlockStart", body)
        if not event.args_delta:
            return head
        piece = {"toolUse": {"input": event.args_delta}}
        return head + self._grow(event.index, event.args_delta, piece)

    def _opaque(self, index: int, event: ev.ContinuityData) -> bytes:
        value = msgspec.Raw(event.data.encode())
        self._blocks[index][event.field] = value
        field = "redactedContent" if event.field == "data" else "signature"
        return self._delta(index, {"reasoningContent": {field: value}})

    def _fail(self, failure: Failure) -> bytes:
        self._failure = failure
        if not self._stream:
            return b""
        return message("exception", "modelStreamErrorException", {"message": failure.message})


def _whole(block: dict[str, Any]) -> dict[str, Any]:
    match block["kind"]:
        case "thinking" if "data" in block:
            return {"reasoningContent": {"redactedContent": block["data"]}}
        case "thinking":
            signed = {"signature": block["signature"]} if "signature" in block else {}
            return {"reasoningContent": {"reasoningText": {"text": block["text"], **signed}}}
        case "tool_call":
            args = msgspec.Raw((block["text"] or "{}").encode())
            return {"toolUse": {"toolUseId": block["id"], "name": block["name"], "input": args}}
        case _:
            return {"text": block["text"]}
