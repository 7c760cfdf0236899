"""Dialects, sans-IO: bytes in, events out; a request in, a body out. No network, no clock.

    d = decoder("openai-chat", rules=DecodeRules(), streaming=True)
    for data in chunks:
        events = d.feed(data)
    events = d.close()

One file a dialect for reading answers (`openai_chat.py`), one beside it for writing requests
(`openai_chat_request.py`). A dialect is imported when it is first used.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Protocol, cast

from silu.types.errors import UserError
from silu.types.events import StreamEvent
from silu.types.rules import DecodeRules, Encoded, EncodeInput, EncodeRules

_MODULES: dict[str, tuple[str, str]] = {
    "openai-chat": ("openai_chat", "openai_chat_request"),
    "anthropic-messages": ("anthropic_messages", "anthropic_messages_request"),
    "openai-responses": ("openai_responses", "openai_responses_request"),
    "gemini-generate": ("gemini_generate", "gemini_generate_request"),
    "ollama-chat": ("ollama_chat", "ollama_chat_request"),
    "mistral-chat": ("mistral_chat", "mistral_chat_request"),
    "bedrock-converse": ("bedrock_converse", "bedrock_converse_request"),
}

DIALECTS: tuple[str, ...] = tuple(_MODULES)


class Decoder(Protocol):
    """Reads one answer. After `VendorFailure` it yields nothing more.

    `ended` is true once the vendor's terminal event was read: what still comes is of no use.
    """

    @property
    def ended(self) -> bool: ...

    def feed(self, data: bytes) -> list[StreamEvent]:
        """The events that these bytes complete; bytes may be cut anywhere."""
        ...

    def close(self) -> list[StreamEvent]:
        """The last events, after the last byte. Says `VendorFailure` where the answer is no
        whole answer: a cut stream, an error body, something that is no API."""
        ...


def decoder(dialect: str, *, rules: DecodeRules, streaming: bool, status: int = 200) -> Decoder:
    """A reader for one answer in `dialect`; `status` is the HTTP status it came with."""
    module = import_module(f"silu.wire.{_names(dialect)[0]}")
    make = cast("Callable[[DecodeRules, bool, int], Decoder]", module.make_decoder)
    return make(rules, streaming, status)


def encode(dialect: str, request: EncodeInput, rules: EncodeRules) -> Encoded:
    """The body of a request in `dialect`, and what of the history is left out of it."""
    module = import_module(f"silu.wire.{_names(dialect)[1]}")
    write = cast("Callable[[EncodeInput, EncodeRules], Encoded]", module.encode)
    return write(request, rules)


def _names(dialect: str) -> tuple[str, str]:
    try:
        return _MODULES[dialect]
    except KeyError:
        known = ", ".join(DIALECTS)
        raise UserError(
            f"There is no dialect {dialect!r}.",
            code="bad_argument",
            setting="dialect",
            fix=f"Use one of: {known}.",
        ) from None
