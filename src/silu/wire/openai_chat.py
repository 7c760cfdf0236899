"""OpenAI chat completions and its many relatives: reading answers.

A streamed chunk's `delta` and a whole answer's `message` take one path (`_delta`). Where
thinking stands (vendors.md §18): `reasoning_content`, `reasoning`, `reasoning_text`, then
`reasoning_details`, then thinking parts in an array `content`, then think tags in the text. One
field is chosen per answer and never added to another: hosts mirror a thought into two fields.
"""

from typing import Any, cast

import msgspec

from silu.types.events import FinishReason, Served, UsageReport
from silu.types.parts import Citation
from silu.types.rules import DecodeRules
from silu.types.usage import Usage
from silu.wire import usage as counts
from silu.wire.base import BaseDecoder
from silu.wire.blocks import json_text
from silu.wire.errors import bad_data, failure_from_object
from silu.wire.openai_chat_forms import (
    Call,
    Choice,
    Chunk,
    Delta,
    argument_text,
    loose,
    read_any,
    read_chunk,
    read_extras,
    reasoning_text,
    text_of,
)
from silu.wire.reasoning_details import DETAILS, Details
from silu.wire.tool_calls import ToolCalls

REASONING = "reasoning"
"""Continuity kind: thinking in a plain field, whose text goes back as it came."""

ENCRYPTED = "encrypted_content"
"""Continuity kind: Qwen's sealed reasoning beside a summary (qwen4-max, 2026-11)."""


_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "tool_call": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "sensitive": "content_filter",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_overflow",
}

_BROKEN = ("error", "network_error", "insufficient_system_resource", "abort", "aborted")
"""Finish reasons that are failures (GLM, DeepSeek, OpenRouter, vLLM)."""


def make_decoder(rules: DecodeRules, streaming: bool, status: int) -> "OpenAIChatDecoder":
    return OpenAIChatDecoder(rules, streaming=streaming, status=status, unsigned=REASONING)


