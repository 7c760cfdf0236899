"""ollama-chat answers: one JSON value a line, and the whole answer."""

from typing import Any

import msgspec

from silu.types import events as ev
from silu.types.errors import Failure
from silu.types.usage import Usage, merge
from silu.wire.serve.errors import dump, status_of
from silu.wire.serve.options import ServeOptions

_CREATED = "2026-11-01T00:00:00.000000Z"


class OllamaWriter:
    """One answer. Calls go out whole, their arguments as an object."""

    status = 200

    def __init__(self, options: ServeOptions, *, stream: bool) -> None:
        self.content_type = "application/x-ndjson" if stream else "application/json"
        self._options = options
        self._stream = stream
        self._model = options.model
        self._usage = Usage()
        self._finish: ev.Finish | None = None
        self._failure: Failure | None = None
        self._whole: dict[str, Any] = {"role": "assistant", "content": ""}
        self._calls: dict[int, dict[str, Any]] = {}

    def feed(self, event: ev.StreamEvent) -> bytes:
        match event:
            case ev.ThinkingDelta():
                self._whole["thinking"] = self._whole.get("thinking", "") + event.text
                return self._line({"content": "", "thinking": event.text})
            case ev.TextDelta():
                self._whole["content"] += event.text
                return self._line({"content": event.text})
            case ev.ToolCallDelta():
                call = self._calls.setdefault(event.index, {"name": event.name, "args": ""})
                call["args"] += event.args_delta
            case ev.BlockEnd() if event.index in self._calls:
                return self._call(self._calls.pop(event.index))
            case ev.UsageReport():
                self._usage = merge(self._usage, event.usage)
            case ev.Finish():
                self._finish = event
            case ev.VendorFailure():
                self._failure = event.failure
                return dump({"error": event.failure.message}) + b"\n" if self._stream else b""
            case _:
                pass
        return b""

    def close(self) -> bytes:
        if self._failure is not None:
            if self._stream:
                return b""
            self.status = status_of(self._failure)
            return dump({"error": self._failure.message})
        body = {
            **self._head(),
            "message": {"role": "assistant", "content": ""} if self._stream else self._whole,
            "done": True,
            "done_reason": "length" if self._finish and self._finish.reason == "length" else "stop",
            "total_duration": 1_000_000_000,
            "prompt_eval_count": self._usage.input_tokens or 0,
            "eval_count": self._usage.output_tokens or 0,
        }
        return dump(body) + (b"\n" if self._stream else b"")

    def _call(self, call: dict[str, Any]) -> bytes:
        args = msgspec.Raw((call["args"] or "{}").encode())
        made = {"function": {"name": call["name"], "arguments": args}}
        self._whole.setdefault("tool_calls", []).append(made)
        return self._line({"content": "", "tool_calls": [made]})

    def _head(self) -> dict[str, Any]:
        return {"model": self._model, "created_at": _CREATED, **self._options.extra}

    def _line(self, piece: dict[str, Any]) -> bytes:
        if not self._stream:
            return b""
        message = {"role": "assistant", **piece}
        return dump({**self._head(), "message": message, "done": False}) + b"\n"
