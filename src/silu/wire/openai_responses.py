"""OpenAI Responses, first-party and compatible: reading answers.

An answer is a list of items; a whole answer is read as if each item came at its end. Items are
known by their place (`output_index`): some hosts change item ids from event to event. The
summary parts of one reasoning item are one thought, with a blank line between (F021, F171).
"""

from typing import Any, cast

import msgspec

from silu.types.events import FinishReason, Keepalive, Served, UsageReport, VendorNote
from silu.types.parts import Citation
from silu.types.rules import DecodeRules
from silu.wire import usage as counts
from silu.wire.base import BaseDecoder
from silu.wire.blocks import NULL, json_text
from silu.wire.errors import bad_data, cut, failure_from_object
from silu.wire.loose import loosely
from silu.wire.openai_responses_forms import (
    Event,
    Item,
    OpenItem,
    Response,
    call_text,
    read_any,
    read_event,
    read_item,
    read_response,
    string,
    texts,
)
from silu.wire.tool_calls import is_json, made_id

REASONING_ITEM = "reasoning_item"
"""Continuity kind: a whole reasoning item; message-level where the item showed nothing."""

CALL_ITEM = "call_item"
"""Continuity kind: what a call's item says beside id, name and arguments of the call."""

MESSAGE_ITEM = "message_item"
"""Continuity kind: a message item's id and phase."""

ITEM = "item"
"""Continuity kind: an item the vendor made by itself; its raw JSON where it holds sealed data."""


_EMPTY = (b"", b"null")


def make_decoder(rules: DecodeRules, streaming: bool, status: int) -> "ResponsesDecoder":
    return ResponsesDecoder(rules, streaming=streaming, status=status)


