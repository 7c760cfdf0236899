"""Messages to rows and back: thoughts in their own column, continuity in its own, nothing lost.

`parts` keeps of each thought only `chars`, its length in code points; `thinking_content` has the
texts, those that are not empty joined by a blank line. Reading puts them back in their places.
"""

from typing import Any, cast

import msgspec

from silu.store.escaping import escape, unescape
from silu.types.parts import (
    BlobRef,
    Continuity,
    FilePart,
    ImagePart,
    NoticePart,
    Part,
    ServerToolPart,
    TextPart,
    ThinkingKind,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
    VendorPart,
    part_from_object,
)

_JOIN = "\n\n"


class _StoredThinking(msgspec.Struct, tag_field="type", tag="thinking", kw_only=True):
    """A thought without its text: `chars` code points of the column are its own."""

    chars: int
    id: str = ""
    kind: ThinkingKind = "full"
    started_at: int | None = None
    duration_ms: int | None = None
    tokens: int | None = None


_StoredPart = (
    TextPart
    | _StoredThinking
    | ToolCallPart
    | ToolResultPart
    | ServerToolPart
    | ImagePart
    | FilePart
    | NoticePart
    | VendorPart
)
_stored = msgspec.json.Decoder(list[_StoredPart])
_encoder = msgspec.json.Encoder()
_objects = msgspec.json.Decoder(list[dict[str, Any]])
_continuity = msgspec.json.Decoder(list[Continuity])


class Columns(msgspec.Struct, frozen=True):
    """A message's content as it is stored."""

    parts: str
    thinking_content: str | None
    thinking_metadata: str | None


def pack(parts: list[Part], continuity: list[Continuity]) -> Columns:
    """`thinking_content` is null for a message without a thinking part."""
    objects: list[Any] = []
    thoughts: list[str] = []
    has_thoughts = False
    for part in parts:
        match part:
            case ThinkingPart():
                has_thoughts = True
                if part.text:
                    thoughts.append(part.text)
                objects.append(
                    _StoredThinking(
                        chars=len(part.text),
                        id=part.id,
                        kind=part.kind,
                        started_at=part.started_at,
                        duration_ms=part.duration_ms,
                        tokens=part.tokens,
                    )
                )
            case UnknownPart():
                objects.append(part.raw)
            case _:
                objects.append(part)
    return Columns(
        parts=_encoder.encode(objects).decode(),
        thinking_content=escape(_JOIN.join(thoughts)) if has_thoughts else None,
        thinking_metadata=_encoder.encode(continuity).decode() if continuity else None,
    )


def unpack_parts(parts: str, thinking_content: str | None) -> list[Part]:
    """The parts in order, thoughts with their text."""
    try:
        kept = _stored.decode(parts)
    except msgspec.ValidationError:
        # A part of a newer silu, or a raw one: read piece by piece, what is unknown stays as it is.
        return _unpack_loosely(parts, thinking_content)
    if thinking_content is None:
        return cast("list[Part]", kept)
    thoughts = _Thoughts(unescape(thinking_content))
    return [thoughts.fill(part) if isinstance(part, _StoredThinking) else part for part in kept]


def _unpack_loosely(parts: str, thinking_content: str | None) -> list[Part]:
    thoughts = _Thoughts(unescape(thinking_content or ""))
    return [_part(item, thoughts) for item in _objects.decode(parts)]


def unpack_continuity(thinking_metadata: str | None) -> list[Continuity]:
    return _continuity.decode(thinking_metadata) if thinking_metadata else []


def blobs_of(parts: list[Part]) -> set[str]:
    """The sha256 of every blob a message refers to."""
    refs: set[str] = set()
    for part in parts:
        found: list[BlobRef | None]
        match part:
            case ToolResultPart():
                found = [part.full, *part.pictures]
            case ImagePart() | FilePart():
                found = [part.blob]
            case _:
                continue
        refs.update(ref.sha256 for ref in found if ref is not None)
    return refs


class _Thoughts:
    """Hands out the texts of a message's thoughts in order."""

    __slots__ = ("_at", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def take(self, chars: int) -> str:
        if chars <= 0:
            return ""
        if self._at:
            self._at += len(_JOIN)
        start, self._at = self._at, self._at + chars
        return self._text[start : self._at]

    def fill(self, part: "_StoredThinking") -> ThinkingPart:
        return ThinkingPart(
            text=self.take(part.chars),
            id=part.id,
            kind=part.kind,
            started_at=part.started_at,
            duration_ms=part.duration_ms,
            tokens=part.tokens,
        )


def _part(item: dict[str, Any], thoughts: _Thoughts) -> Part:
    if item.get("type") == "thinking" and "text" not in item:
        item["text"] = thoughts.take(item.pop("chars", 0))
    return part_from_object(item)
