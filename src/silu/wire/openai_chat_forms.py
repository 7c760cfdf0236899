"""The shapes of OpenAI chat answers: the fields that matter, typed for the hot path.

What has another type than it should is read loosely, field by field (`loose`).
"""

from typing import Any, cast

import msgspec

from silu.wire.blocks import json_text
from silu.wire.loose import dicts


class Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: str | dict[str, Any] | list[Any] | None = None


class Call(msgspec.Struct, gc=False):
    index: int | None = None
    id: str | None = None
    function: Function | None = None
    custom: dict[str, Any] | None = None


class Delta(msgspec.Struct, gc=False):
    content: str | list[Any] | None = None
    reasoning_content: str | None = None
    reasoning: str | dict[str, Any] | None = None
    reasoning_text: str | None = None
    reasoning_details: list[Any] | None = None
    tool_calls: list[Call] | None = None
    function_call: Function | None = None
    encrypted_content: str | None = None
    refusal: str | None = None
    annotations: list[Any] | None = None


class Choice(msgspec.Struct, gc=False):
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None
    index: int | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


class Chunk(msgspec.Struct, gc=False):
    choices: list[Choice] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None
    x_groq: dict[str, Any] | None = None
    timings: dict[str, Any] | None = None


class Extras(msgspec.Struct, gc=False):
    """Fields that are looked at once or seldom; decoded apart from the hot path."""

    id: str | None = None
    model: str | None = None
    object: str | None = None
    type: str | None = None
    detail: Any = None
    message: Any = None


read_chunk = msgspec.json.Decoder(Chunk).decode
read_extras = msgspec.json.Decoder(Extras, strict=False).decode
read_any = msgspec.json.Decoder().decode


def reasoning_text(value: str | dict[str, Any] | None) -> str:
    if isinstance(value, dict):
        return text_of(value.get("content", value.get("text")))
    return value or ""


def argument_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json_text(value)


def text_of(value: object) -> str:
    """Text out of a string, a part or a list of parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(text_of(item) for item in cast("list[Any]", value))
    if isinstance(value, dict):
        part = cast("dict[str, Any]", value)
        return text_of(part.get("text", part.get("content")))
    return ""


def loose(found: object) -> Chunk:
    """A chunk whose fields have other types than they should: what can be read is read."""
    if not isinstance(found, dict):
        raise msgspec.ValidationError("a JSON object was expected")
    obj = cast("dict[str, Any]", found)
    return Chunk(
        choices=[_loose_choice(choice) for choice in dicts(obj.get("choices"))] or None,
        usage=_dict(obj.get("usage")),
        error=obj.get("error"),
        x_groq=_dict(obj.get("x_groq")),
        timings=_dict(obj.get("timings")),
    )


def _loose_choice(obj: dict[str, Any]) -> Choice:
    delta, message = obj.get("delta"), obj.get("message")
    return Choice(
        delta=_loose_delta(cast("dict[str, Any]", delta)) if isinstance(delta, dict) else None,
        message=_loose_delta(cast("dict[str, Any]", message))
        if isinstance(message, dict)
        else None,
        finish_reason=_str(obj.get("finish_reason")),
        index=_index(obj.get("index")),
        usage=_dict(obj.get("usage")),
        error=obj.get("error"),
    )


def _loose_delta(obj: dict[str, Any]) -> Delta:
    content = obj.get("content")
    return Delta(
        content=cast("list[Any]", content) if isinstance(content, list) else text_of(content),
        reasoning_content=text_of(obj.get("reasoning_content")),
        reasoning=text_of(obj.get("reasoning")),
        reasoning_text=text_of(obj.get("reasoning_text")),
        reasoning_details=_list(obj.get("reasoning_details")),
        tool_calls=[_loose_call(call) for call in dicts(obj.get("tool_calls"))] or None,
        encrypted_content=_str(obj.get("encrypted_content")),
        refusal=_str(obj.get("refusal")),
        annotations=_list(obj.get("annotations")),
    )


def _loose_call(obj: dict[str, Any]) -> Call:
    function = _dict(obj.get("function")) or {}
    arguments = function.get("arguments")
    return Call(
        index=_index(obj.get("index")),
        id=_str(obj.get("id")),
        function=Function(
            name=_str(function.get("name")),
            arguments=None if arguments is None else argument_text(arguments),
        ),
        custom=_dict(obj.get("custom")),
    )


def _str(value: object) -> str | None:
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _dict(value: object) -> dict[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _list(value: object) -> list[Any] | None:
    return cast("list[Any]", value) if isinstance(value, list) else None


def _index(value: object) -> int | None:
    if isinstance(value, str) and value.isdigit():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
