"""Thinking kept for clients that do not send it back.

A client of the compatible routes sends the conversation anew with every request, mostly without
thoughts and never with what a vendor sealed. Each answer is remembered under what can be seen of
it and of the message before it; when it comes back, the whole message takes its place.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Protocol

import msgspec

from silu.types.parts import (
    Message,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)

_encode = msgspec.json.Encoder(order="deterministic").encode


class Answers(Protocol):
    """Where answers are kept: bounded, for some weeks, also over a restart."""

    async def keep_answer(self, key: str, answer: Message) -> None: ...

    async def kept_answers(self, keys: list[str]) -> dict[str, Message]: ...


class Recall:
    """What each of the clients was answered; none gets what another one was."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers

    async def keep(self, who: str, history: Sequence[Message], answer: Message) -> None:
        """Remember an answer that followed `history`; one without anything hidden is not needed."""
        if answer.continuity or any(isinstance(part, ThinkingPart) for part in answer.parts):
            await self._answers.keep_answer(_key(who, history, answer), answer)

    async def restored(self, who: str, messages: Sequence[Message]) -> list[Message]:
        """The conversation with our own messages in place of their visible remains.

        Thoughts that a client sent itself are left out: only what we kept is known to be whole.
        """
        keys = {
            position: _key(who, messages[:position], message)
            for position, message in enumerate(messages)
            if message.role == "assistant"
        }
        kept = await self._answers.kept_answers(list(keys.values())) if keys else {}
        return [
            kept.get(keys.get(position, "")) or _bare(message)
            for position, message in enumerate(messages)
        ]


def _bare(message: Message) -> Message:
    parts = [part for part in message.parts if not isinstance(part, ThinkingPart)]
    return msgspec.structs.replace(message, parts=parts, continuity=[])


def _key(who: str, history: Sequence[Message], answer: Message) -> str:
    """What a client can be trusted to send back unchanged: the answer and what it answered."""
    before = next((m for m in reversed(history) if m.role != "system"), None)
    seen = [who, _visible(before.parts) if before else None, _visible(answer.parts)]
    return sha256(_encode(seen)).hexdigest()


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
