"""Messages as clients see them: segments in order, tool results beside their calls, and never
any opaque data."""

from typing import Any, NamedTuple

import msgspec

from silu.store.codec import unpack_parts
from silu.store.escaping import unescape
from silu.types.facts import Attached
from silu.types.frames import MessageView, Segment
from silu.types.own_tools import asked_of
from silu.types.parts import (
    FilePart,
    ImagePart,
    Message,
    NoticePart,
    Part,
    ServerToolPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    VendorPart,
)

_SUMMARY_CHARS = 2000
_metadata = msgspec.json.Decoder(dict[str, Any])


class StoredMessage(NamedTuple):
    """A message's row as a page reads it."""

    seq: int
    id: str
    role: str
    parts: str
    thinking_content: str | None
    interrupted: bool
    metadata: str | None
    created_at: int
    run_id: str | None
    attempt: int


def view_page(rows: list[StoredMessage]) -> list[MessageView]:
    """Views of a stretch of history, oldest first; `tool` messages go into the segments of the
    calls they answer and do not stand alone."""
    views: list[MessageView] = []
    calls: dict[str, Segment] = {}
    for row in rows:
        parts = unpack_parts(row.parts, row.thinking_content)
        if row.role == "tool":
            _answer(calls, parts)
            continue
        view = _view(row, parts)
        for segment in view.segments:
            if segment.call_id and segment.type == "tool":
                calls[segment.call_id] = segment
        views.append(view)
    return views


def _view(row: StoredMessage, parts: list[Part]) -> MessageView:
    segments = [_segment(part) for part in parts]
    interrupted = bool(row.interrupted)
    if interrupted and segments:
        segments[-1].interrupted = True
    metadata: dict[str, Any] = _metadata.decode(row.metadata) if row.metadata else {}
    if interrupted:
        metadata["interrupted"] = True
    if row.role == "assistant":
        metadata["attempt"] = row.attempt
    thinking = row.thinking_content
    return MessageView(
        id=row.id,
        role=row.role,
        content="".join(part.text for part in parts if isinstance(part, TextPart)),
        thinking_content=None if thinking is None else unescape(thinking),
        segments=segments,
        metadata=metadata,
        created_at=row.created_at,
        run_id=row.run_id,
    )


def _answer(calls: dict[str, Segment], parts: list[Part]) -> None:
    for part in parts:
        if not isinstance(part, ToolResultPart):
            continue
        segment = calls.get(part.call_id)
        if segment is None:
            continue
        segment.status = part.status
        segment.summary = part.shown[:_SUMMARY_CHARS]
        segment.truncated = len(part.shown) > _SUMMARY_CHARS or part.full is not None
        segment.result_ref = part.full.sha256 if part.full else None
        segment.pictures = [picture.sha256 for picture in part.pictures]
        segment.duration_ms = part.duration_ms


def _segment(part: Part) -> Segment:
    match part:
        case ThinkingPart():
            return Segment(
                type="thinking",
                id=part.id,
                text=part.text,
                kind=part.kind,
                started_at=part.started_at,
                duration_ms=part.duration_ms,
                tokens=part.tokens,
            )
        case TextPart():
            data = [msgspec.to_builtins(one) for one in part.citations] or None
            return Segment(type="text", id=part.id, text=part.text, data=data)
        case ToolCallPart():
            return Segment(
                type="tool",
                id=part.id,
                call_id=part.call_id,
                name=part.name,
                arguments=part.arguments,
            )
        case NoticePart():
            return Segment(type="notice", id=part.id, text=part.text, kind=part.kind)
        case ImagePart() | FilePart():
            return _attachment(part)
        case _:
            return _named(part)


def _named(part: Part) -> Segment:
    """What is only mentioned: its content is the vendor's or unknown."""
    match part:
        case ServerToolPart():
            return Segment(
                type="server_tool",
                id=part.id,
                name=part.name,
                call_id=part.call_id,
                summary=asked_of(part.data),
            )
        case ToolResultPart():
            return Segment(type="tool_result", id=part.id, call_id=part.call_id)
        case VendorPart():
            return Segment(type="vendor", id=part.id, kind=part.kind)
        case _:
            return Segment(type="unknown", id=part.id)


def attached(message: Message) -> list[Attached]:
    """The pictures and files that go with a message, as other pages are told of them."""
    return [
        Attached(
            kind="file" if isinstance(part, FilePart) else "image",
            name=_name_of(part) or "",
            sha256=part.blob.sha256,
            media_type=part.media_type,
            size=part.blob.size,
        )
        for part in message.parts
        if isinstance(part, ImagePart | FilePart) and part.blob is not None
    ]


def _name_of(part: ImagePart | FilePart) -> str | None:
    own = part.name if isinstance(part, FilePart) else None
    return own or (part.blob.name if part.blob else None)


def _attachment(part: ImagePart | FilePart) -> Segment:
    return Segment(
        type="file" if isinstance(part, FilePart) else "image",
        id=part.id,
        name=_name_of(part),
        result_ref=part.blob.sha256 if part.blob else None,
        data={"media_type": part.media_type, "url": getattr(part, "url", None)},
    )
