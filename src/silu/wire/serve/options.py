"""How an answer is written for a client; the same for both forms of an answer."""

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from silu.types.events import StreamEvent
from silu.types.usage import Usage


class ServeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of one answer.

    `model` and `response_id` are what the answer says of itself until a `Served` event says
    otherwise; `created` is seconds since 1970. `reasoning_fields` are the openai-chat fields that
    carry thinking (several carry the same text); `shape_thinking` gives the fields for a piece of
    it instead. `raw_finish` writes the vendor's own finish word instead of the dialect's. `opaque`
    passes continuity data on to the client. `shape_usage` replaces the dialect's usage object,
    `usage_in_choice` puts it into the choice. `extra` is merged into the answer's head
    (openai-chat: every chunk; anthropic-messages: the message object).
    """

    model: str = ""
    response_id: str = ""
    created: int = 0
    include_usage: bool = True
    reasoning_fields: tuple[str, ...] = ("reasoning_content",)
    raw_finish: bool = False
    opaque: bool = True
    shape_thinking: Callable[[str], dict[str, Any]] | None = None
    shape_usage: Callable[[Usage], dict[str, Any]] | None = None
    usage_in_choice: bool = False
    extra: dict[str, Any] = {}


class ServeEncoder(Protocol):
    """Writes one answer. `feed` gives the bytes an event leads to (none for a whole answer),
    `close` those at the end. `status` is the HTTP status, final once the first bytes are out
    (streams) or after `close` (whole answers)."""

    content_type: str
    status: int

    def feed(self, event: StreamEvent) -> bytes: ...

    def close(self) -> bytes: ...


def sse(data: bytes, event: str | None = None) -> bytes:
    """One server-sent event; `data` holds no line break."""
    head = b"" if event is None else b"event: " + event.encode() + b"\n"
    return head + b"data: " + data + b"\n\n"
