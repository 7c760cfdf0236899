"""Readers of recorded answers in the other dialects: ordered pieces, opaque data as it came."""

import struct
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from silu.fakes.raw import obj, seq
from silu.fakes.seals import digest


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of an answer. `data` is opaque and belongs to it; `id` names an item or a call."""

    kind: Literal["thinking", "text", "call"]
    text: str = ""
    data: str | None = None
    id: str = ""
    name: str = ""


class Read(msgspec.Struct, kw_only=True):
    """An answer as far as it was read; see `answers.Told` for `finish` and the rest."""

    pieces: list[Piece] = []
    finish: str | None = None
    usage: dict[str, Any] | None = None
    model: str | None = None
    error: bool = False


def call_key(name: object, arguments: object) -> str:
    """Names a call where the vendor gives no id: what it calls, with what."""
    value = arguments
    if isinstance(arguments, str):
        try:
            value = msgspec.json.decode(arguments or "{}")
        except msgspec.DecodeError:
            value = arguments
    return f"{name}:{digest(value or {}).hex()}"


def grow(pieces: list[Piece], new: Piece) -> None:
    """Add a piece; a neighbour of the same kind without opaque data between grows instead."""
    last = pieces[-1] if pieces else None
    alike = last is not None and last.kind == new.kind and new.kind != "call"
    if last is None or not alike or (last.data and new.text):
        pieces.append(new)
        return
    pieces[-1] = msgspec.structs.replace(
        last, text=last.text + new.text, data=new.data or last.data
    )


# ---------------------------------------------------------------------------- Responses


def read_responses(values: list[dict[str, Any]]) -> Read:
    """From the events of a stream, or from the one whole response."""
    if len(values) == 1 and values[0].get("object") == "response":
        return _response(values[0])
    items: dict[int, dict[str, Any]] = {}
    read = Read()
    for value in values:
        kind = str(value.get("type"))
        if kind == "response.output_item.done":
            items[value.get("output_index", len(items))] = obj(value.get("item")) or {}
        elif kind in ("response.completed", "response.incomplete"):
            whole = _response(obj(value.get("response")) or {})
            read.finish, read.usage, read.model = whole.finish, whole.usage, whole.model
            read.pieces = whole.pieces
        elif kind in ("error", "response.failed"):
            read.error = True
    # The seal of a finished item is the one to keep; the terminal event may seal it anew.
    done = [p for index in sorted(items) for p in response_pieces(items[index])]
    read.pieces = done if any(p.data for p in done) or not read.pieces else read.pieces
    return read


def _response(body: dict[str, Any]) -> Read:
    items = [obj(item) or {} for item in seq(body.get("output")) or []]
    return Read(
        pieces=[piece for item in items for piece in response_pieces(item)],
        finish=body.get("status"),
        usage=obj(body.get("usage")),
        model=body.get("model"),
        error=bool(body.get("error")),
    )


def response_pieces(item: dict[str, Any]) -> list[Piece]:
    """The pieces of an output or input item."""
    match item.get("type"):
        case "reasoning":
            return [
                Piece(
                    kind="thinking",
                    text=_texts(item.get("summary")) or _texts(item.get("content")),
                    data=item.get("encrypted_content"),
                    id=str(item.get("id") or ""),
                )
            ]
        case "function_call":
            arguments, name = str(item.get("arguments") or ""), str(item.get("name"))
            return [Piece(kind="call", text=arguments, id=str(item.get("call_id")), name=name)]
        case "message" | None if item.get("role") == "assistant":
            content = item.get("content")
            said = content if isinstance(content, str) else _texts(content)
            return [Piece(kind="text", text=said, id=str(item.get("id") or ""))]
        case _:
            return []


def _texts(parts: object) -> str:
    return "".join(str((obj(part) or {}).get("text") or "") for part in seq(parts) or [])


# ---------------------------------------------------------------------------- Gemini


def read_gemini(values: list[dict[str, Any]]) -> Read:
    """From fragments (one where the answer is whole); a text's signature counts as a piece."""
    read = Read()
    for value in values:
        read.usage = obj(value.get("usageMetadata")) or read.usage
        read.model = value.get("modelVersion") or read.model
        read.error = read.error or "error" in value
        for item in (seq(value.get("candidates")) or [])[:1]:
            candidate = obj(item) or {}
            read.finish = candidate.get("finishReason") or read.finish
            for piece in gemini_pieces(obj(candidate.get("content")) or {}):
                grow(read.pieces, piece)
    return read


def gemini_pieces(content: dict[str, Any]) -> Iterator[Piece]:
    """The pieces of a content's parts."""
    for item in seq(content.get("parts")) or []:
        part = obj(item) or {}
        data = part.get("thoughtSignature", part.get("thought_signature"))
        call = obj(part.get("functionCall", part.get("function_call")))
        if call is not None:
            args, name = obj(call.get("args")) or {}, str(call.get("name"))
            text = msgspec.json.encode(args).decode()
            yield Piece(kind="call", text=text, data=data, id=call_key(name, args), name=name)
        elif part.get("thought") is True:
            yield Piece(kind="thinking", text=str(part.get("text", "")), data=data)
        elif "text" in part and (part["text"] or data is not None):
            yield Piece(kind="text", text=str(part["text"]), data=data)


# ---------------------------------------------------------------------------- Ollama, Mistral


def read_ollama(values: list[dict[str, Any]]) -> Read:
    """From the lines of a stream, or the one whole answer."""
    read = Read()
    for value in values:
        read.error = read.error or "error" in value
        read.model = value.get("model") or read.model
        for piece in ollama_pieces(obj(value.get("message")) or {}):
            grow(read.pieces, piece)
        if value.get("done") is True:
            read.finish = str(value.get("done_reason") or "stop")
            read.usage = {k: v for k, v in value.items() if str(k).endswith("_count")}
    return read


