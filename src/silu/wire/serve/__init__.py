"""The server half of the dialects, sans-IO: a client's request in, an answer's bytes out.

Two rooms use it: the gateway's compatible routes and the fake vendors. It imports types only, so
that the fakes check the client half against something that shares none of its code.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from silu.types.errors import Failure
from silu.types.events import StreamEvent
from silu.wire.serve.bedrock_out import BedrockWriter
from silu.wire.serve.chat_in import decode_chat
from silu.wire.serve.chat_out import ChatStream, ChatWhole
from silu.wire.serve.errors import chat_error, dump, messages_error, status_of
from silu.wire.serve.gemini_out import GeminiWriter, gemini_error
from silu.wire.serve.messages_in import decode_messages
from silu.wire.serve.messages_out import MessagesStream, MessagesWhole
from silu.wire.serve.ollama_out import OllamaWriter
from silu.wire.serve.options import ServeEncoder, ServeOptions
from silu.wire.serve.request import BadRequestError, ServedRequest
from silu.wire.serve.responses_out import ResponsesWriter

__all__ = [
    "SERVED",
    "BadRequestError",
    "ServeEncoder",
    "ServeOptions",
    "ServedRequest",
    "decode_request",
    "encode_error",
    "encode_events",
    "encoder",
]

SERVED = ("openai-chat", "anthropic-messages")


def decode_request(dialect: str, body: dict[str, Any]) -> ServedRequest:
    """Read a client's request body; raises `BadRequestError` that names the field."""
    match dialect:
        case "openai-chat":
            return decode_chat(body)
        case "anthropic-messages":
            return decode_messages(body)
        case _:
            raise BadRequestError(f"dialect {dialect!r} is not served", param="dialect")


_WRITERS: dict[str, Callable[[ServeOptions, bool], ServeEncoder]] = {
    "openai-chat": lambda options, stream: _chat(options, stream=stream),
    "mistral-chat": lambda options, stream: _chat(options, stream=stream),
    "anthropic-messages": lambda options, stream: _messages(options, stream=stream),
    "openai-responses": lambda options, stream: ResponsesWriter(options, stream=stream),
    "gemini-generate": lambda options, stream: GeminiWriter(options, stream=stream),
    "ollama-chat": lambda options, stream: OllamaWriter(options, stream=stream),
    "bedrock-converse": lambda options, stream: BedrockWriter(options, stream=stream),
}


def _chat(options: ServeOptions, *, stream: bool) -> ServeEncoder:
    return ChatStream(options) if stream else ChatWhole(options)


def _messages(options: ServeOptions, *, stream: bool) -> ServeEncoder:
    return MessagesStream(options) if stream else MessagesWhole(options)


def encoder(dialect: str, *, stream: bool, options: ServeOptions | None = None) -> ServeEncoder:
    """An encoder for one answer, in any of the dialects."""
    make = _WRITERS.get(dialect)
    if make is None:
        raise BadRequestError(f"dialect {dialect!r} is not served", param="dialect")
    return make(options or ServeOptions(), stream)


def encode_events(
    dialect: str,
    events: Iterable[StreamEvent],
    *,
    stream: bool,
    options: ServeOptions | None = None,
) -> Iterator[bytes]:
    """The bytes of one answer: SSE frames one by one, or a single JSON document."""
    writer = encoder(dialect, stream=stream, options=options)
    for event in events:
        data = writer.feed(event)
        if data:
            yield data
    tail = writer.close()
    if tail:
        yield tail


def encode_error(dialect: str, failure: Failure) -> tuple[int, bytes]:
    """HTTP status and JSON body of a request that failed before its answer began."""
    status = status_of(failure, dialect)
    match dialect:
        case "anthropic-messages":
            return status, dump(messages_error(failure))
        case "gemini-generate":
            return status, dump(gemini_error(failure)[1])
        case "ollama-chat":
            return status, dump({"error": failure.message})
        case "bedrock-converse":
            return status, dump({"message": failure.message})
        case _:
            return status, dump(chat_error(failure))
