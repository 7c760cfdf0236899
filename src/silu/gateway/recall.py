"""Thinking kept for clients that do not send it back.

A client of the compatible routes sends the conversation anew with every request, mostly without
thoughts and never with what a vendor sealed. Each answer is remembered under what can be seen of
it and of the message before it; when it comes back, the whole message takes its place.
"""

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256

import msgspec

from silu.types.parts import (
    Message,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)

MOST_BYTES = 32 * 1024 * 1024

_encode = msgspec.json.Encoder(order="deterministic").encode


class Recall:
    """The latest answers, up to `most` bytes; the least used goes first."""

    def __init__(self, *, most: int = MOST_BYTES) -> None:
        self._most = most
        self._size = 0
        self._kept: OrderedDict[bytes, tuple[Message, int]] = OrderedDict()

    def keep(self, history: Sequence[Message], answer: Message) -> None:
        """Remember an answer that followed `history`; one without anything hidden is not needed."""
        if not answer.continuity and not any(isinstance(p, ThinkingPart) for p in answer.parts):
            return
        key = _key(history, answer)
        self._drop(key)
        size = len(_encode(answer.parts)) + sum(len(item.data) for item in answer.continuity)
        self._kept[key] = (answer, size)
        self._size += size
        while self._size > self._most:
            self._drop(next(iter(self._kept)))

    def restored(self, messages: Sequence[Message]) -> list[Message]:
        """The conversation with our own messages in place of their visible remains.

        Thoughts that a client sent itself are left out: only what we kept is known to be whole.
        """
        out: list[Message] = []
        for position, message in enumerate(messages):
            if message.role == "assistant":
                key = _key(messages[:position], message)
                found = self._kept.get(key)
                if found is not None:
                    self._kept.move_to_end(key)
                    out.append(found[0])
                    continue
            out.append(_bare(message))
        return out

    def _drop(self, key: bytes) -> None:
        found = self._kept.pop(key, None)
        if found is not None:
            self._size -= found[1]


def _bare(message: Message) -> Message:
    parts = [part for part in message.parts if not isinstance(part, ThinkingPart)]
    return msgspec.structs.replace(message, parts=parts, continuity=[])


def _key(history: Sequence[Message], answer: Message) -> bytes:
    """What a client can be trusted to send back unchanged: the answer and what it answered."""
    before = next((m for m in reversed(history) if m.role != "system"), None)
    seen = [_visible(before.parts) if before else None, _visible(answer.parts)]
    return sha256(_encode(seen)).digest()


def _visible(parts: Sequence[Part]) -> dict[str, object]:
    text = "".join(part.text for part in parts if isinstance(part, TextPart))
    calls = [
        (p.call_id, p.name, _canonical(p.arguments)) for p in parts if isinstance(p, ToolCallPart)
    ]
    results = [(p.call_id, p.shown.strip()) for p in parts if isinstance(p, ToolResultPart)]
    return {"text": text.strip(), "calls": calls, "results": results}


def _canonical(arguments: str) -> object:
    """Arguments by value: clients parse them and write them anew."""
    try:
        return msgspec.json.decode(arguments or "{}")
    except msgspec.DecodeError:
        return arguments
