"""The floor: the least a client can do with such a stream and still have the text.

Cut lines, decode the fields that carry text with msgspec, hand the text on. No blocks, no
usage, no errors, no continuity: what silu costs above this is what those cost.
"""

from collections.abc import Callable

import msgspec


class ChatDelta(msgspec.Struct, gc=False):
    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: msgspec.Raw = msgspec.Raw()


class ChatChoice(msgspec.Struct, gc=False):
    delta: ChatDelta
    finish_reason: str | None = None


class ChatChunk(msgspec.Struct, gc=False):
    choices: list[ChatChoice] = []
    usage: msgspec.Raw = msgspec.Raw()


class BlockDelta(msgspec.Struct, gc=False):
    thinking: str | None = None
    text: str | None = None
    signature: str | None = None


class BlockEvent(msgspec.Struct, gc=False):
    type: str
    index: int = 0
    delta: BlockDelta | None = None


def chat_text() -> Callable[[bytes], str | None]:
    decode = msgspec.json.Decoder(ChatChunk).decode

    def text(payload: bytes) -> str | None:
        choices = decode(payload).choices
        if not choices:
            return None
        delta = choices[0].delta
        return delta.reasoning_content or delta.content

    return text


def messages_text() -> Callable[[bytes], str | None]:
    decode = msgspec.json.Decoder(BlockEvent).decode

    def text(payload: bytes) -> str | None:
        delta = decode(payload).delta
        return None if delta is None else delta.thinking or delta.text

    return text


TEXT_OF = {"openai-chat": chat_text, "anthropic-messages": messages_text}


class Floor:
    """`feed(bytes)`: hands each delta's text to `on`."""

    def __init__(self, dialect: str, on: Callable[[str], object]) -> None:
        self._text = TEXT_OF[dialect]()
        self._on = on
        self._rest = b""

    def feed(self, data: bytes) -> None:
        lines = (self._rest + data).split(b"\n")
        self._rest = lines.pop()
        text_of, on = self._text, self._on
        for line in lines:
            if line[:6] != b"data: " or line == b"data: [DONE]":
                continue
            text = text_of(line[6:])
            if text:
                on(text)
