"""The shapes of `silu wire`: what a line of input says, what a line of output holds."""

import math
from collections.abc import Iterator
from hashlib import sha256
from itertools import count
from typing import Any, TypeVar, cast

import msgspec
from msgspec.structs import replace

from silu.config import Settings
from silu.providers.prepare import masked, prepare
from silu.providers.profile import profile_for
from silu.types.assembly import MessageBuilder
from silu.types.calls import CallRequest, ToolSpec
from silu.types.errors import Failure, UserError
from silu.types.levels import parse_level
from silu.types.parts import (
    Continuity,
    Message,
    Part,
    Role,
    ServerToolPart,
    ThinkingPart,
    ToolCallPart,
    part_from_object,
    text_of,
)
from silu.wire import decoder
from silu.wire.opaque import opaque_values

_Number = TypeVar("_Number", int | None, float | None)


class DecodeJob(msgspec.Struct, kw_only=True):
    """A recorded body at `path` and what is known of it."""

    dialect: str
    path: str
    vendor: str = ""
    model: str = ""
    streaming: bool = True
    status: int = 200


class EncodeJob(msgspec.Struct, kw_only=True):
    """A request to be written. `vendor` is for a `model` without one in front."""

    model: str
    level: str | None = "default"
    dialect: str | None = None
    vendor: str | None = None
    messages: Any = None
    tools: list[ToolSpec] | Any = []
    tool_choice: str | None = "auto"
    max_tokens: int | None = None
    temperature: float | None = None
    stream: bool = False


class _MessageForm(msgspec.Struct, kw_only=True):
    role: Role
    parts: list[dict[str, Any]] = []
    continuity: list[Continuity] = []
    id: str = ""
    interrupted: bool = False


def decoded(job: DecodeJob, body: bytes, settings: Settings) -> dict[str, Any]:
    """A recorded answer as silu reads it."""
    profile = profile_for(job.vendor, job.model, dialect=job.dialect, settings=settings)
    names = count(1)
    builder = MessageBuilder(profile.origin, new_id=lambda: f"part-{next(names)}", clock=lambda: 0)
    reader = decoder(
        job.dialect, rules=profile.decode_rules(), streaming=job.streaming, status=job.status
    )
    for event in (*reader.feed(body), *reader.close()):
        builder.feed(event)
    message = builder.message()
    message.parts = [_timeless(part) for part in message.parts]
    finish = builder.finish
    reason = finish.reason if finish else None
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    return {
        "thinking": [p.text for p in message.parts if isinstance(p, ThinkingPart) and p.text],
        "text": text_of(message),
        "tool_calls": [
            {"id": call.call_id, "name": call.name, "arguments": call.arguments} for call in calls
        ],
        "server_tools": [
            part.name for part in message.parts if isinstance(part, ServerToolPart) and part.name
        ],
        "finish_reason": "error" if builder.failure and reason in (None, "stop") else reason,
        "raw_finish_reason": finish.raw if finish else None,
        "usage": builder.usage,
        "continuity": list(_opaque(message)),
        "parts": message.parts,
        "error": _error(builder.failure),
        "message": message,
    }


def encoded(job: EncodeJob, settings: Settings) -> dict[str, Any]:
    """The request silu would send, secrets masked."""
    vendor, model = _reference(job)
    profile = profile_for(vendor, model, dialect=job.dialect, settings=settings)
    request = CallRequest(
        model=f"{vendor}/{model}",
        messages=_messages(job.messages),
        tools=_tools(job.tools),
        tool_choice=job.tool_choice or "auto",
        level=_level(job.level),
        level_source="turn",
        max_tokens=_at_least(job.max_tokens, 1, "max_tokens"),
        temperature=_at_least(job.temperature, 0.0, "temperature"),
        stream=job.stream,
    )
    prepared = prepare(profile, request, settings=settings)
    shown = masked(prepared.http, settings)
    return {
        "method": shown.method,
        "url": shown.url,
        "headers": shown.headers,
        "body": msgspec.Raw(shown.body),
        "resolution": prepared.resolution,
        "dropped": [msgspec.to_builtins(item) for item in prepared.dropped],
    }


def _timeless(part: Part) -> Part:
    """A recording does not tell how long anything took."""
    if isinstance(part, ThinkingPart):
        return replace(part, started_at=None, duration_ms=None)
    return part


def _opaque(message: Message) -> Iterator[dict[str, Any]]:
    for kept in message.continuity:
        for value in opaque_values(kept) or [None]:
            digest = None if value is None else sha256(value.encode()).hexdigest()
            yield {"part": kept.part, "kind": kept.kind, "sha256": digest}


def _error(failure: Failure | None) -> dict[str, Any] | None:
    if failure is None:
        return None
    return {
        "type": failure.vendor_type or failure.kind,
        "code": failure.code,
        "message": failure.message,
    }


def _reference(job: EncodeJob) -> tuple[str, str]:
    vendor, slash, model = job.model.partition("/")
    if job.vendor and vendor != job.vendor:
        return job.vendor, job.model
    if not slash or not vendor or not model:
        raise UserError(
            f"The model {job.model!r} names no vendor.",
            code="bad_argument",
            setting="model",
            fix="Write it as vendor/model-id.",
        )
    return vendor, model


def _level(word: str | None) -> Any:
    try:
        return parse_level(word or "default")
    except ValueError as error:
        raise UserError(f"{error}.", code="bad_argument", setting="level") from error


def _messages(found: Any) -> list[Message]:
    """Messages as they are written by hand: parts may lack ids."""
    if found is None:
        found = [{"role": "user", "parts": [{"type": "text", "text": "Hello"}]}]
    try:
        forms = msgspec.convert(found, list[_MessageForm])
        return [_message(number, form) for number, form in enumerate(forms, 1)]
    except msgspec.ValidationError as error:
        raise UserError(
            f"The messages cannot be read: {error}.", code="bad_argument", setting="messages"
        ) from error


def _message(number: int, form: _MessageForm) -> Message:
    parts: list[Part] = []
    for place, item in enumerate(form.parts, 1):
        part = part_from_object(item)
        parts.append(part if part.id else replace(part, id=f"m{number}.{place}"))
    return Message(
        role=form.role,
        parts=parts,
        continuity=form.continuity,
        id=form.id or f"m{number}",
        interrupted=form.interrupted,
    )


def _at_least(value: _Number, least: float, setting: str) -> _Number:
    """The number as given; no request can be made of one that is too small, or none at all."""
    if value is None or least <= value < math.inf:
        return value
    raise UserError(
        f"`{setting}` must be a number from {least} up, not {value}.",
        code="bad_argument",
        setting=setting,
    )


def _tools(found: Any) -> list[ToolSpec]:
    try:
        return msgspec.convert(cast("Any", [] if found is None else found), list[ToolSpec])
    except msgspec.ValidationError as error:
        raise UserError(
            f"The tools cannot be read: {error}.", code="bad_argument", setting="tools"
        ) from error
