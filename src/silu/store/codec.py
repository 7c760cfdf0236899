"""Messages to rows and back: thoughts in their own column, continuity in its own, nothing lost.

`parts` keeps of each thought only `chars`, its length in code points; `thinking_content` has the
texts, those that are not empty joined by a blank line. Reading puts them back in their places.
"""

from typing import Any

import msgspec

from silu.store.escaping import escape, unescape
from silu.types.parts import (
    BlobRef,
    Continuity,
    FilePart,
    ImagePart,
    Part,
    ThinkingPart,
    ToolResultPart,
    UnknownPart,
    part_from_object,
)

_JOIN = "\n\n"
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
                objects.append(_without_text(part))
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
    thoughts = _Thoughts(unescape(thinking_content or ""))
    return [_part(item, thoughts) for item in _objects.decode(parts)]


def unpack_continuity(thinking_metadata: str | None) -> list[Continuity]:
    return _continuity.decode(thinking_metadata) if thinking_metadata else []


def blobs_of(parts: list[Part]) -> set[str]:
    """The sha256 of every blob a message refers to."""
    refs: set[str] = set()
    for part in parts:
        ref: BlobRef | None = None
        match part:
            case ToolResultPart():
                ref = part.full
            case ImagePart() | FilePart():
                ref = part.blob
            case _:
                continue
        if ref is not None:
            refs.add(ref.sha256)
    return refs


class _Thoughts:
    """Hands out the texts of a message's thoughts in order."""

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


def _without_text(part: ThinkingPart) -> dict[str, Any]:
    fields = msgspec.structs.asdict(part)
    del fields["text"]
    return {"type": "thinking", "chars": len(part.text), **fields}


def _part(item: dict[str, Any], thoughts: _Thoughts) -> Part:
    if item.get("type") == "thinking" and "text" not in item:
        chars = item.pop("chars", 0)
        item["text"] = thoughts.take(chars)
    return part_from_object(item)
