"""Anthropic Messages, first-party and compatible: reading answers.

A whole answer takes the stream's path: each block is started with its content and stopped. A
block ends with `content_block_stop`, not with the first text; a thought may have no text and a
signature all the same, and is kept (Claude from Opus 4.7 on withholds the text by default).
"""

from typing import Any, cast

import msgspec

from silu.types.events import FinishReason, Keepalive, Served, UsageReport, VendorNote
from silu.types.parts import Citation
from silu.types.rules import DecodeRules
from silu.wire import usage as counts
from silu.wire.anthropic_messages_forms import (
    Block,
    Delta,
    Event,
    Message,
    read_any,
    read_block,
    read_event,
    read_message,
)
from silu.wire.base import BaseDecoder
from silu.wire.blocks import NULL, json_text
from silu.wire.errors import failure_from_object
from silu.wire.loose import loosely
from silu.wire.tool_calls import is_json, made_id

SIGNATURE = "signature"
"""Continuity kind: a thought's signature, as a JSON string; `""` where the vendor sent an empty
one, and `null` where it sent none (Kimi, MiMo, MiniMax check none)."""

REDACTED = "redacted_thinking"
CITATIONS = "citations"
SERVER_TOOL = "server_tool"


_FINISH: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_calls",
    "pause_turn": "pause",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_overflow",
    "compaction": "pause",
    # compatible servers speak their own words now and then
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
    "sensitive": "content_filter",
}


_READ = ("text", "thinking", "redacted_thinking", "tool_use")
"""The kinds of blocks that are read; others are kept as they came."""


def make_decoder(rules: DecodeRules, streaming: bool, status: int) -> "AnthropicDecoder":
    return AnthropicDecoder(rules, streaming=streaming, status=status)


class _Open:
    """A block that has started and not stopped."""

    __slots__ = ("args", "block", "citations", "index", "more", "raw", "signature", "thought")

    def __init__(self, block: Block, raw: msgspec.Raw) -> None:
        self.block = block
        self.raw = raw
        self.index = -1
        self.args: list[str] = []
        self.signature: list[str] = []
        self.citations: list[Any] = []
        self.more: list[bytes] = []
        self.thought = False