class ResponsesDecoder(BaseDecoder):
    _dialect = "openai-responses"

    def __init__(self, rules: DecodeRules, *, streaming: bool, status: int) -> None:
        super().__init__(rules, streaming=streaming, status=status)
        self._items: dict[int, OpenItem] = {}
        self._unsealed: dict[str, tuple[int | None, str]] = {}
        self._seed = rules.call_seed
        self._calls = 0
        self._served = False
        self._refused: list[str] = []

    # -- events

    def _payload(self, name: bytes, data: bytes) -> None:
        if data == b"[DONE]" or not data.strip():
            return
        try:
            event = read_event(data)
        except msgspec.ValidationError:
            event = loosely(Event, data)
        # The event's name says the same as the type inside it; some proxies leave one of them out.
        kind = event.type or name.decode("utf-8", "replace")
        if kind == "response.output_text.delta":
            if event.delta:
                self._text(event, event.delta)
        elif kind == "response.reasoning_summary_text.delta":
            if event.delta:
                self._think(event, event.delta, "summary")
        elif kind == "response.reasoning_text.delta":
            if event.delta:
                self._think(event, event.delta, "reasoning_text")
        elif kind == "response.function_call_arguments.delta":
            if event.delta:
                self._arguments(event, event.delta)
        else:
            self._other(kind, event, name, data)

    def _other(self, kind: str, event: Event, name: bytes, data: bytes) -> None:
        match kind:
            case "response.output_item.added":
                self._added(event)
            case "response.output_item.done":
                if bytes(event.item) not in _EMPTY:
                    self._done(self._place(event), event.item)
            case "response.content_part.done":
                self._writer.end_text()
            case "response.refusal.delta":
                self._refused.append(event.delta or "")
                self._text(event, event.delta or "")
            case "response.created" | "response.in_progress" | "response.queued":
                self._introduce(event.response)
            case "response.completed" | "response.incomplete" | "response.done":
                self._complete(event.response)
            case "response.failed" | "response.cancelled":
                self._failed(event.response)
            case "keepalive" | "ping":
                self._emit(Keepalive())
            case _:
                if kind == "error" or name == b"error" or (not kind and b'"error"' in data):
                    self._fail(failure_from_object(read_any(data), self._status))

    def _place(self, event: Event) -> int:
        if event.output_index is not None:
            return event.output_index
        return max(self._items, default=0)

    def _opened(self, place: int) -> OpenItem:
        found = self._items.get(place)
        if found is None:
            found = self._items[place] = OpenItem()
        return found

    # -- pieces of items

    def _text(self, event: Event, text: str) -> None:
        opened = self._opened(self._place(event))
        opened.text = True
        if text:
            self._writer.text(text)

    def _think(self, event: Event, text: str, field: str) -> None:
        """Reasoning text or a summary of it: of an item that sends both, the one it began with."""
        opened = self._opened(self._place(event))
        if opened.field and opened.field != field:
            return
        part = event.summary_index if field == "summary" else event.content_index
        if opened.field and part is not None and part != opened.part:
            text = "\n\n" + text
        opened.field = field
        opened.part = opened.part if part is None else part
        self._writer.summary = self._rules.summary or field == "summary"
        opened.thought = self._writer.thinking(text, field)

    def _arguments(self, event: Event, piece: str) -> None:
        opened = self._opened(self._place(event))
        """Pieces of a call that was not announced wait for its name."""
        opened.args.append(piece)
        if opened.block >= 0:
            self._writer.call_args(opened.block, piece)

    def _added(self, event: Event) -> None:
        if bytes(event.item) in _EMPTY:
            return
        item = read_item(event.item)
        opened = self._opened(self._place(event))
        opened.id = item.id or item.item_id or ""
        if item.type == "function_call" and opened.block < 0:
            self._open_call(opened, item)

    def _open_call(self, opened: OpenItem, item: Item) -> None:
        call_id = item.call_id or item.id or made_id(self._seed, self._calls)
        self._calls += 1
        opened.block = self._writer.call(call_id, item.name or "", "".join(opened.args))

    # -- whole items

    def _done(self, place: int, raw: msgspec.Raw) -> None:
        opened = self._opened(place)
        if opened.done:
            return
        opened.done = True
        item = read_item(raw)
        match item.type:
            case "reasoning":
                self._reasoning(opened, item, raw)
            case "message":
                self._message(opened, item)
            case "function_call" | "custom_tool_call":
                self._call(opened, item)
            case _:
                self._own(item, raw)

    def _reasoning(self, opened: OpenItem, item: Item, raw: msgspec.Raw) -> None:
        if opened.thought < 0:
            full, summary = texts(item.content), texts(item.summary)
            self._writer.summary = self._rules.summary or not full
            text, field = (full, "reasoning_text") if full else (summary, "summary")
            if text:
                opened.thought = self._writer.thinking(text, field)
            elif item.encrypted_content:
                opened.thought = self._writer.hidden_thinking("redacted")
        self._writer.end_thinking()
        index = opened.thought if opened.thought >= 0 else None
        data = bytes(raw).decode()
        if item.encrypted_content or not item.id:
            self._writer.keep(index, REASONING_ITEM, data, "reasoning")
        else:
            # Azure may bring the sealed text with the last event only (vendors.md §2.2).
            self._unsealed[item.id] = (index, data)

    def _message(self, opened: OpenItem, item: Item) -> None:
        if not opened.text:
            for part in item.content or ():
                if isinstance(part, dict):
                    self._content(cast("dict[str, Any]", part))
        elif self._writer.open_text is not None:
            for part in item.content or ():
                if isinstance(part, dict):
                    self._cite(cast("dict[str, Any]", part))
        self._writer.end_text()
        if item.id or item.phase:
            named = {"id": item.id, "phase": item.phase}
            told = {key: value for key, value in named.items() if value}
            self._writer.keep(self._writer.last, MESSAGE_ITEM, json_text(told), "message")

    def _content(self, part: dict[str, Any]) -> None:
        if part.get("type") == "refusal":
            self._refused.append(string(part.get("refusal")))
            self._writer.text(string(part.get("refusal")))
        else:
            text = string(part.get("text"))
            if text:
                self._writer.text(text)
            self._cite(part)
        self._writer.end_text()

    def _cite(self, part: dict[str, Any]) -> None:
        found = part.get("annotations")
        for item in cast("list[Any]", found) if isinstance(found, list) else ():
            if not isinstance(item, dict):
                continue
            named = cast("dict[str, Any]", item)
            self._writer.cite(
                Citation(
                    url=string(named.get("url")) or None,
                    title=string(named.get("title") or named.get("filename")) or None,
                    raw=json_text(named),
                )
            )

    def _call(self, opened: OpenItem, item: Item) -> None:
        if opened.block < 0:
            self._open_call(opened, item)
        whole = call_text(item)
        shown = "".join(opened.args)
        if whole.startswith(shown):
            rest = whole[len(shown) :]
            if rest:
                self._writer.call_args(opened.block, rest)
                opened.args.append(rest)
        told = {"id": item.id or item.item_id, "namespace": item.namespace}
        if item.type != "function_call":
            told["type"] = item.type
        data = json_text({key: value for key, value in told.items() if value})
        self._writer.keep(opened.block, CALL_ITEM, data, item.type)
        self._end_call(opened)

    def _end_call(self, opened: OpenItem) -> None:
        unfinished = not is_json("".join(opened.args) or "{}")
        self._writer.end(opened.block, unfinished=unfinished)
        opened.block = -1

    def _own(self, item: Item, raw: msgspec.Raw) -> None:
        """An item the vendor made by itself: a tool it ran, what that gave, a compaction."""
        data = bytes(raw).decode()
        run = item.type.endswith(("_call", "_call_output", "_output"))
        kind = "server_tool" if run else "vendor"
        name = item.type if not run or item.type.endswith("_call") else ""
        index = self._writer.whole(kind, name, data, item.call_id or item.id)
        self._writer.keep(index, ITEM, data if item.encrypted_content else NULL, "output")
        self._writer.end(index)

    # -- the response

    def _introduce(self, raw: msgspec.Raw) -> None:
        if not self._served and bytes(raw) not in _EMPTY:
            self._serve(read_response(raw))

    def _serve(self, response: Response) -> None:
        if not self._served and (response.model or response.id):
            self._served = True
            self._seed = self._seed or response.id or ""
            self._emit(Served(response.model or None, response.id or None))

    def _complete(self, raw: msgspec.Raw) -> None:
        if bytes(raw) in _EMPTY:
            self._set_finish("unknown", None)
        else:
            self._ended(read_response(raw), raw)
        self._terminate()

    def _ended(self, response: Response, raw: msgspec.Raw) -> None:
        self._serve(response)
        if response.status in ("failed", "cancelled"):
            self._failed(raw)
            return
        output = response.output or []
        by_id = {item.id: item for item in map(read_item, output) if item.type == "reasoning"}
        for place, item in enumerate(output):
            known = self._items.get(place)
            if known is None or not known.done:
                self._done(place, item)
        self._seal(by_id)
        if response.usage:
            self._emit(UsageReport(counts.responses(response.usage)))
        self._transformed(response.input_transformations)
        if self._half_a_call():
            self._fail(cut("a tool call was not complete"))
            return
        self._finish_with(response)

    def _seal(self, by_id: dict[str | None, Item]) -> None:
        """Keep the reasoning items that came unsealed, sealed where the last event does it."""
        for name, (index, data) in self._unsealed.items():
            last = by_id.get(name)
            if last is None or not last.encrypted_content:
                self._writer.keep(index, REASONING_ITEM, data, "reasoning")
                continue
            whole = cast("dict[str, Any]", read_any(data))
            whole["encrypted_content"] = last.encrypted_content
            self._keep_sealed(index, json_text(whole))
        self._unsealed.clear()

    def _keep_sealed(self, index: int | None, data: str) -> None:
        if index is None:
            index = self._writer.hidden_thinking("redacted")
            self._writer.keep(index, REASONING_ITEM, data, "reasoning")
            self._writer.end_thinking()
        else:
            self._writer.keep(index, REASONING_ITEM, data, "reasoning")

    def _half_a_call(self) -> bool:
        return any(
            (opened.block >= 0 or opened.waits) and not is_json("".join(opened.args) or "{}")
            for opened in self._items.values()
        )

    def _finish_with(self, response: Response) -> None:
        raw = response.status or "completed"
        reason: FinishReason = "stop"
        details = response.incomplete_details
        why = cast("dict[str, Any]", details).get("reason") if isinstance(details, dict) else None
        if raw == "incomplete":
            raw = f"incomplete:{why}" if why else raw
            reason = "content_filter" if why == "content_filter" else "length"
        elif self._calls:
            reason = "tool_calls"
        elif self._refused:
            reason = "refusal"
        self._set_finish(reason, raw, "".join(self._refused) or None)

    def _transformed(self, items: list[Any] | None) -> None:
        for item in items or ():
            if isinstance(item, dict):
                told = cast("dict[str, Any]", item)
                kind = f"{string(told.get('type'))}_{string(told.get('action'))}"
                path = string(told.get("id")) or None
                self._emit(VendorNote(kind, path, string(told.get("reason")) or None))

    def _failed(self, raw: msgspec.Raw) -> None:
        told = None if bytes(raw) in _EMPTY else read_response(raw).error
        if told is None:
            self._fail(failure_from_object({"error": {"message": "the response failed"}}, 200))
        else:
            self._fail(failure_from_object({"error": told}, self._status))

    def _whole(self, body: bytes) -> None:
        response = read_response(body)
        if response.output is None or (response.error and response.status != "incomplete"):
            if response.error is None:
                self._fail(bad_data(f"no {self._dialect} answer: it has no output"))
            else:
                self._fail(failure_from_object(read_any(body), self._status))
            return
        self._ended(response, msgspec.Raw(body))
        self._terminate()

    def _tail(self, reason: FinishReason | None) -> None:
        for opened in self._items.values():
            if opened.waits:
                self._open_call(opened, Item())
            if opened.block >= 0:
                self._end_call(opened)
        for index, data in self._unsealed.values():
            self._writer.keep(index, REASONING_ITEM, data, "reasoning")
        self._unsealed.clear()
        self._writer.finish(reason)
