"""From stream events to a message: the one place where deltas become parts."""

import time
from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from silu.types import events as ev
from silu.types.errors import Failure
from silu.types.parts import (
    Citation,
    Continuity,
    Message,
    Origin,
    Part,
    ServerToolPart,
    TextPart,
    ThinkingKind,
    ThinkingPart,
    ToolCallPart,
    VendorPart,
)
from silu.types.usage import Usage, merge


def wall_ms() -> int:
    """Now, in milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


class _Block:
    __slots__ = (
        "args",
        "call_id",
        "citations",
        "data",
        "ended_at",
        "id",
        "kind",
        "name",
        "started_at",
        "text",
        "thinking_kind",
        "unfinished",
    )

    def __init__(self, block_id: str, start: ev.BlockStart, now: int) -> None:
        self.id = block_id
        self.kind: ev.BlockKind = start.kind
        self.thinking_kind: ThinkingKind = start.thinking_kind or "full"
        self.started_at = now
        self.ended_at: int | None = None
        self.unfinished = False
        self.text: list[str] = []
        self.args: list[str] = []
        self.call_id = ""
        self.name = ""
        self.data = ""
        self.citations: list[Citation] = []


_TEXT = (ev.TextDelta, ev.ThinkingDelta)


class MessageBuilder:
    """Feeds on the events of one model call; `message()` gives what has arrived so far.

    `new_id` names the parts, `clock` gives milliseconds. `started_at`, where given, is when the
    request was sent: the first thinking block counts from it, because a silent vendor thinks too.
    """

    def __init__(
        self,
        origin: Origin,
        *,
        new_id: Callable[[], str],
        clock: Callable[[], int] = wall_ms,
        started_at: int | None = None,
    ) -> None:
        self.origin = origin
        self.usage = Usage()
        self.finish: ev.Finish | None = None
        self.failure: Failure | None = None
        self.response_id: str | None = None
        self.answering = False
        """True once a block of answer text was begun."""
        self._new_id = new_id
        self._clock = clock
        self._waiting_since = started_at
        self._blocks: dict[int, _Block] = {}
        self._continuity: list[tuple[int | None, ev.ContinuityData]] = []

    def block_id(self, index: int) -> str:
        """The id of the part that block `index` becomes."""
        return self._blocks[index].id

    @property
    def next_index(self) -> int:
        """The number a further block would have."""
        return max(self._blocks, default=-1) + 1

    def feed(self, event: ev.StreamEvent) -> None:
        self.feed_all((event,))

    def feed_all(self, events: Sequence[ev.StreamEvent]) -> None:
        """The events of one network read, in order."""
        blocks = self._blocks
        for event in events:
            # Plain comparisons for what comes a thousand times an answer, a match for the rest.
            if isinstance(event, _TEXT):
                blocks[event.index].text.append(event.text)
            elif isinstance(event, ev.ToolCallDelta):
                self._call(event)
            else:
                self._feed(event)

    def _feed(self, event: ev.StreamEvent) -> None:
        match event:
            case ev.BlockStart():
                self._open(event)
            case ev.BlockEnd():
                block = self._blocks[event.index]
                block.ended_at = self._clock()
                block.unfinished = event.unfinished
            case ev.BlockData():
                block = self._blocks[event.index]
                block.name, block.data = event.name, event.data
                block.call_id = event.call_id or ""
            case ev.CitationData():
                self._blocks[event.index].citations.append(event.citation)
            case ev.ContinuityData():
                self._continuity.append((event.index, event))
            case ev.Reroute():
                self._reroute(event)
            case ev.Served():
                self._served(event)
            case ev.UsageReport():
                self.usage = merge(self.usage, event.usage)
            case ev.Finish():
                self.finish = event
            case ev.VendorFailure():
                self.failure = event.failure
            case _:
                pass

    @property
    def interrupted(self) -> bool:
        """True unless the vendor ended the answer by itself, without an error, and the limit did
        not fall into a thought or a call (F114): such an answer is kept for people only."""
        if self.failure is not None or self.finish is None:
            return True
        if self.finish.reason != "length" or not self._blocks:
            return False
        last = self._blocks[max(self._blocks)]
        if last.kind == "thinking":
            return True
        return last.kind == "tool_call" and (last.unfinished or not _is_json("".join(last.args)))

    def message(self) -> Message:
        """The assistant message so far, parts in order, continuity with its origin."""
        parts: list[Part] = []
        for index in sorted(self._blocks):
            part = self._part(self._blocks[index])
            if part is not None:
                parts.append(part)
        return Message(
            role="assistant",
            parts=parts,
            continuity=[self._kept(index, data) for index, data in self._continuity],
            interrupted=self.interrupted,
        )

    def _call(self, event: ev.ToolCallDelta) -> None:
        block = self._blocks[event.index]
        block.call_id = block.call_id or event.id
        block.name = block.name or event.name
        block.args.append(event.args_delta)

    def _open(self, start: ev.BlockStart) -> None:
        now = self._clock()
        first_thought = start.kind == "thinking" and self._waiting_since is not None
        self._blocks[start.index] = _Block(
            self._new_id(), start, self._waiting_since or now if first_thought else now
        )
        self._waiting_since = None
        self.answering = self.answering or start.kind == "text"

    def _reroute(self, event: ev.Reroute) -> None:
        block = self._blocks[event.index]
        block.kind = event.kind
        self.answering = self.answering or event.kind == "text"
        block.thinking_kind = "tagged"

    def _served(self, event: ev.Served) -> None:
        self.response_id = event.response_id or self.response_id
        if event.model and event.model != self.origin.served_model:
            self.origin = replace(self.origin, served_model=event.model)

    def _kept(self, index: int | None, data: ev.ContinuityData) -> Continuity:
        part = self._blocks[index].id if index is not None and index in self._blocks else None
        origin = replace(self.origin, field=data.field)
        return Continuity(part=part, kind=data.kind, data=data.data, origin=origin)

    def _part(self, block: _Block) -> Part | None:
        match block.kind:
            case "text":
                text = "".join(block.text)
                return TextPart(id=block.id, text=text, citations=block.citations)
            case "thinking":
                ended = block.ended_at
                return ThinkingPart(
                    id=block.id,
                    text="".join(block.text),
                    kind=block.thinking_kind,
                    started_at=block.started_at,
                    duration_ms=None if ended is None else max(0, ended - block.started_at),
                )
            case "tool_call":
                return ToolCallPart(
                    id=block.id,
                    call_id=block.call_id,
                    name=block.name,
                    arguments="".join(block.args),
                )
            case "server_tool":
                return ServerToolPart(
                    id=block.id,
                    name=block.name,
                    data=block.data,
                    call_id=block.call_id or None,
                )
            case "vendor":
                return VendorPart(id=block.id, kind=block.name, data=block.data)


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text or "{}")
    except (msgspec.DecodeError, RecursionError):
        return False
    return True