class OpenAIChatDecoder(BaseDecoder):
    _dialect = "openai-chat"

    def __init__(
        self, rules: DecodeRules, *, streaming: bool, status: int, unsigned: str | None
    ) -> None:
        super().__init__(rules, streaming=streaming, status=status, unsigned=unsigned)
        self._calls = ToolCalls(self._writer, rules.call_seed)
        self._details = Details(cumulative=rules.cumulative_details)
        self._field = ""
        self._empty_field = ""
        self._elsewhere: dict[str, str] = {}
        self._encrypted: list[str] = []
        self._served = False
        self._usage: dict[str, Any] | None = None
        self._refused: list[str] = []
        self._whole_answer = False

    # -- payloads

    def _payload(self, name: bytes, data: bytes) -> None:
        if data == b"[DONE]":
            self._terminate()
            return
        try:
            chunk = read_chunk(data)
        except msgspec.ValidationError:
            chunk = loose(read_any(data))
        except msgspec.DecodeError:
            if not data.strip():
                return
            raise
        if not self._served or chunk.error is not None or name == b"error":
            self._unusual(chunk, name, data)
            if self._over:
                return
        choices = chunk.choices
        if choices:
            choice = choices[0]
            delta = choice.delta
            if delta is not None and not choice.index and not self._finished:
                self._delta(delta)
            if (
                choice.finish_reason is not None
                or delta is None
                or choice.usage is not None
                or choice.error is not None
            ):
                self._rest(choice)
        if chunk.usage is not None or not choices or chunk.x_groq or chunk.timings:
            self._aside(chunk, data)

    def _whole(self, body: bytes) -> None:
        self._whole_answer = True
        self._payload(b"", body)
        if not self._over and self._finish is None:
            if self._writer.said or self._writer.thought:
                self._set_finish("unknown", None)
            else:
                self._fail(bad_data(f"no {self._dialect} answer: no words and no end"))

    def _unusual(self, chunk: Chunk, name: bytes, data: bytes) -> None:
        """The first chunk, or an error inside the stream."""
        if chunk.error is not None or name == b"error":
            self._fail(failure_from_object(read_any(data), self._status))
        elif not self._served:
            self._introduce(data, told=bool(chunk.choices))

    def _introduce(self, data: bytes, *, told: bool) -> None:
        """Who answers: Azure's first chunk, which has no choices, does not say."""
        extras = read_extras(data)
        self._served = told or bool(extras.id or extras.model)
        if extras.id or extras.model:
            self._emit(Served(extras.model or None, extras.id or None))
            if not self._rules.call_seed:
                self._calls.seed = extras.id or ""

    def _aside(self, chunk: Chunk, data: bytes) -> None:
        """Usage, wherever it stands; and chunks without choices: an error in some form, or noise.

        Groq's older streams count in `x_groq`, llama.cpp at least tells its timings.
        """
        if chunk.usage is not None:
            self._count(chunk.usage)
        elif chunk.x_groq is not None and isinstance(chunk.x_groq.get("usage"), dict):
            self._count(chunk.x_groq["usage"])
        elif chunk.timings is not None and self._usage is None:
            self._emit(UsageReport(counts.timings(chunk.timings)))
        if not chunk.choices:
            self._without_choices(data)

    def _without_choices(self, data: bytes) -> None:
        extras = read_extras(data)
        spoken = extras.detail if extras.detail is not None else extras.message
        if (
            extras.object == "error"
            or extras.type == "error"
            # FastAPI's {"detail": …} and the like, with a 200
            or (self._whole_answer and extras.object is None and spoken is not None)
        ):
            self._fail(failure_from_object(read_any(data), self._status))
        elif self._finish is not None and self._usage is not None:
            self._finalise()

    def _count(self, raw: dict[str, Any]) -> None:
        if raw == self._usage:
            return
        self._usage = raw
        told = counts.openai_chat(raw)
        if told != Usage():
            self._emit(UsageReport(told))

    # -- choices

    def _rest(self, choice: Choice) -> None:
        """What a choice says beside its delta."""
        if choice.index or self._finished:
            return  # a second answer was not asked for
        if choice.usage is not None:
            self._count(choice.usage)
        if choice.error is not None:
            self._fail(failure_from_object({"error": choice.error}, self._status))
            return
        if choice.message is not None:
            self._message(choice.message)
        if choice.finish_reason:
            self._finish_with(choice.finish_reason)

    def _delta(self, delta: Delta) -> None:
        text = delta.reasoning_content
        if text:
            if self._field == "reasoning_content" and delta.reasoning_details is None:
                self._writer.thinking(text, "reasoning_content")
            else:
                self._reasoning(delta)
        elif delta.reasoning or delta.reasoning_text or delta.reasoning_details:
            self._reasoning(delta)
        elif not self._field and not self._empty_field:
            self._note_empty(delta)
        content = delta.content
        if content:
            if isinstance(content, str):
                self._writer.text(content)
            else:
                self._array(content)
        if delta.tool_calls:
            self._tool_calls(delta.tool_calls)
        if delta.refusal or delta.function_call or delta.annotations or delta.encrypted_content:
            self._seldom(delta)

    def _note_empty(self, delta: Delta) -> None:
        """An empty reasoning field is a value: "thought, but nothing" (DeepSeek V4, Kimi)."""
        if delta.reasoning_content == "":
            self._empty_field = "reasoning_content"
        elif delta.reasoning == "":
            self._empty_field = "reasoning"

    def _reasoning(self, delta: Delta) -> None:
        fields = (
            ("reasoning_content", delta.reasoning_content),
            (REASONING, reasoning_text(delta.reasoning)),
            ("reasoning_text", delta.reasoning_text),
        )
        field, text = next(((f, t) for f, t in fields if t), ("", ""))
        if delta.reasoning_details:
            shown = self._details.add(delta.reasoning_details)
            if not text and shown and self._field in ("", DETAILS):
                field, text = DETAILS, shown
        if text:
            text = self._choose(field, text)
        if text:
            self._writer.thinking(text, self._field)
        elif self._details.opaque and not self._writer.thought:
            self._hidden()

    def _choose(self, field: str, text: str) -> str:
        """Keep to one field; what another one brings counts only where it is no copy (F036), be
        it in the same piece or in a later one."""
        if not self._field:
            self._field = field
        if field == self._field:
            return text
        told = self._elsewhere[field] = self._elsewhere.get(field, "") + text
        return _news(self._writer.thinking_text(), told, text)

    def _hidden(self) -> None:
        """Encrypted reasoning without a word of it: a thought all the same."""
        self._writer.hidden_thinking("redacted")
        self._writer.end_thinking()

    def _message(self, message: Delta) -> None:
        """A whole answer. On a stream it is a copy of what came, or brings what did not: it fills
        the gaps and adds nothing else (F009, F038)."""
        for number, call in enumerate(message.tool_calls or ()):
            call.index = number
        if self._writer.thought:
            message.reasoning_content = message.reasoning = message.reasoning_text = None
            message.reasoning_details = None
        if self._calls.any:
            message.tool_calls = message.function_call = None
        if self._writer.said:
            message.content = message.refusal = message.annotations = None
        self._delta(message)

    def _array(self, content: list[Any]) -> None:
        for item in content:
            if isinstance(item, str):
                self._writer.text(item)
            elif isinstance(item, dict):
                self._part(cast("dict[str, Any]", item))

    def _part(self, part: dict[str, Any]) -> None:
        match part.get("type"):
            case "thinking" | "reasoning":
                inner = part.get("thinking", part.get("text", part.get("reasoning")))
                text = text_of(inner)
                if text:
                    self._field = self._field or "content"
                    self._writer.thinking(text, "content")
            case "refusal":
                self._refused.append(text_of(part.get("refusal")))
            case _:
                text = text_of(part.get("text"))
                if text:
                    self._writer.text(text)

    def _tool_calls(self, calls: list[Call]) -> None:
        for call in calls:
            function = call.function
            name = args = ""
            if function is not None:
                name, args = function.name or "", argument_text(function.arguments)
            if not name and call.custom:
                name = text_of(call.custom.get("name"))
                args = args or text_of(call.custom.get("input"))
            self._calls.piece(call.index, call.id or "", name, args)

    def _seldom(self, delta: Delta) -> None:
        function = delta.function_call
        if function is not None and not delta.tool_calls and (function.name or function.arguments):
            # The form before tool_calls; one call an answer, without an id.
            self._calls.piece(0, "", function.name or "", argument_text(function.arguments))
        if delta.refusal:
            self._refused.append(delta.refusal)
            self._writer.text(delta.refusal)
        if delta.encrypted_content:
            self._encrypted.append(delta.encrypted_content)
        for item in delta.annotations or ():
            if isinstance(item, dict):
                self._cite(cast("dict[str, Any]", item))

    def _cite(self, item: dict[str, Any]) -> None:
        source = item.get("url_citation")
        named = cast("dict[str, Any]", source) if isinstance(source, dict) else item
        self._writer.cite(
            Citation(
                url=text_of(named.get("url")) or None,
                title=text_of(named.get("title")) or None,
                cited=text_of(named.get("content")) or None,
                raw=json_text(item),
            )
        )

    # -- the end

    def _finish_with(self, raw: str) -> None:
        if raw in _BROKEN:
            self._fail(failure_from_object({"error": {"code": raw, "message": raw}}, 200))
            return
        reason = _FINISH.get(raw.lower(), "unknown")
        if self._refused and reason == "stop":
            reason = "refusal"
        self._set_finish(reason, raw, "".join(self._refused) or None)

    def _tail(self, reason: FinishReason | None) -> None:
        self._writer.finish(reason)
        self._calls.finish(cut=reason in (None, "length"))
        if self._empty_field and not self._field:
            self._writer.keep(None, REASONING, '""', self._empty_field)
        details = self._details.take()
        if details is not None:
            self._writer.keep(None, DETAILS, details, DETAILS)
        if self._encrypted:
            value = json_text("".join(self._encrypted))
            self._writer.keep(None, ENCRYPTED, value, ENCRYPTED)


def _news(known: str, told: str, text: str) -> str:
    """What `text` adds to `known`, the newest piece of all that another field has `told`: nothing
    while that is a copy, the rest where it goes on from one, all of it where it is none."""
    if known.startswith(told):
        return ""
    return told[len(known) :] if told.startswith(known) else text
