"""The shapes of OpenAI Responses answers: the fields that matter, typed for the hot path."""

from typing import Any, cast

import msgspec

from silu.wire.blocks import json_text


class Event(msgspec.Struct, gc=False):
    type: str = ""
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    delta: str | None = None
    item: msgspec.Raw = msgspec.Raw()
    response: msgspec.Raw = msgspec.Raw()


class Response(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    status: str | None = None
    output: list[msgspec.Raw] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None
    incomplete_details: Any = None
    input_transformations: list[Any] | None = None


class Item(msgspec.Struct):
    type: str = ""
    id: str | None = None
    item_id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | dict[str, Any] | None = None
    input: Any = None
    summary: list[Any] | None = None
    content: list[Any] | None = None
    encrypted_content: str | None = None
    phase: str | None = None
    namespace: str | None = None


class OpenItem:
    """An item that has begun: `block` is the index of its call, `done` once it is whole."""

    __slots__ = ("args", "block", "done", "field", "id", "part", "text", "thought")

    def __init__(self) -> None:
        self.id = ""
        self.block = -1
        self.thought = -1
        self.done = False
        self.field = ""
        self.part = 0
        self.args: list[str] = []
        self.text = False

    @property
    def waits(self) -> bool:
        """Pieces of a call have come whose name has not."""
        return bool(self.args) and self.block < 0 and not self.done


read_event = msgspec.json.Decoder(Event).decode
read_response = msgspec.json.Decoder(Response).decode
read_item = msgspec.json.Decoder(Item).decode
read_any = msgspec.json.Decoder().decode


def call_text(item: Item) -> str:
    if item.type == "custom_tool_call":
        given = item.input if isinstance(item.input, str) else json_text(item.input)
        return json_text({"input": given})
    if item.arguments is None:
        return ""
    return item.arguments if isinstance(item.arguments, str) else json_text(item.arguments)


def texts(parts: list[Any] | None) -> str:
    """The texts of summary or content parts, with a blank line between."""
    found = [
        cast("dict[str, Any]", part).get("text") for part in parts or () if isinstance(part, dict)
    ]
    return "\n\n".join(text for text in found if isinstance(text, str) and text)


def string(value: Any) -> str:
    return value if isinstance(value, str) else ""
