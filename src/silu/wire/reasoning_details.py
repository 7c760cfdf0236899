"""OpenRouter's `reasoning_details`: kept whole, and put together from a stream's fragments.

Consecutive entries of text (or summary) with the same index go on with one another, entries with
`data` are whole (vendors.md §14). The array goes back unmodified, which is why it is one opaque
value; the signatures and sealed data inside are what a vendor checks.
"""

from typing import Any, cast

import msgspec

from silu.wire.blocks import json_text

DETAILS = "reasoning_details"
"""Continuity kind and field: the whole array, as JSON text."""

_GROWING = ("text", "summary")


class Details:
    """Collects the entries of one answer. `opaque` is true once one carries data or a signature.

    `cumulative`: a piece may repeat all the text so far (MiniMax M3): text that starts with
    everything so far replaces it, anything else is appended.
    """

    __slots__ = ("_cumulative", "_entries", "opaque")

    def __init__(self, *, cumulative: bool) -> None:
        self._entries: list[dict[str, Any]] = []
        self._cumulative = cumulative
        self.opaque = False

    def add(self, entries: list[Any]) -> str:
        """Take in a piece; gives its new readable text."""
        shown: list[str] = []
        for entry in entries:
            if isinstance(entry, dict):
                shown.append(self._add(cast("dict[str, Any]", entry)))
        return "".join(shown)

    def take(self) -> str | None:
        """The array as JSON text, or `None` when there was none."""
        if not self._entries:
            return None
        whole = [
            {k: "".join(cast("list[str]", v)) if isinstance(v, _Text) else v for k, v in e.items()}
            for e in self._entries
        ]
        return json_text(whole)

    def _add(self, entry: dict[str, Any]) -> str:
        if entry.get("data") or entry.get("signature"):
            self.opaque = True
        key = next((k for k in _GROWING if isinstance(entry.get(k), str)), None)
        if key is None:
            last = self._entries[-1] if self._entries else None
            if last is not None and _goes_on(last, entry) and "data" not in entry:
                _fill(last, entry)  # Anthropic's signature comes in a piece of its own
            else:
                self._entries.append(dict(entry))
            return ""
        text = cast("str", entry[key])
        last = self._entries[-1] if self._entries else None
        if last is None or not _goes_on(last, entry) or not isinstance(last.get(key), _Text):
            kept = dict(entry)
            kept[key] = _Text([text])
            self._entries.append(kept)
            return text
        pieces = cast("_Text", last[key])
        if self._cumulative and len(text) >= (so_far := len("".join(pieces))) > 0:
            known = "".join(pieces)
            if text.startswith(known):
                pieces[:] = [text]
                _fill(last, entry)
                return text[so_far:]
        pieces.append(text)
        _fill(last, entry)
        return text


class _Text(list[str]):
    """A growing text, in pieces."""


def _goes_on(last: dict[str, Any], entry: dict[str, Any]) -> bool:
    return (
        last.get("type") == entry.get("type")
        and last.get("index") == entry.get("index")
        and "data" not in last
        and not last.get("signature")
        and not (last.get("id") and entry.get("id") and last["id"] != entry["id"])
    )


def _fill(last: dict[str, Any], entry: dict[str, Any]) -> None:
    """Fields that a later fragment brings first: an id, a format, the signature."""
    for key, value in entry.items():
        if key not in _GROWING and (last.get(key) is None or key not in last):
            last[key] = value


def opaque_values(data: str) -> list[str]:
    """The signatures and sealed data inside a kept array."""
    entries = cast("list[Any]", msgspec.json.decode(data))
    values: list[str] = []
    for entry in entries:
        if isinstance(entry, dict):
            item = cast("dict[str, Any]", entry)
            values += [v for k in ("data", "signature") if isinstance(v := item.get(k), str) and v]
    return values
