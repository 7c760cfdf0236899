"""Writing requests in tests: messages in short form, and the body that comes out."""

from typing import Any

from silu.types.calls import ToolSpec
from silu.types.parts import (
    Continuity,
    Message,
    NoticePart,
    Origin,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from silu.types.rules import Encoded, EncodeInput, EncodeRules
from silu.wire import encode

HOME = Origin(vendor="v", endpoint="https://v", account="a", dialect="d", model="m")
ELSEWHERE = Origin(vendor="w", endpoint="https://w", account="b", dialect="d", model="n")
TOOL = ToolSpec(name="f", description="does f", parameters={"type": "object"})


def origin(field: str, base: Origin = HOME) -> Origin:
    return Origin(
        vendor=base.vendor,
        endpoint=base.endpoint,
        account=base.account,
        dialect=base.dialect,
        model=base.model,
        served_model="m-2026",
        level="high",
        field=field,
    )


def text(words: str, part_id: str = "t") -> TextPart:
    return TextPart(text=words, id=part_id)


def thought(words: str, part_id: str = "k", kind: Any = "full") -> ThinkingPart:
    return ThinkingPart(text=words, id=part_id, kind=kind)


def call(call_id: str = "c1", arguments: str = '{"x": 1}', name: str = "f") -> ToolCallPart:
    return ToolCallPart(call_id=call_id, name=name, arguments=arguments, id=f"part-{call_id}")


def result(call_id: str = "c1", shown: str = "42", status: Any = "ok") -> ToolResultPart:
    return ToolResultPart(call_id=call_id, status=status, shown=shown, id=f"result-{call_id}")


def notice(words: str) -> NoticePart:
    return NoticePart(kind="mode", text=words, id="n")


def kept(
    kind: str, data: str, field: str, part: str | None = "k", base: Origin = HOME, **more: Any
) -> Continuity:
    return Continuity(part=part, kind=kind, data=data, origin=origin(field, base), **more)


def user(*parts: Part | str) -> Message:
    return message("user", *parts)


def system(words: str) -> Message:
    return message("system", words)


def assistant(*parts: Part | str, keep: list[Continuity] | None = None, **more: Any) -> Message:
    made = message("assistant", *parts)
    made.continuity = keep or []
    made.interrupted = more.get("interrupted", False)
    return made


def tool(*parts: Part | str) -> Message:
    return message("tool", *parts)


_count = iter(range(1, 1_000_000))


def message(role: Any, *parts: Part | str) -> Message:
    number = next(_count)
    return Message(
        role=role,
        id=f"msg-{number}",
        parts=[
            TextPart(text=p, id=f"text-{number}-{i}") if isinstance(p, str) else p
            for i, p in enumerate(parts)
        ],
    )


def write(
    dialect: str, *messages: Message, rules: dict[str, Any] | None = None, **more: Any
) -> Encoded:
    request = EncodeInput(model="m", messages=list(messages), **more)
    return encode(dialect, request, EncodeRules(origin=HOME, **(rules or {})))


def dropped(encoded: Encoded) -> list[tuple[str | None, str]]:
    return [(d.part, d.what) for d in encoded.dropped]