def ollama_pieces(message: dict[str, Any]) -> Iterator[Piece]:
    """The pieces of a message."""
    if message.get("thinking"):
        yield Piece(kind="thinking", text=str(message["thinking"]))
    if message.get("content"):
        yield Piece(kind="text", text=str(message["content"]))
    for item in seq(message.get("tool_calls")) or []:
        function = obj((obj(item) or {}).get("function")) or {}
        args, name = obj(function.get("arguments")) or {}, str(function.get("name"))
        text = msgspec.json.encode(args).decode()
        yield Piece(kind="call", text=text, id=call_key(name, args), name=name)


def read_mistral(values: list[dict[str, Any]]) -> Read:
    """From chunks, or from the one whole completion."""
    read = Read()
    for value in values:
        read.usage = obj(value.get("usage")) or read.usage
        read.model = value.get("model") or read.model
        read.error = read.error or value.get("object") == "error"
        for item in (seq(value.get("choices")) or [])[:1]:
            choice = obj(item) or {}
            read.finish = choice.get("finish_reason") or read.finish
            message = obj(choice.get("delta")) or obj(choice.get("message")) or {}
            for piece in mistral_pieces(message):
                grow(read.pieces, piece)
    return read


def mistral_pieces(message: dict[str, Any]) -> Iterator[Piece]:
    """The pieces of a message or delta; content is a string or chunks."""
    content = message.get("content")
    if isinstance(content, str) and content:
        yield Piece(kind="text", text=content)
    for item in seq(content) or []:
        chunk = obj(item) or {}
        if chunk.get("type") == "thinking":
            data = chunk.get("signature")
            yield Piece(kind="thinking", text=_texts(chunk.get("thinking")), data=data)
        elif chunk.get("text"):
            yield Piece(kind="text", text=str(chunk["text"]))
    for item in seq(message.get("tool_calls")) or []:
        call = obj(item) or {}
        function = obj(call.get("function")) or {}
        text = str(function.get("arguments") or "")
        yield Piece(kind="call", text=text, id=str(call.get("id")), name=str(function.get("name")))


# ---------------------------------------------------------------------------- Bedrock


def frames_of(body: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """Event-stream messages: the event's name and its JSON. Checksums are not judged here."""
    at = 0
    while at + 16 <= len(body):
        size, heads = struct.unpack(">II", body[at : at + 8])
        headers = body[at + 12 : at + 12 + heads]
        payload = body[at + 12 + heads : at + size - 4]
        name = ""
        for key in (b":event-type", b":exception-type"):
            _, found, rest = headers.partition(key)
            if found:
                length = int.from_bytes(rest[1:3], "big")
                name = rest[3 : 3 + length].decode()
        yield name, obj(msgspec.json.decode(payload or b"{}")) or {}
        at += max(size, 16)


def read_bedrock_stream(body: bytes) -> Read:
    """From the bytes of an event stream."""
    read = Read()
    blocks: dict[int, Piece] = {}
    for name, value in frames_of(body):
        index = value.get("contentBlockIndex", 0)
        match name:
            case "contentBlockStart":
                use = obj((obj(value.get("start")) or {}).get("toolUse")) or {}
                name_of = str(use.get("name"))
                blocks[index] = Piece(kind="call", id=str(use.get("toolUseId")), name=name_of)
            case "contentBlockDelta":
                delta = obj(value.get("delta")) or {}
                blocks[index] = _bedrock_delta(blocks.get(index), delta)
            case "messageStop":
                read.finish = value.get("stopReason")
            case "metadata":
                read.usage = obj(value.get("usage"))
            case _:
                read.error = read.error or name.endswith("Exception")
    read.pieces = [blocks[index] for index in sorted(blocks)]
    return read


def _bedrock_delta(block: Piece | None, delta: dict[str, Any]) -> Piece:
    inner = obj(delta.get("reasoningContent"))
    use = obj(delta.get("toolUse"))
    old = block or Piece(kind="text" if inner is None else "thinking")
    text = str((inner or use or delta).get("input" if use is not None else "text") or "")
    data = (inner or {}).get("signature", (inner or {}).get("redactedContent"))
    return msgspec.structs.replace(old, text=old.text + text, data=data or old.data)


def read_bedrock(body: dict[str, Any]) -> Read:
    """From a whole document."""
    message = obj((obj(body.get("output")) or {}).get("message")) or {}
    return Read(
        pieces=list(bedrock_pieces(message)),
        finish=body.get("stopReason"),
        usage=obj(body.get("usage")),
        error="message" in body and "output" not in body,
    )


def bedrock_pieces(message: dict[str, Any]) -> Iterator[Piece]:
    """The pieces of a message's content blocks."""
    for item in seq(message.get("content")) or []:
        block = obj(item) or {}
        thought, use = obj(block.get("reasoningContent")), obj(block.get("toolUse"))
        if thought is not None:
            told = obj(thought.get("reasoningText")) or {}
            data = told.get("signature", thought.get("redactedContent"))
            yield Piece(kind="thinking", text=str(told.get("text") or ""), data=data)
        elif use is not None:
            text = msgspec.json.encode(use.get("input") or {}).decode()
            id_, name = str(use.get("toolUseId")), str(use.get("name"))
            yield Piece(kind="call", text=text, id=id_, name=name)
        elif "text" in block:
            yield Piece(kind="text", text=str(block["text"]))
