"""Amazon Bedrock Converse: reading answers, as an AWS event stream or whole.

A reasoning block has no start event; sealed reasoning comes as base64 in pieces, and the whole
of them is the value (recordings; vendors.md §13).
"""

from typing import Any, cast

import msgspec

from silu.types.events import FinishReason, UsageReport
from silu.types.parts import Citation
from silu.types.rules import DecodeRules
from silu.wire import usage as counts
from silu.wire.base import BaseDecoder
from silu.wire.blocks import NULL, json_text
from silu.wire.errors import bad_data, failure_from_object
from silu.wire.eventstream import BROKEN, EXCEPTION, EventStream
from silu.wire.loose import dicts, loosely
from silu.wire.tool_calls import is_json, made_id

SIGNATURE = "signature"
"""Continuity kind: a thought's signature as a JSON string, or `null` where none came."""

REDACTED = "redacted_content"
"""Continuity kind: sealed reasoning, base64 as a JSON string."""

BLOCK = "block"
"""Continuity kind: a block of the vendor's own making."""


class _Reasoning(msgspec.Struct, gc=False, rename="camel"):
    text: str | None = None
    signature: str | None = None
    redacted_content: str | None = None


class _Use(msgspec.Struct, gc=False, rename="camel"):
    tool_use_id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw()


class _Delta(msgspec.Struct, gc=False, rename="camel"):
    text: str | None = None
    reasoning_content: _Reasoning | None = None
    tool_use: _Use | None = None
    citation: Any = None


class _Start(msgspec.Struct, gc=False, rename="camel"):
    tool_use: _Use | None = None


class _Event(msgspec.Struct, gc=False, rename="camel"):
    content_block_index: int = 0
    delta: _Delta | None = None
    start: _Start | None = None
    stop_reason: str | None = None
    usage: dict[str, Any] | None = None


class _Whole(msgspec.Struct, rename="camel"):
    output: dict[str, Any] | None = None
    stop_reason: str | None = None
    usage: dict[str, Any] | None = None
    message: Any = None


class _Text(msgspec.Struct, rename="camel"):
    text: str = ""
    signature: str | None = None


class _Thought(msgspec.Struct, rename="camel"):
    reasoning_text: _Text | None = None
    redacted_content: str | None = None


class _Block(msgspec.Struct, rename="camel"):
    text: str | None = None
    tool_use: _Use | None = None
    reasoning_content: _Thought | None = None
    citations_content: dict[str, Any] | None = None


class _Message(msgspec.Struct):
    content: list[msgspec.Raw] | None = None


class _Output(msgspec.Struct):
    message: _Message | None = None


class _WholeBlocks(msgspec.Struct):
    output: _Output | None = None


_event = msgspec.json.Decoder(_Event).decode
_whole = msgspec.json.Decoder(_Whole).decode
_blocks = msgspec.json.Decoder(_WholeBlocks).decode
_block = msgspec.json.Decoder(_Block).decode
_any = msgspec.json.Decoder().decode

_FINISH: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
    "model_context_window_exceeded": "context_overflow",
}

_BROKEN = ("malformed_model_output", "malformed_tool_use")


def make_decoder(rules: DecodeRules, streaming: bool, status: int) -> "BedrockDecoder":
    return BedrockDecoder(rules, streaming=streaming, status=status)


class _Open:
    """A block that is under way."""

    __slots__ = ("args", "call", "redacted", "signature", "thought")

    def __init__(self) -> None:
        self.call = -1
        self.thought = -1
        self.args: list[str] = []
        self.signature: list[str] = []
        self.redacted: list[str] = []


