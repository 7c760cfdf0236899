"""openai-responses answers: items as they grow, and the whole response object."""

from typing import Any

import msgspec

from silu.types import events as ev
from silu.types.errors import Failure
from silu.types.usage import Usage, merge
from silu.wire.serve.errors import chat_error, dump, status_of
from silu.wire.serve.options import ServeOptions, sse


def usage_object(usage: Usage) -> dict[str, Any]:
    """The dialect's usage object."""
    read, out = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": usage.cache_read_tokens or 0},
        "output_tokens": out,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": read + out,
    }


class _Item:
    """An output item while it grows; `body` is what it is so far."""

    __slots__ = ("begun", "body", "kind", "slot", "summary", "text")

    def __init__(self, slot: int, kind: str, *, summary: bool) -> None:
        self.slot = slot
        self.kind = kind
        self.summary = summary
        self.begun = False
        self.text = ""
        self.body: dict[str, Any] = {}


class ResponsesWriter:
    """One response, streamed or whole. A thought of kind `full` goes out as `reasoning_text`, any
    other as a summary; continuity data of field `encrypted_content` seals it."""

    status = 200

    def __init__(self, options: ServeOptions, *, stream: bool) -> None:
        self.content_type = "text/event-stream" if stream else "application/json"
        self._options = options
        self._stream = stream
        self._model = options.model
        self._id = options.response_id
        self._usage: Usage | None = None
        self._finish: ev.Finish | None = None
        self._failure: Failure | None = None
        self._count = 0
        self._begun = False
        self._items: dict[int, _Item] = {}

    def feed(self, event: ev.StreamEvent) -> bytes:
        match event:
            case ev.BlockStart():
                summary = event.thinking_kind != "full"
                item = _Item(len(self._items), event.kind, summary=summary)
                self._items[event.index] = item
            case ev.ThinkingDelta() | ev.TextDelta() | ev.ToolCallDelta():
                return self._grow(self._items[event.index], event)
            case ev.ContinuityData():
                return self._seal(event)
            case ev.BlockEnd():
                return self._end(self._items[event.index])
            case ev.VendorFailure():
                return self._fail(event.failure)
            case ev.Keepalive():
                return b": keep-alive\n\n" if self._stream else b""
            case _:
                self._note(event)
        return b""

    def close(self) -> bytes:
        if self._failure is not None:
            if self._stream:
                return b""
            self.status = status_of(self._failure)
            return dump(chat_error(self._failure))
        reason = self._finish.reason if self._finish else "unknown"
        cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(reason)
        body = self._response("incomplete" if cut else "completed")
        body["incomplete_details"] = {"reason": cut} if cut else None
        if not self._stream:
            return dump(body)
        kind = "response.incomplete" if cut else "response.completed"
        return self._head() + self._event(kind, response=body)

    def _note(self, event: ev.StreamEvent) -> None:
        match event:
            case ev.UsageReport():
                self._usage = merge(self._usage or Usage(), event.usage)
            case ev.Finish():
                self._finish = event
            case ev.Served():
                self._model = event.model or self._model
                self._id = event.response_id or self._id
            case _:
                pass

    def _response(self, status: str) -> dict[str, Any]:
        done = [item.body for item in self._items.values()]
        usage = None
        if status in ("completed", "incomplete") and self._usage is not None:
            usage = (self._options.shape_usage or usage_object)(self._usage)
        return {
            "id": self._id,
            "object": "response",
            "created_at": self._options.created,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "model": self._model,
            **self._options.extra,
            "output": [] if status == "in_progress" else [body for body in done if body],
            "usage": usage,
        }

    def _event(self, kind: str, **fields: Any) -> bytes:
        body = {"type": kind, "sequence_number": self._count, **fields}
        self._count += 1
        return sse(dump(body), kind)

    def _head(self) -> bytes:
        if self._begun:
            return b""
        self._begun = True
        started = self._response("in_progress")
        return self._event("response.created", response=started) + self._event(
            "response.in_progress", response=started
        )

    # -- items -----------------------------------------------------------------------------

    def _name(self, item: _Item) -> str:
        prefix = {"thinking": "rs", "text": "msg", "tool_call": "fc"}.get(item.kind, "it")
        return f"{prefix}_{self._id.replace('-', '_')}_{item.slot}"

    def _begin(self, item: _Item, call: ev.ToolCallDelta | None = None) -> bytes:
        """The item's opening; it is written with its first content."""
        item.begun = True
        name = self._name(item)
        match item.kind:
            case "thinking":
                item.body = {"type": "reasoning", "id": name, "summary": []}
            case "text":
                item.body = {"type": "message", "id": name, "role": "assistant", "content": []}
            case _:
                item.body = {"type": "function_call", "id": name, "arguments": ""}
                if call is not None:
                    item.body |= {"call_id": call.id, "name": call.name}
        if not self._stream:
            return b""
        added = {**item.body, "status": "in_progress"}
        opened = self._event("response.output_item.added", output_index=item.slot, item=added)
        return self._head() + opened + self._part(item, "added", "")

    def _part(self, item: _Item, when: str, text: str) -> bytes:
        """The opening or the end of the part that an item's text stands in."""
        where = {"item_id": self._name(item), "output_index": item.slot}
        if item.kind == "text":
            part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
            return self._event(f"response.content_part.{when}", **where, content_index=0, part=part)
        if item.kind == "thinking" and item.summary:
            part = {"type": "summary_text", "text": text}
            kind = f"response.reasoning_summary_part.{when}"
            return self._event(kind, **where, summary_index=0, part=part)
        return b""

    def _grow(
        self, item: _Item, event: ev.ThinkingDelta | ev.TextDelta | ev.ToolCallDelta
    ) -> bytes:
        call = event if isinstance(event, ev.ToolCallDelta) else None
        head = b"" if item.begun else self._begin(item, call)
        piece = event.args_delta if isinstance(event, ev.ToolCallDelta) else event.text
        item.text += piece
        if not self._stream or (call is not None and not piece):
            return head
        where = {"item_id": self._name(item), "output_index": item.slot, "delta": piece}
        match item.kind:
            case "thinking" if item.summary:
                kind = "response.reasoning_summary_text.delta"
                return head + self._event(kind, **where, summary_index=0)
            case "thinking":
                kind = "response.reasoning_text.delta"
                return head + self._event(kind, **where, content_index=0)
            case "text":
                return head + self._event("response.output_text.delta", **where, content_index=0)
            case _:
                return head + self._event("response.function_call_arguments.delta", **where)

    def _seal(self, event: ev.ContinuityData) -> bytes:
        if event.index is None or event.data == "null" or not self._options.opaque:
            return b""
        item = self._items[event.index]
        head = b""
        if not item.begun:
            # A thought whose text is withheld: the item has no parts.
            item.summary = False
            head = self._begin(item)
        item.body[event.field] = msgspec.Raw(event.data.encode())
        return head

    def _end(self, item: _Item) -> bytes:
        head = b""
        if not item.begun:
            if item.kind != "thinking":
                return b""
            # A thought of which nothing is shown is still an item.
            item.summary = False
            head = self._begin(item)
        text = item.text
        where = {"item_id": self._name(item), "output_index": item.slot}
        done = b""
        match item.kind:
            case "thinking" if item.summary:
                item.body["summary"] = [{"type": "summary_text", "text": text}]
                kind = "response.reasoning_summary_text.done"
                done = self._done(kind, **where, summary_index=0, text=text)
            case "thinking" if text:
                item.body["content"] = [{"type": "reasoning_text", "text": text}]
                kind = "response.reasoning_text.done"
                done = self._done(kind, **where, content_index=0, text=text)
            case "text":
                part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": []}
                item.body |= {"content": [part], "status": "completed"}
                kind = "response.output_text.done"
                done = self._done(kind, **where, content_index=0, text=text)
            case "tool_call":
                item.body |= {"arguments": text, "status": "completed"}
                kind = "response.function_call_arguments.done"
                done = self._done(kind, **where, arguments=text)
            case _:
                pass
        if not self._stream:
            return b""
        closed = self._event("response.output_item.done", output_index=item.slot, item=item.body)
        return head + done + self._part(item, "done", text) + closed

    def _done(self, kind: str, **fields: Any) -> bytes:
        return self._event(kind, **fields) if self._stream else b""

    def _fail(self, failure: Failure) -> bytes:
        self._failure = failure
        if not self._stream:
            return b""
        body = self._response("failed")
        code = chat_error(failure)["error"]["code"] or "server_error"
        body["error"] = {"code": code, "message": failure.message}
        return self._head() + self._event("response.failed", response=body)
