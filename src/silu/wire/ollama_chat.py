"""Ollama's own chat API: reading answers, one JSON value a line or one in all.

Thinking stands in `message.thinking`; calls come whole, their arguments as objects, some without
an id. `done` ends the answer; an `error` may come on any line.
"""

from typing import Any

import msgspec

from silu.types.events import FinishReason, Served, UsageReport
from silu.types.rules import DecodeRules
from silu.wire import usage as counts
from silu.wire.base import BaseDecoder
from silu.wire.errors import bad_data, failure_from_object
from silu.wire.loose import loosely
from silu.wire.ndjson import NdJson
from silu.wire.tool_calls import made_id

THINKING = "reasoning"
"""Continuity kind: thinking in a plain field, whose text goes back as it came."""


class _Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: msgspec.Raw = msgspec.Raw()


class _Call(msgspec.Struct, gc=False):
    id: str | None = None
    function: _Function | None = None


class _Message(msgspec.Struct, gc=False):
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[_Call] | None = None


class _Line(msgspec.Struct, gc=False):
    message: _Message | None = None
    done: bool = False
    error: Any = None


class _Last(msgspec.Struct):
    model: str | None = None
    created_at: str | None = None
    done_reason: str | None = None


_line = msgspec.json.Decoder(_Line).decode
_last = msgspec.json.Decoder(_Last, strict=False).decode
_any = msgspec.json.Decoder().decode

_FINISH: dict[str, FinishReason] = {"stop": "stop", "length": "length"}


def make_decoder(rules: DecodeRules, streaming: bool, status: int) -> "OllamaDecoder":
    return OllamaDecoder(rules, streaming=streaming, status=status)


class OllamaDecoder(BaseDecoder):
    _dialect = "ollama-chat"

    def __init__(self, rules: DecodeRules, *, streaming: bool, status: int) -> None:
        super().__init__(
            rules, streaming=streaming, status=status, framing=NdJson, unsigned=THINKING
        )
        self._seed = rules.call_seed
        self._calls = 0
        self._served = False
        self._begun = False

    def _looks_whole(self, start: bytes) -> bool:
        return start[:1] == b"<"

    def _looks_framed(self, text: bytes) -> bool:
        return False

    def _payload(self, name: bytes, data: bytes) -> None:
        try:
            line = _line(data)
        except msgspec.ValidationError:
            line = loosely(_Line, data)
        if line.error is not None:
            self._fail(failure_from_object(_any(data), self._status))
            return
        if not self._served:
            self._introduce(data)
        message = line.message
        if message is not None:
            self._begun = True
            if message.thinking:
                self._writer.thinking(message.thinking, "thinking")
            if message.content:
                self._writer.text(message.content)
            for call in message.tool_calls or ():
                self._call(call)
        if line.done:
            self._done(data)

    def _introduce(self, data: bytes) -> None:
        self._served = True
        last = _last(data)
        if last.model:
            self._emit(Served(last.model, None))
        self._seed = self._seed or last.created_at or ""

    def _call(self, call: _Call) -> None:
        function = call.function or _Function()
        call_id = call.id or made_id(self._seed, self._calls)
        self._calls += 1
        raw = bytes(function.arguments)
        args = "{}" if raw in (b"", b"null", b'""') else raw.decode()
        if args.startswith('"'):
            args = msgspec.json.decode(raw, type=str)
        index = self._writer.call(call_id, function.name or "", args)
        self._writer.end(index)

    def _done(self, data: bytes) -> None:
        raw = _last(data).done_reason
        reason: FinishReason = _FINISH.get(raw or "stop", "unknown")
        if self._calls and reason == "stop":
            reason = "tool_calls"
        self._emit(UsageReport(counts.ollama(_any(data))))
        self._set_finish(reason, raw)
        self._terminate()

    def _whole(self, body: bytes) -> None:
        """One document, or the lines of a stream that was not asked for."""
        lines = [body] if b"\n" not in body else _documents(body)
        for line in lines:
            if not self._over:
                self._payload(b"", line)
        if not self._over and not self._begun:
            self._fail(bad_data(f"no {self._dialect} answer: it has no message"))


def _documents(body: bytes) -> list[bytes]:
    """The lines of a body, or the body itself where it is one document over several lines."""
    try:
        _any(body)
    except msgspec.DecodeError:
        return [line for line in body.split(b"\n") if line.strip()]
    return [body]