class AnthropicDecoder(BaseDecoder):
    _dialect = "anthropic-messages"

    def __init__(self, rules: DecodeRules, *, streaming: bool, status: int) -> None:
        super().__init__(rules, streaming=streaming, status=status)
        self._blocks: dict[int, _Open] = {}
        self._usage: dict[str, Any] = {}
        self._seed = rules.call_seed
        self._calls = 0

    # -- events

    def _payload(self, name: bytes, data: bytes) -> None:
        try:
            event = read_event(data)
        except msgspec.ValidationError:
            event = loosely(Event, data)
        except msgspec.DecodeError:
            if not data.strip() or data == b"[DONE]":
                return
            raise
        # The event's name says the same as the type inside it; some proxies leave one of them out.
        kind = event.type or name.decode("utf-8", "replace")
        if kind == "content_block_delta" and event.delta is not None:
            self._delta(event.index, event.delta, data)
            return
        self._other(kind, event, name, data)

    def _other(self, kind: str, event: Event, name: bytes, data: bytes) -> None:
        match kind:
            case "content_block_start":
                if bytes(event.content_block) not in (b"", b"null"):
                    self._start(event.index, event.content_block)
            case "content_block_stop":
                self._stop(event.index)
            case "message_start":
                if bytes(event.message) not in (b"", b"null"):
                    self._begin(read_message(event.message))
            case "message_delta":
                self._message_delta(event)
            case "message_stop":
                self._message_stop()
            case "ping":
                self._emit(Keepalive())
            case _:
                if kind == "error" or name == b"error" or event.error is not None:
                    self._fail(failure_from_object(read_any(data), self._status))

    def _delta(self, index: int, delta: Delta, data: bytes) -> None:
        text = delta.thinking if delta.type == "thinking_delta" else delta.text
        opened = self._blocks.get(index)
        if opened is None:
            opened = self._unannounced(index, delta.type)
        if text:
            if delta.type == "text_delta":
                self._writer.text(text)
            else:
                opened.thought = True
                opened.index = self._writer.thinking(text, "thinking")
        elif delta.partial_json:
            self._arguments(opened, delta.partial_json)
        elif delta.signature:
            opened.signature.append(delta.signature)
        elif delta.citation is not None:
            self._cite(opened, delta.citation)
        elif opened.block.type not in _READ:
            opened.more.append(data)

    def _unannounced(self, index: int, kind: str) -> _Open:
        """A delta for a block that never started: some proxies leave the start out."""
        kinds = {"thinking_delta": "thinking", "signature_delta": "thinking"}
        block = Block(type=kinds.get(kind, "tool_use" if kind == "input_json_delta" else "text"))
        opened = self._blocks[index] = _Open(block, msgspec.Raw(b"{}"))
        if block.type == "tool_use":
            self._open_call(opened)
        return opened

    # -- blocks

    def _start(self, index: int, raw: msgspec.Raw) -> None:
        block = read_block(raw)
        if block.type not in ("text", "thinking"):
            read_any(raw)  # it is kept raw until its end: damage inside must show now
        if index in self._blocks:
            self._stop(index)
        opened = self._blocks[index] = _Open(block, raw.copy())
        match block.type:
            case "text":
                if block.text:
                    self._writer.text(block.text)
                for citation in block.citations or ():
                    self._cite(opened, citation)
            case "thinking":
                if block.signature:
                    opened.signature.append(block.signature)
                if block.thinking:
                    opened.thought = True
                    opened.index = self._writer.thinking(block.thinking, "thinking")
            case "tool_use":
                self._open_call(opened)
            case _:
                pass

    def _stop(self, index: int) -> None:
        opened = self._blocks.pop(index, None)
        if opened is None:
            return
        match opened.block.type:
            case "text":
                self._end_text(opened)
            case "thinking":
                self._end_thought(opened)
            case "redacted_thinking":
                self._redacted(opened)
            case "tool_use":
                self._end_call(opened)
            case _:
                self._end_other(opened)

    def _end_text(self, opened: _Open) -> None:
        index = self._writer.open_text
        if opened.citations and index is not None:
            self._writer.keep(index, CITATIONS, json_text(opened.citations), CITATIONS)
        self._writer.end_text()

    def _cite(self, opened: _Open, citation: Any) -> None:
        opened.citations.append(citation)
        if not isinstance(citation, dict):
            return
        named = cast("dict[str, Any]", citation)
        self._writer.cite(
            Citation(
                url=_string(named.get("url")),
                title=_string(named.get("title")) or _string(named.get("document_title")),
                cited=_string(named.get("cited_text")),
                raw=json_text(named),
            )
        )

    def _end_thought(self, opened: _Open) -> None:
        """A thought is kept when it has text or a signature; one with neither is nothing (F053)."""
        signature = "".join(opened.signature)
        if not opened.thought and not signature:
            return
        if not opened.thought:
            opened.index = self._writer.hidden_thinking()
        sent = bool(signature) or opened.block.signature is not None
        data = json_text(signature) if sent else NULL
        field = SIGNATURE if signature else "thinking"
        self._writer.keep(opened.index, SIGNATURE, data, field)
        self._writer.end_thinking()

    def _redacted(self, opened: _Open) -> None:
        if not opened.block.data:
            return
        index = self._writer.hidden_thinking("redacted")
        self._writer.keep(index, REDACTED, json_text(opened.block.data), "data")
        self._writer.end_thinking()

    # -- calls

    def _open_call(self, opened: _Open) -> None:
        block = opened.block
        call_id = block.id or made_id(self._seed, self._calls)
        self._calls += 1
        opened.index = self._writer.call(call_id, block.name or "", "")

    def _arguments(self, opened: _Open, piece: str) -> None:
        opened.args.append(piece)
        if opened.block.type == "tool_use":
            self._writer.call_args(opened.index, piece)

    def _end_call(self, opened: _Open, *, cut: bool = False) -> None:
        """Arguments come in pieces or, from some servers and in whole answers, at the start."""
        if not opened.args and not cut:
            self._writer.call_args(opened.index, _input(opened) or "{}")
        unfinished = cut and not is_json("".join(opened.args))
        self._writer.end(opened.index, unfinished=unfinished)

    def _end_other(self, opened: _Open) -> None:
        """Tools the vendor ran, their results, and blocks we only keep."""
        block = opened.block
        raw = bytes(opened.raw)
        if opened.args or opened.more:
            raw = _put_together(opened)
        use = block.type.endswith("tool_use")
        kind = "server_tool" if use or block.type.endswith("tool_result") else "vendor"
        name = (block.name or "") if use else "" if kind == "server_tool" else block.type
        call_id = block.id if use else block.tool_use_id
        index = self._writer.whole(kind, name, raw.decode(), call_id)
        self._writer.keep(index, SERVER_TOOL, NULL, "content")
        self._writer.end(index)

    # -- the message

    def _begin(self, message: Message) -> None:
        if message.model or message.id:
            self._emit(Served(message.model or None, message.id or None))
            self._seed = self._seed or message.id or ""
        self._count(message.usage)
        self._transformed(message.input_transformations)
        # A stream may begin with blocks that are whole (the AI SDK's recordings, 2026-04).
        for index, block in enumerate(message.content or ()):
            self._start(index, block)
            self._stop(index)
        if message.stop_reason:
            self._stopped(message.stop_reason, message.stop_details)

    def _message_delta(self, event: Event) -> None:
        self._count(event.usage)
        self._transformed(event.input_transformations)
        delta = event.delta
        if delta is not None and delta.stop_reason:
            self._stopped(delta.stop_reason, delta.stop_details)

    def _message_stop(self) -> None:
        if self._finish is None:
            # A compatible server that stops without a reason; the terminal event is there.
            self._set_finish("unknown", None)
        self._terminate()

    def _stopped(self, raw: str, details: Any) -> None:
        if raw in ("error", "network_error"):
            self._fail(failure_from_object({"error": {"type": raw, "message": raw}}, 200))
            return
        self._set_finish(_FINISH.get(raw, "unknown"), raw, _details(details))

    def _count(self, raw: dict[str, Any] | None) -> None:
        """Later numbers stand for the whole answer; what they leave out keeps its value."""
        if not raw:
            return
        news = {key: value for key, value in raw.items() if value is not None}
        if all(self._usage.get(key) == value for key, value in news.items()):
            return
        self._usage |= news
        self._emit(UsageReport(counts.anthropic(self._usage)))

    def _transformed(self, items: list[Any] | None) -> None:
        for item in items or ():
            if isinstance(item, dict):
                told = cast("dict[str, Any]", item)
                kind = _string(told.get("type")) or "input_transformed"
                path = _string(told.get("path"))
                self._emit(VendorNote(kind, path, _string(told.get("reason"))))

    # -- whole answers and the end

    def _whole(self, body: bytes) -> None:
        message = read_message(body)
        if message.error is not None or message.type == "error" or message.content is None:
            self._fail(failure_from_object(read_any(body), self._status))
            return
        self._begin(message)
        if not self._over:
            self._message_stop()

    def _tail(self, reason: FinishReason | None) -> None:
        for index in sorted(self._blocks):
            opened = self._blocks[index]
            if opened.block.type == "tool_use":
                self._end_call(opened, cut=reason in (None, "length"))
            elif reason is not None and opened.block.type == "thinking":
                self._end_thought(opened)
            elif opened.block.type not in ("text", "thinking"):
                self._stop(index)
        self._blocks.clear()
        self._writer.finish(reason)


def _put_together(opened: _Open) -> bytes:
    """A block of another kind with all that came for it after its start."""
    whole = cast("dict[str, Any]", read_any(opened.raw))
    if opened.args:
        args = "".join(opened.args)
        whole["input"] = msgspec.Raw(args.encode()) if is_json(args) else args
    for data in opened.more:
        for key, value in cast("dict[str, Any]", read_any(data)["delta"]).items():
            known = whole.get(key)
            both = isinstance(known, str) and isinstance(value, str)
            if key != "type":
                whole[key] = f"{known}{value}" if both else value
    return msgspec.json.encode(whole)


def _input(opened: _Open) -> str:
    raw = bytes(opened.block.input)
    return "" if raw in (b"", b"null", b'""') else raw.decode()


def _details(details: Any) -> str | None:
    """What the vendor says of a refusal: its category and explanation."""
    if isinstance(details, str):
        return details or None
    if not isinstance(details, dict):
        return None
    told = cast("dict[str, Any]", details)
    words = [_string(told.get(key)) for key in ("category", "explanation", "message", "reason")]
    return ": ".join(word for word in words if word) or None


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