class BedrockDecoder(BaseDecoder):
    _dialect = "bedrock-converse"

    def __init__(self, rules: DecodeRules, *, streaming: bool, status: int) -> None:
        super().__init__(rules, streaming=streaming, status=status, framing=EventStream)
        self._open: dict[int, _Open] = {}
        self._calls = 0

    def _looks_framed(self, text: bytes) -> bool:
        return text[:1] == b"\0"

    # -- events

    def _payload(self, name: bytes, data: bytes) -> None:
        if name == b"contentBlockDelta":
            event = self._event(data)
            if event.delta is not None:
                self._delta(event.content_block_index, event.delta)
            return
        if name.startswith(EXCEPTION) or name == BROKEN:
            self._trouble(name, data)
            return
        event = self._event(data) if data else _Event()
        match name:
            case b"contentBlockStart":
                if event.start is not None and event.start.tool_use is not None:
                    self._start_call(event.content_block_index, event.start.tool_use)
            case b"contentBlockStop":
                self._stop(event.content_block_index)
            case b"messageStop":
                self._finish_with(event.stop_reason)
            case b"metadata":
                self._count(event.usage)
                if self._finish is not None:
                    self._terminate()
            case _:
                pass

    @staticmethod
    def _event(data: bytes) -> _Event:
        try:
            return _event(data)
        except msgspec.ValidationError:
            return loosely(_Event, data)

    def _trouble(self, name: bytes, data: bytes) -> None:
        if name == BROKEN:
            self._fail(bad_data(data.decode()))
            return
        kind = name.removeprefix(EXCEPTION).decode("utf-8", "replace")
        try:
            found = _any(data)
        except msgspec.DecodeError:
            found = None
        told = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
        message = told.get("message") or told.get("Message") or kind
        self._fail(failure_from_object({"error": {"type": kind, "message": message}}, 200))

    def _block(self, index: int) -> _Open:
        opened = self._open.get(index)
        if opened is None:
            opened = self._open[index] = _Open()
        return opened

    def _delta(self, index: int, delta: _Delta) -> None:
        if delta.text:
            self._writer.text(delta.text)
        elif delta.reasoning_content is not None:
            self._reasoning(self._block(index), delta.reasoning_content)
        elif delta.tool_use is not None:
            self._arguments(self._block(index), delta.tool_use)
        elif delta.citation is not None:
            self._writer.cite(Citation(raw=json_text(delta.citation)))

    def _reasoning(self, opened: _Open, piece: _Reasoning) -> None:
        if piece.text:
            opened.thought = self._writer.thinking(piece.text, "reasoningContent")
        if piece.signature:
            opened.signature.append(piece.signature)
        if piece.redacted_content:
            opened.redacted.append(piece.redacted_content)

    def _start_call(self, index: int, use: _Use) -> None:
        opened = self._block(index)
        call_id = use.tool_use_id or made_id(self._rules.call_seed, self._calls)
        self._calls += 1
        opened.call = self._writer.call(call_id, use.name or "", "")

    def _arguments(self, opened: _Open, use: _Use) -> None:
        if opened.call < 0:
            opened.call = self._writer.call(made_id(self._rules.call_seed, self._calls), "", "")
            self._calls += 1
        raw = bytes(use.input)
        if raw in (b"", b"null"):
            return
        piece = msgspec.json.decode(raw, type=str) if raw[:1] == b'"' else raw.decode()
        if piece:
            opened.args.append(piece)
            self._writer.call_args(opened.call, piece)

    def _stop(self, index: int) -> None:
        opened = self._open.pop(index, None)
        if opened is None:
            self._writer.end_text()
        elif opened.call >= 0:
            self._end_call(opened)
        else:
            self._end_thought(opened)

    def _end_call(self, opened: _Open, *, cut: bool = False) -> None:
        if not opened.args and not cut:
            self._writer.call_args(opened.call, "{}")
        self._writer.end(opened.call, unfinished=cut and not is_json("".join(opened.args)))

    def _end_thought(self, opened: _Open) -> None:
        signature, redacted = "".join(opened.signature), "".join(opened.redacted)
        if opened.thought < 0:
            if not signature and not redacted:
                return
            opened.thought = self._writer.hidden_thinking("redacted" if redacted else None)
        if redacted:
            self._writer.keep(opened.thought, REDACTED, json_text(redacted), "redactedContent")
        else:
            data = json_text(signature) if signature else NULL
            self._writer.keep(opened.thought, SIGNATURE, data, "reasoningContent")
        self._writer.end_thinking()

    # -- the end

    def _count(self, raw: dict[str, Any] | None) -> None:
        if raw:
            self._emit(UsageReport(counts.bedrock(raw)))

    def _finish_with(self, raw: str | None) -> None:
        if raw in _BROKEN:
            told = {"code": raw, "type": "invalid_request_error", "message": raw}
            self._fail(failure_from_object({"error": told}, 200))
            return
        self._set_finish(_FINISH.get(raw or "", "unknown"), raw)

    def _whole(self, body: bytes) -> None:
        answer = _whole(body)
        found = _blocks(body).output if answer.output is not None else None
        if found is None or found.message is None:
            if answer.message is not None:
                self._fail(failure_from_object(_any(body), self._status))
            else:
                self._fail(bad_data(f"no {self._dialect} answer: it has no output"))
            return
        for index, raw in enumerate(found.message.content or ()):
            self._whole_block(index, _block(raw), raw)
        self._count(answer.usage)
        self._finish_with(answer.stop_reason)
        self._terminate()

    def _whole_block(self, index: int, block: _Block, raw: msgspec.Raw) -> None:
        if block.text is not None:
            if block.text:
                self._writer.text(block.text)
        elif block.tool_use is not None:
            self._start_call(index, block.tool_use)
            self._arguments(self._block(index), block.tool_use)
        elif block.reasoning_content is not None:
            thought = block.reasoning_content
            text = thought.reasoning_text or _Text()
            piece = _Reasoning(text.text, text.signature, thought.redacted_content)
            self._reasoning(self._block(index), piece)
        elif block.citations_content is not None:
            self._cited(block.citations_content)
        else:
            self._own(raw)
            return
        self._stop(index)

    def _cited(self, content: dict[str, Any]) -> None:
        for item in dicts(content.get("content")):
            if isinstance(item.get("text"), str) and item["text"]:
                self._writer.text(item["text"])
        for item in dicts(content.get("citations")):
            title = item.get("title")
            named = title if isinstance(title, str) else None
            self._writer.cite(Citation(title=named, raw=json_text(item)))

    def _own(self, raw: msgspec.Raw) -> None:
        found = _any(raw)
        kind = next(iter(cast("dict[str, Any]", found)), "") if isinstance(found, dict) else ""
        index = self._writer.whole("vendor", kind, bytes(raw).decode())
        self._writer.keep(index, BLOCK, NULL, "content")
        self._writer.end(index)

    def _tail(self, reason: FinishReason | None) -> None:
        for opened in self._open.values():
            if opened.call >= 0:
                self._end_call(opened, cut=reason in (None, "length"))
            elif reason is not None:
                self._end_thought(opened)
        self._open.clear()
        self._writer.finish(reason)
