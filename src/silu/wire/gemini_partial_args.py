"""Gemini's arguments in pieces: values that arrive one by one, each with its place.

With `streamFunctionCallArguments` a call begins with its name and `willContinue`, and each part
that follows brings `partialArgs`: a JSON path, a string, number, boolean or null, and whether a
string goes on (google-genai 3.6.1 `types.py`). A part without `willContinue` is the call's last.
"""

import re
from itertools import pairwise
from typing import Any, cast

import msgspec

from silu.wire.blocks import json_text

_STEP = re.compile(r"\.?([^.\[\]'\"]+)|\[(\d+)\]|\[(?:'([^']*)'|\"([^\"]*)\")\]")
"""One step of a path: `.name`, `[3]` or `['name']`."""

_MOST = 10_000
"""The longest array that a path may ask for."""


class PartialArg(msgspec.Struct, rename="camel"):
    json_path: str = ""
    string_value: str | None = None
    number_value: float | int | None = None
    bool_value: bool | None = None


class PartialCall:
    """A call whose arguments are under way; `index` is its block."""

    __slots__ = ("_root", "index")

    def __init__(self, index: int) -> None:
        self.index = index
        self._root: dict[str, Any] = {}

    def take(self, piece: PartialArg) -> None:
        """Put a value at its place. Raises `msgspec.ValidationError` for a path that leads
        nowhere."""
        steps = _steps(piece.json_path)
        place: Any = self._root
        for step, following in pairwise(steps):
            place = _inner(place, step, [] if isinstance(following, int) else {})
        known = _inner(place, steps[-1], None)
        place[steps[-1]] = _value(piece, known)

    def text(self) -> str:
        """What has come so far, as JSON text."""
        return json_text(self._root)


def _steps(path: str) -> list[str | int]:
    rest = path.removeprefix("$")
    steps: list[str | int] = []
    at = 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        if found is None:
            break
        name = found[1] or found[3] or found[4]
        steps.append(int(found[2]) if name is None else name)
        at = found.end()
    if not steps or at < len(rest):
        raise msgspec.ValidationError("an argument came with a path that cannot be read")
    return steps


def _inner(place: Any, step: str | int, new: Any) -> Any:
    """What stands at a step; `new`, put there, where nothing does."""
    if isinstance(place, dict) and isinstance(step, str):
        return cast("dict[str, Any]", place).setdefault(step, new)
    if not isinstance(place, list) or not isinstance(step, int) or step > _MOST:
        raise msgspec.ValidationError("an argument came with a path that leads nowhere")
    items = cast("list[Any]", place)
    items.extend([None] * (step + 1 - len(items)))
    if items[step] is None:
        items[step] = new
    return items[step]


def _value(piece: PartialArg, known: Any) -> Any:
    if piece.string_value is not None:
        return f"{known}{piece.string_value}" if isinstance(known, str) else piece.string_value
    return piece.number_value if piece.bool_value is None else piece.bool_value
