"""Gemini `generateContent`, streamed and whole: reading answers.

`thought: true` alone marks thinking; a `thoughtSignature` may sit beside any part and says
nothing about its kind (F022). A stream's fragments of one part are put together again; a
signature on an empty fragment belongs to the part before it (F064).
"""

from typing import Any, cast

import msgspec

from silu.types.events import FinishReason, Served, UsageReport
from silu.types.parts import Citation
from silu.types.rules import DecodeRules
from silu.wire import usage as counts
from silu.wire.base import BaseDecoder
from silu.wire.blocks import NULL, json_text
from silu.wire.errors import bad_data, failure_from_object
from silu.wire.gemini_partial_args import PartialArg, PartialCall
from silu.wire.loose import dicts, loosely
from silu.wire.tool_calls import made_id

SIGNATURE = "thought_signature"
"""Continuity kind: the signature of a part, as a JSON string."""

CALL = "function_call"
"""Continuity kind: a call's id as the vendor gave it, as JSON; `null` where it gave none."""

PART = "part"
"""Continuity kind: a part of the vendor's own making; its raw JSON is in the message's part."""


class _Part(msgspec.Struct, gc=False, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: msgspec.Raw = msgspec.Raw()


class _Content(msgspec.Struct, gc=False, rename="camel"):
    parts: list[_Part] | None = None


class _Candidate(msgspec.Struct, gc=False, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None
    index: int | None = None


class _Chunk(msgspec.Struct, gc=False, rename="camel"):
    candidates: list[_Candidate] | None = None
    usage_metadata: msgspec.Raw = msgspec.Raw()
    prompt_feedback: Any = None
    error: Any = None


class _Call(msgspec.Struct, rename="camel"):
    name: str = ""
    id: str | None = None
    args: msgspec.Raw = msgspec.Raw()
    partial_args: list[PartialArg] | None = None
    will_continue: bool = False


class _Extras(msgspec.Struct, rename="camel"):
    model_version: str | None = None
    response_id: str | None = None


_chunk = msgspec.json.Decoder(_Chunk).decode
_call = msgspec.json.Decoder(_Call).decode
_extras = msgspec.json.Decoder(_Extras).decode
_any = msgspec.json.Decoder().decode

_EMPTY = (b"", b"null")

_FINISH: dict[str, FinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "pause",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "LANGUAGE": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
}

_BROKEN = (
    "MALFORMED_FUNCTION_CALL",
    "MALFORMED_RESPONSE",
    "MISSING_THOUGHT_SIGNATURE",
    "UNEXPECTED_TOOL_CALL",
    "TOO_MANY_TOOL_CALLS",
)
"""Finish reasons that are failures: what came is no answer."""


def make_decoder(rules: DecodeRules, streaming: bool, status: int) -> "GeminiDecoder":
    return GeminiDecoder(rules, streaming=streaming, status=status)


class GeminiDecoder(BaseDecoder):
    _dialect = "gemini-generate"

    def __init__(self, rules: DecodeRules, *, streaming: bool, status: int) -> None:
        super().__init__(rules, streaming=streaming, status=status)
        self._seed = rules.call_seed
        self._calls = 0
        self._served = False
        self._usage = b""
        self._signed: set[int] = set()
        self._partial: PartialCall | None = None
        self._whole_answer = False

    # -- chunks

    def _payload(self, name: bytes, data: bytes) -> None:
        if data == b"[DONE]" or not data.strip():
            return
        try:
            chunk = _chunk(data)
        except msgspec.ValidationError:
            chunk = loosely(_Chunk, data)
        if chunk.error is not None or name == b"error":
            self._fail(failure_from_object(_any(data), self._status))
            return
        if not self._served:
            self._introduce(data)
        if chunk.candidates:
            candidate = chunk.candidates[0]
            content = candidate.content
            if content is not None and content.parts and not candidate.index:
                for place, part in enumerate(content.parts):
                    self._part(part, place, data)
            if candidate.finish_reason is not None:
                self._finish_with(candidate.finish_reason, data)
        elif chunk.prompt_feedback is not None:
            self._blocked(chunk.prompt_feedback)
        if bytes(chunk.usage_metadata) != self._usage:
            self._count(chunk.usage_metadata)

    def _introduce(self, data: bytes) -> None:
        extras = _extras(data)
        if extras.model_version or extras.response_id:
            self._served = True
            self._seed = self._seed or extras.response_id or ""
            self._emit(Served(extras.model_version or None, extras.response_id or None))

    def _count(self, raw: msgspec.Raw) -> None:
        self._usage = bytes(raw)
        if self._usage in _EMPTY:
            return
        told = _any(raw)
        if isinstance(told, dict):
            self._emit(UsageReport(counts.gemini(cast("dict[str, Any]", told))))

    # -- parts

    def _part(self, part: _Part, place: int, data: bytes) -> None:
        text = part.text
        if text:
            if part.thought_signature is None and not self._whole_answer:
                if part.thought:
                    self._writer.thinking(text, "thought")
                else:
                    self._writer.text(text)
                return
            self._signed_text(part, text)
        elif bytes(part.function_call) not in _EMPTY:
            self._function_call(part)
        elif text is None:
            self._own(part, _raw_part(data, place))
        elif part.thought_signature:
            self._sign(self._newest(), part.thought_signature)

    def _signed_text(self, part: _Part, text: str) -> None:
        """Text with a signature, or a part of a whole answer: it stands by itself. Fragments of
        a stream go together as long as only one of them is signed."""
        writer = self._writer
        if part.thought_signature and writer.last in self._signed:
            writer.settle()
        if part.thought:
            writer.thinking(text, "thought")
        else:
            writer.text(text)
        if part.thought_signature:
            self._sign(self._newest(), part.thought_signature)
        if self._whole_answer:
            writer.settle()

    def _newest(self) -> int | None:
        """The block that a signature beside an empty text belongs to."""
        return self._writer.last

    def _sign(self, index: int | None, signature: str) -> None:
        if index in self._signed:
            index = None  # one signature a part: a second one goes back in a part of its own
        if index is not None:
            self._signed.add(index)
        self._writer.keep(index, SIGNATURE, json_text(signature), "thoughtSignature")

    def _function_call(self, part: _Part) -> None:
        call = _call(part.function_call)
        if self._partial is not None and not call.name:
            self._go_on(self._partial, call)
            return
        call_id = call.id or made_id(self._seed, self._calls)
        self._calls += 1
        args = bytes(call.args)
        in_pieces = args in _EMPTY and (call.will_continue or call.partial_args)
        text = "" if in_pieces else "{}" if args in _EMPTY else args.decode()
        index = self._writer.call(call_id, call.name, text)
        self._writer.keep(index, CALL, json_text(call.id or None), "functionCall")
        if part.thought_signature:
            self._sign(index, part.thought_signature)
        if in_pieces:
            self._end_partial(unfinished=False)
            self._partial = PartialCall(index)
            self._go_on(self._partial, call)
        else:
            self._writer.end(index)

    def _go_on(self, partial: PartialCall, call: _Call) -> None:
        for piece in call.partial_args or ():
            partial.take(piece)
        if not call.will_continue:
            self._end_partial(unfinished=False)

    def _end_partial(self, *, unfinished: bool) -> None:
        """Close the call whose arguments came in pieces."""
        partial, self._partial = self._partial, None
        if partial is not None:
            self._writer.call_args(partial.index, partial.text())
            self._writer.end(partial.index, unfinished=unfinished)

    def _own(self, part: _Part, raw: dict[str, Any]) -> None:
        """Code the vendor ran, what that gave, pictures, and what we only keep."""
        signature = raw.pop("thoughtSignature", None)
        kinds = [key for key in raw if key not in ("thought", "partMetadata", "videoMetadata")]
        if not kinds:
            if isinstance(signature, str) and signature:
                self._sign(self._newest(), signature)
            return
        kind = kinds[0]
        code = {"executableCode": "code_execution", "codeExecutionResult": ""}
        index = self._writer.whole(
            "server_tool" if kind in code or kind.startswith("tool") else "vendor",
            code.get(kind, kind),
            json_text(raw),
            _inner_id(raw[kind]),
        )
        self._writer.keep(index, PART, NULL, "parts")
        if isinstance(signature, str) and signature:
            self._sign(index, signature)
        self._writer.end(index)

    # -- the end

    def _finish_with(self, raw: str, data: bytes) -> None:
        candidate = _candidate(data)
        message = candidate.get("finishMessage")
        detail = message if isinstance(message, str) else None
        self._cite(candidate.get("groundingMetadata"))
        if raw in _BROKEN:
            told = {"code": raw, "message": detail or raw, "type": "invalid_argument"}
            self._fail(failure_from_object({"error": told}, 200))
            return
        reason = _FINISH.get(raw, "unknown")
        if reason == "stop" and self._calls:
            reason = "tool_calls"
        self._set_finish(reason, raw, detail)

    def _cite(self, grounding: Any) -> None:
        found = cast("dict[str, Any]", grounding) if isinstance(grounding, dict) else {}
        if self._writer.open_text is None:
            return
        for source in dicts(found.get("groundingChunks")):
            if isinstance(source.get("web"), dict):
                named = cast("dict[str, Any]", source["web"])
                url, title = named.get("uri"), named.get("title")
                self._writer.cite(
                    Citation(
                        url=url if isinstance(url, str) else None,
                        title=title if isinstance(title, str) else None,
                        raw=json_text(source),
                    )
                )

    def _blocked(self, feedback: Any) -> None:
        told = cast("dict[str, Any]", feedback) if isinstance(feedback, dict) else {}
        reason = told.get("blockReason")
        if isinstance(reason, str):
            message = told.get("blockReasonMessage")
            detail = message if isinstance(message, str) else None
            self._set_finish("content_filter", reason, detail)

    def _tail(self, reason: FinishReason | None) -> None:
        self._end_partial(unfinished=reason in (None, "length"))
        super()._tail(reason)

    def _whole(self, body: bytes) -> None:
        """One document, or the array of them that the endpoint streams without `alt=sse`."""
        if body[:1] == b"[":
            for item in msgspec.json.decode(body, type=list[msgspec.Raw]):
                if not self._over:
                    self._payload(b"", bytes(item))
            return
        self._whole_answer = True
        self._payload(b"", body)
        if not self._over and self._finish is None:
            if self._writer.last is None:
                self._fail(bad_data(f"no {self._dialect} answer: it has no candidates"))
            else:
                self._set_finish("unknown", None)


def _candidate(data: bytes) -> dict[str, Any]:
    """The first candidate as it came."""
    found = dicts(_any(data).get("candidates"))
    return found[0] if found else {}


def _raw_part(data: bytes, place: int) -> dict[str, Any]:
    """A part of the first candidate as it came."""
    content = _candidate(data).get("content")
    parts = cast("dict[str, Any]", content).get("parts") if isinstance(content, dict) else None
    return dict(dicts(parts)[place])


def _inner_id(value: Any) -> str | None:
    found = cast("dict[str, Any]", value).get("id") if isinstance(value, dict) else None
    return found if isinstance(found, str) else None
