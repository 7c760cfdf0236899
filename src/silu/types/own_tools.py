"""What is told of a tool that the vendor ran itself: its name and what it was asked."""

from typing import Any, cast

import msgspec

_PLACES = ("input", "action", "toolCall", "args", "arguments")
_WORDS = ("query", "queries", "url")
_MOST = 300


def asked_of(data: str) -> str:
    """The words a vendor's block was asked with (`query`, else an address), in every dialect's
    shape; empty where it has none. `data` is the block as raw JSON."""
    try:
        found: Any = msgspec.json.decode(data)
    except msgspec.DecodeError:
        return ""
    return _words(found, depth=3)


def _words(value: Any, *, depth: int) -> str:
    if not isinstance(value, dict) or depth == 0:
        return ""
    block = cast("dict[str, Any]", value)
    for name in _WORDS:
        match block.get(name):
            case str(text) if text:
                return text[:_MOST]
            case [*items] if items:
                return ", ".join(str(item) for item in items)[:_MOST]
            case _:
                continue
    inner = (_words(block.get(name), depth=depth - 1) for name in _PLACES)
    return next((words for words in inner if words), "")
