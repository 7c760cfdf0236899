"""Small things that the request writers of all dialects need."""

from collections.abc import Iterable
from typing import Any, cast

import msgspec

from silu.types.parts import ImagePart, ToolCallPart


def arguments(part: ToolCallPart) -> dict[str, Any]:
    """A call's arguments as an object; what is none is carried along as text, not lost."""
    text = part.arguments.strip()
    if not text:
        return {}
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return {"not_json": part.arguments}
    if isinstance(found, dict):
        return cast("dict[str, Any]", found)
    return {} if found is None else {"value": found}


def data_url(image: ImagePart) -> str | None:
    """An image as an address: its own, or its bytes."""
    if image.data is not None:
        return f"data:{image.media_type};base64,{image.data}"
    return image.url


def joined(pieces: Iterable[str]) -> str:
    """Texts that stand by themselves, with a blank line between."""
    return "\n\n".join(piece for piece in pieces if piece.strip())


def merge_deep(lower: dict[str, Any], upper: dict[str, Any]) -> dict[str, Any]:
    """`upper` over `lower`, objects merged field by field."""
    merged = dict(lower)
    for name, value in upper.items():
        below = merged.get(name)
        if isinstance(value, dict) and isinstance(below, dict):
            both = (cast("dict[str, Any]", below), cast("dict[str, Any]", value))
            merged[name] = merge_deep(*both)
        else:
            merged[name] = value
    return merged
