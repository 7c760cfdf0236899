"""gemini-generate answers: fragments with new parts, and the whole response."""

from typing import Any

import msgspec

from silu.types import events as ev
from silu.types.errors import Failure
from silu.types.usage import Usage, merge
from silu.wire.serve.errors import dump, status_of
from silu.wire.serve.options import ServeOptions, sse

FINISH: dict[ev.FinishReason, str] = {
    "stop": "STOP",
    "length": "MAX_TOKENS",
    "tool_calls": "STOP",
    "content_filter": "SAFETY",
    "refusal": "SAFETY",
    "pause": "STOP",
    "context_overflow": "MAX_TOKENS",
    "error": "OTHER",
    "unknown": "FINISH_REASON_UNSPECIFIED",
}
_WORDS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}


def usage_object(usage: Usage) -> dict[str, Any]:
    """The dialect's usage: candidates leave thoughts out."""
    thought, out = usage.reasoning_tokens or 0, usage.output_tokens or 0
    read = usage.input_tokens or 0
    body = {
        "promptTokenCount": read,
        "candidatesTokenCount": max(0, out - thought),
        "thoughtsTokenCount": thought,
        "totalTokenCount": read + max(out, thought),
    }
    if usage.cache_read_tokens:
        body["cachedContentTokenCount"] = usage.cache_read_tokens
    return body


def gemini_error(failure: Failure) -> tuple[int, dict[str, Any]]:
    """Status and body of a failure."""
    status = status_of(failure)
    word = _WORDS.get(status, "INTERNAL")
    return status, {"error": {"code": status, "message": failure.message, "status": word}}


class GeminiWriter:
    """One answer. Parts go out as they come; a function call waits until it is whole. Continuity
    data of field `thoughtSignature` rides on the part after it, or on the block's last part."""

    status = 200

    def __init__(self, options: ServeOptions, *, stream: bool) -> None:
        self.content_type = "text/event-stream" if stream else "application/json"
        self._options = options
        self._stream = stream
        self._model = options.model
        self._id = options.response_id
        self._usage = Usage()
        self._finish: ev.Finish | None = None
        self._failure: Failure | None = None
        self._parts: list[dict[str, Any]] = []
        self._calls: dict[int, dict[str, Any]] = {}
        self._kinds: dict[int, str] = {}
        self._signature: msgspec.Raw | None = None

    def feed(self, event: ev.StreamEvent) -> bytes:
        match event:
            case ev.BlockStart():
                self._kinds[event.index] = event.kind
            case ev.ThinkingDelta() if event.text:
                return self._part({"text": event.text, "thought": True})
            case ev.TextDelta() if event.text:
                return self._part({"text": event.text})
            case ev.ToolCallDelta():
                call = self._calls.setdefault(event.index, {"id": event.id, "name": event.name})
                call["args"] = call.get("args", "") + event.args_delta
            case ev.ContinuityData() if self._options.opaque and event.data != "null":
                self._signature = msgspec.Raw(event.data.encode())
            case ev.BlockEnd():
                return self._end(event.index)
            case ev.UsageReport():
                self._usage = merge(self._usage, event.usage)
            case ev.Finish():
                self._finish = event
            case ev.VendorFailure():
                self._failure = event.failure
                return self._fail(event.failure)
            case _:
                pass
        return b""

    def close(self) -> bytes:
        if self._failure is not None:
            if self._stream:
                return b""
            self.status, body = gemini_error(self._failure)
            return dump(body)
        finish = self._finish or ev.Finish("unknown", None)
        word = finish.raw if self._options.raw_finish and finish.raw else FINISH[finish.reason]
        if not self._stream:
            return dump(self._body(_joined(self._parts), word))
        return self._frame([{"text": ""}], word)

    def _part(self, part: dict[str, Any]) -> bytes:
        if self._signature is not None:
            part["thoughtSignature"] = self._signature
            self._signature = None
        self._parts.append(part)
        return self._frame([part], None) if self._stream else b""

    def _end(self, index: int) -> bytes:
        call = self._calls.pop(index, None)
        if call is not None:
            args = msgspec.Raw((call["args"] or "{}").encode())
            made = {"id": call["id"], "name": call["name"], "args": args}
            return self._part({"functionCall": made})
        if self._signature is not None and self._kinds.get(index) == "text":
            return self._part({"text": ""})
        return b""

    def _body(self, parts: list[dict[str, Any]], finish: str | None) -> dict[str, Any]:
        candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
        if finish is not None:
            candidate["finishReason"] = finish
        return {
            "candidates": [candidate],
            "usageMetadata": (self._options.shape_usage or usage_object)(self._usage),
            "modelVersion": self._model,
            "responseId": self._id,
            **self._options.extra,
        }

    def _frame(self, parts: list[dict[str, Any]], finish: str | None) -> bytes:
        return sse(dump(self._body(parts, finish)))

    def _fail(self, failure: Failure) -> bytes:
        return sse(dump(gemini_error(failure)[1])) if self._stream else b""


def _joined(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Neighbouring texts of one kind as one part, as a whole answer has them."""
    out: list[dict[str, Any]] = []
    for part in parts:
        last = out[-1] if out else {}
        alike = "text" in part and "text" in last and part.get("thought") == last.get("thought")
        if alike and "thoughtSignature" not in last:
            out[-1] = {**last, **part, "text": last["text"] + part["text"]}
        else:
            out.append(dict(part))
    return out
