"""The blocks of a model call while they stream: what is shown so far, and the parts they become."""

from typing import Literal

import msgspec

from silu.types import events as ev
from silu.types.facts import DeltaKind
from silu.types.parts import (
    Continuity,
    Message,
    Part,
    ServerToolPart,
    TextPart,
    ThinkingKind,
    ThinkingPart,
    ToolCallPart,
    VendorPart,
)

ShownKind = Literal["thinking", "content", "tool_call", "other"]

_SHOWN: dict[ev.BlockKind, ShownKind] = {
    "thinking": "thinking",
    "text": "content",
    "tool_call": "tool_call",
    "server_tool": "other",
    "vendor": "other",
}


_PARTS: dict[ev.BlockKind, type[Part]] = {
    "thinking": ThinkingPart,
    "text": TextPart,
    "tool_call": ToolCallPart,
    "server_tool": ServerToolPart,
    "vendor": VendorPart,
}


class Block:
    """One block. `length` counts code points; times are milliseconds since 1970 UTC."""

    __slots__ = (
        "announced",
        "call_id",
        "data",
        "delta_kind",
        "ended_at",
        "id",
        "kind",
        "length",
        "name",
        "pieces",
        "raw_kind",
        "started_at",
        "thinking_kind",
    )

    def __init__(self, block_id: str, start: ev.BlockStart, now: int) -> None:
        self.id = block_id
        self.raw_kind: ev.BlockKind = start.kind
        self.kind: ShownKind = _SHOWN[start.kind]
        self.delta_kind: DeltaKind = "thinking" if self.kind == "thinking" else "content"
        self.thinking_kind: ThinkingKind = start.thinking_kind or "full"
        self.started_at = now
        self.ended_at: int | None = None
        self.announced = False
        self.length = 0
        self.pieces: list[str] = []
        self.call_id = ""
        self.name = ""
        self.data = ""

    @property
    def duration(self) -> int | None:
        return None if self.ended_at is None else max(0, self.ended_at - self.started_at)

    def part(self) -> Part:
        text = "".join(self.pieces)
        match self.raw_kind:
            case "thinking":
                return ThinkingPart(
                    id=self.id,
                    text=text,
                    kind=self.thinking_kind,
                    started_at=self.started_at,
                    duration_ms=self.duration,
                )
            case "text":
                return TextPart(id=self.id, text=text)
            case "tool_call":
                return ToolCallPart(
                    id=self.id, call_id=self.call_id, name=self.name, arguments=text
                )
            case "server_tool":
                call_id = self.call_id or None
                return ServerToolPart(id=self.id, name=self.name, data=self.data, call_id=call_id)
            case "vendor":
                return VendorPart(id=self.id, kind=self.name, data=self.data)

    def reroute(self, kind: Literal["thinking", "text"]) -> None:
        """What was shown moves to the other kind, with its text and its id."""
        self.raw_kind = kind
        self.kind = _SHOWN[kind]
        self.delta_kind = "thinking" if kind == "thinking" else "content"
        self.thinking_kind = "tagged"


def finished_message(
    kept: Message, blocks: list[Block], *, message_id: str, reasoning_tokens: int | None
) -> Message:
    """The client's message under our ids: those the blocks were streamed with.

    `kept` has the whole of each part and the continuity; the blocks have ids and server times.
    """
    waiting = list(blocks)
    renamed: dict[str, str] = {}
    parts: list[Part] = []
    for at, part in enumerate(kept.parts):
        mate = next((b for b in waiting if _PARTS[b.raw_kind] is type(part)), None)
        if mate is None:
            new: Part = msgspec.structs.replace(part, id=f"{message_id}.x{at}")
        else:
            waiting.remove(mate)
            new = _adopted(part, mate)
        if part.id:
            renamed[part.id] = new.id
        parts.append(new)
    _count_thought(parts, reasoning_tokens)
    return msgspec.structs.replace(
        kept, id=message_id, parts=parts, continuity=[_moved(c, renamed) for c in kept.continuity]
    )


def _adopted(part: Part, block: Block) -> Part:
    if isinstance(part, ThinkingPart):
        return msgspec.structs.replace(
            part, id=block.id, started_at=block.started_at, duration_ms=block.duration
        )
    if isinstance(part, ToolCallPart):
        # The call id clients were told is the one results are filed under.
        return msgspec.structs.replace(part, id=block.id, call_id=block.call_id or part.call_id)
    return msgspec.structs.replace(part, id=block.id)


def _moved(continuity: Continuity, renamed: dict[str, str]) -> Continuity:
    if continuity.part is None:
        return continuity
    return msgspec.structs.replace(continuity, part=renamed.get(continuity.part, continuity.part))


def _count_thought(parts: list[Part], tokens: int | None) -> None:
    """Vendors tell one count a call: it belongs to a thought only when there is just one."""
    thoughts = [part for part in parts if isinstance(part, ThinkingPart)]
    if len(thoughts) == 1 and thoughts[0].tokens is None:
        thoughts[0].tokens = tokens
