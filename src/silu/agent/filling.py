"""What a request is filled with: the tokens it took, shared out among its parts by the bytes that
were sent."""

from collections.abc import Iterable, Sequence

import msgspec

from silu.agent.accounting import estimate_tokens
from silu.agent.todo import NAME as TODO
from silu.types.parts import Message, NoticePart, ThinkingPart, ToolCallPart, ToolResultPart


class Filling(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens; together what the request took."""

    system: int
    tools: int
    history: int
    todo: int
    thinking: int


def filling(
    body: bytes, *, used: int | None, system: str, tools: str, messages: Sequence[Message]
) -> Filling:
    """The parts of a request that took `used` tokens (`None`: estimated), by its body.

    `system` and `tools` are what stood ahead of every message. A thought counts where its text or
    its opaque data is found in the body: what was left out takes no room.
    """
    whole = max(1, estimate_tokens(body))
    share = (used if used is not None else whole) / whole
    parts = {
        "system": estimate_tokens(system.encode()) if system else 0,
        "tools": estimate_tokens(tools.encode()) if tools else 0,
        "todo": _sent(body, _todo_texts(messages)),
        "thinking": _sent(body, _thoughts(messages)),
    }
    told = {name: round(size * share) for name, size in parts.items()}
    rest = round(whole * share) - sum(told.values())
    return Filling(**told, history=max(0, rest))


class Echoed(msgspec.Struct, frozen=True, kw_only=True):
    """A thought that went back with a request: `chars` code points of its text, 0 where none did,
    and whether opaque data of it went along (`sealed`)."""

    message_id: str
    part_id: str
    chars: int
    sealed: bool


def echoed(body: bytes, messages: Sequence[Message]) -> list[Echoed]:
    """The thoughts of the history that are found in the bytes of a request, oldest first. A seal
    may hang on the call a thought led to instead."""
    found: list[Echoed] = []
    for message in messages:
        for part in message.parts:
            if not isinstance(part, ThinkingPart | ToolCallPart):
                continue
            text = part.text if isinstance(part, ThinkingPart) else ""
            own = msgspec.json.encode(text)
            kept = [item.data.encode() for item in message.continuity if item.part == part.id]
            sealed = any(data not in (own, b"null", b'""') and data in body for data in kept)
            shown = bool(text) and own in body
            if sealed or shown:
                chars = len(text) if shown else 0
                one = Echoed(message_id=message.id, part_id=part.id, chars=chars, sealed=sealed)
                found.append(one)
    return found


def _sent(body: bytes, texts: Iterable[bytes]) -> int:
    """Tokens of those texts that the body has, each once."""
    return sum(estimate_tokens(text) for text in {*texts} if text and text in body)


def _todo_texts(messages: Sequence[Message]) -> Iterable[bytes]:
    for part in (part for message in messages for part in message.parts):
        match part:
            case NoticePart(kind="todo", text=text):
                yield _as_sent(text)
            case ToolResultPart(name=name, shown=text) if name == TODO:
                yield _as_sent(text)
            case _:
                pass


def _thoughts(messages: Sequence[Message]) -> Iterable[bytes]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, ThinkingPart):
                yield _as_sent(part.text)
        for kept in message.continuity:
            if kept.data != "null":
                yield kept.data.encode()


def _as_sent(text: str) -> bytes:
    """As it stands inside a JSON string."""
    return msgspec.json.encode(text)[1:-1]
