"""The shapes of Anthropic Messages answers: the fields that matter, typed for the hot path."""

from typing import Any

import msgspec


class Delta(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    signature: str | None = None
    citation: Any = None
    stop_reason: str | None = None
    stop_details: Any = None


class Event(msgspec.Struct, gc=False):
    type: str = ""
    index: int = 0
    delta: Delta | None = None
    content_block: msgspec.Raw = msgspec.Raw()
    message: msgspec.Raw = msgspec.Raw()
    usage: dict[str, Any] | None = None
    error: Any = None
    input_transformations: list[Any] | None = None


class Block(msgspec.Struct):
    """A content block as it starts, or whole."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw()
    citations: list[Any] | None = None
    tool_use_id: str | None = None


class Message(msgspec.Struct):
    type: str = ""
    id: str | None = None
    model: str | None = None
    content: list[msgspec.Raw] | None = None
    stop_reason: str | None = None
    stop_details: Any = None
    usage: dict[str, Any] | None = None
    error: Any = None
    input_transformations: list[Any] | None = None


read_event = msgspec.json.Decoder(Event).decode
read_block = msgspec.json.Decoder(Block).decode
read_message = msgspec.json.Decoder(Message).decode
read_any = msgspec.json.Decoder().decode
