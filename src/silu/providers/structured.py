"""An answer as a value: asked for as the call of one tool, checked, and once more if need be.

A forced call is the sure way to a value, but most models refuse one while they think. Those are
told to make the call; where prose comes all the same, one more request without thinking, in which
most may be forced, repairs it (F099, F100).
"""

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from silu.types.calls import CallEnd, CallRequest, ToolSpec
from silu.types.errors import Failure, VendorError
from silu.types.levels import Level
from silu.types.parts import Message, TextPart, ToolCallPart, ToolResultPart, text_of

T = TypeVar("T")

TOOL = "give_answer"
_ASK = (
    f"Give your final answer by calling the tool `{TOOL}`, once and with all it asks for. "
    "What stands outside that call is not read."
)


class Wanted(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """The shape of the answer: a JSON Schema object, and how a text of that shape is read
    (`msgspec.DecodeError` where it is not)."""

    schema: dict[str, Any]
    read: Callable[[str], T]


class Completes(Protocol):
    """Whatever makes one whole call."""

    async def complete(self, request: CallRequest) -> CallEnd: ...


async def structured(
    calls: Completes, request: CallRequest, wanted: Wanted[T]
) -> tuple[T, list[CallEnd]]:
    """The value and the one or two calls it took. Raises `VendorError`: a call's own failure, or
    `bad_data` where the second answer did not fit either."""
    spec = ToolSpec(name=TOOL, description="Takes your final answer.", parameters=wanted.schema)
    asked = replace(request, messages=_instructed(request.messages), tools=[spec], tool_choice=TOOL)
    first = await _whole(calls, asked)
    found, fault = _read(first.message, wanted)
    if found:
        return found[0], [first]
    messages = [*asked.messages, *_objection(first.message, fault)]
    second = await _whole(calls, replace(asked, messages=messages, level=Level.OFF))
    found, fault = _read(second.message, wanted)
    if found:
        return found[0], [first, second]
    raise VendorError(
        Failure(
            kind="bad_data",
            message=f"The model gave no answer of the wanted shape, asked twice: {fault}.",
            retryable=True,
        )
    )


async def _whole(calls: Completes, request: CallRequest) -> CallEnd:
    end = await calls.complete(request)
    if end.failure is not None:
        raise VendorError(end.failure)
    return end


def _instructed(messages: Sequence[Message]) -> list[Message]:
    """With the instruction behind the system messages that stand in front."""
    at = next((i for i, m in enumerate(messages) if m.role != "system"), len(messages))
    said = Message(role="system", parts=[TextPart(text=_ASK)])
    return [*messages[:at], said, *messages[at:]]


def _read(message: Message, wanted: Wanted[T]) -> tuple[list[T], str]:
    """The value, where there is one, and what was wrong with the answer."""
    made = [p for p in message.parts if isinstance(p, ToolCallPart) and p.name == TOOL]
    said = _unfenced(text_of(message))
    fault = f"the tool {TOOL} was not called"
    for text in [*(call.arguments for call in made), *([said] if said[:1] == "{" else [])]:
        try:
            return [wanted.read(text)], ""
        except msgspec.DecodeError as error:
            fault = str(error)
    return [], fault


def _unfenced(text: str) -> str:
    """JSON that was written as the answer itself, alone or in a code fence."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.partition("\n")[2].removesuffix("```").strip()
    return text


def _objection(message: Message, fault: str) -> list[Message]:
    """The answer that did not fit, and what is wrong with it."""
    told = f"Not taken: {fault}. Call {TOOL} now, with the answer in the shape it asks for."
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    if message.interrupted or not message.parts:
        return [Message(role="user", parts=[TextPart(text=told)])]
    if not calls:
        return [message, Message(role="user", parts=[TextPart(text=told)])]
    results = [
        ToolResultPart(call_id=call.call_id, name=call.name, status="error", shown=told)
        for call in calls
    ]
    return [message, Message(role="tool", parts=[*results])]
