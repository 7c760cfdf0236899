"""What an answer on record says: its thoughts, text and calls, read from the raw bytes.

A reader of our own, so that a replay judges an echo by what was really sent and not by what our
decoders made of it.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from silu.fakes.answers_more import (
    Piece,
    Read,
    read_bedrock,
    read_bedrock_stream,
    read_gemini,
    read_mistral,
    read_ollama,
    read_responses,
)
from silu.fakes.raw import obj, seq

THOUGHT_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
OPAQUE_FIELDS = ("reasoning_details", "encrypted_content")


class Told(msgspec.Struct, kw_only=True):
    """One answer.

    openai-chat: `fields` holds each reasoning field's whole text, `opaque` the values of fields
    with data of their own. anthropic-messages: `blocks` are the content blocks as a client sends
    them back. `complete` is false where the answer has no terminal event.
    """

    text: str = ""
    fields: dict[str, str] = {}
    opaque: dict[str, Any] = {}
    blocks: list[dict[str, Any]] = []
    calls: list[dict[str, str]] = []
    pieces: list[Piece] = []
    usage: dict[str, Any] | None = None
    finish: str | None = None
    model: str | None = None
    complete: bool = False
    error: bool = False

    @property
    def ids(self) -> list[str]:
        return [call["id"] for call in self.calls if call["id"]]


def sse_values(body: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of an event stream, joined data lines; what is cut or no JSON is left."""
    text = body.decode("utf-8", errors="replace").replace("\r\n", "\n")
    for frame in text.split("\n\n"):
        lines = [line[5:].lstrip(" ") for line in frame.split("\n") if line.startswith("data:")]
        value = _json("\n".join(lines))
        if value is not None:
            yield value


def _json(text: str) -> dict[str, Any] | None:
    try:
        return obj(msgspec.json.decode(text)) if text else None
    except msgspec.DecodeError:
        return None


def read_answer(dialect: str, body: bytes, *, form: str) -> Told:
    """Read a recorded body; `form` is how it is framed (`sse json ndjson eventstream`)."""
    if form == "eventstream":
        return _of_read(read_bedrock_stream(body))
    if form == "ndjson":
        lines = [_json(line) for line in body.decode("utf-8", errors="replace").splitlines()]
        return _of_read(read_ollama([line for line in lines if line is not None]))
    values = list(sse_values(body)) if form == "sse" else _documents(body)
    match dialect:
        case "openai-chat":
            return _chat_stream(values) if form == "sse" else _chat_whole(values[0])
        case "anthropic-messages":
            return _messages_stream(values) if form == "sse" else _messages_whole(values[0])
        case _:
            return _of_read(_READERS.get(dialect, _nothing)(values))


def _documents(body: bytes) -> list[dict[str, Any]]:
    """A JSON document, or the objects of a JSON array (a stream kept as one)."""
    try:
        value = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return [{}]
    items = seq(value)
    if items is not None:
        return [obj(item) or {} for item in items] or [{}]
    return [obj(value) or {}]


def _nothing(values: list[dict[str, Any]]) -> Read:
    del values
    return Read()


_READERS: dict[str, Callable[[list[dict[str, Any]]], Read]] = {
    "openai-responses": read_responses,
    "gemini-generate": read_gemini,
    "ollama-chat": read_ollama,
    "mistral-chat": read_mistral,
    "bedrock-converse": lambda values: read_bedrock(values[0]),
}


def _of_read(read: Read) -> Told:
    calls = [p for p in read.pieces if p.kind == "call"]
    return Told(
        text="".join(p.text for p in read.pieces if p.kind == "text"),
        pieces=read.pieces,
        calls=[{"id": c.id, "name": c.name, "args": c.text, "slot": c.id} for c in calls],
        usage=read.usage,
        finish=read.finish,
        model=read.model,
        complete=read.finish is not None and not read.error,
        error=read.error,
    )


# ---------------------------------------------------------------------------- openai-chat


def _chat_whole(body: dict[str, Any]) -> Told:
    told = Told(usage=obj(body.get("usage")), model=body.get("model"), error="error" in body)
    for item in seq(body.get("choices")) or []:
        choice = obj(item) or {}
        _chat_piece(told, obj(choice.get("message")) or {})
        told.finish = choice.get("finish_reason") or told.finish
    # A whole document is complete by itself; some hosts leave its finish_reason empty.
    told.complete = bool(body.get("choices")) and not told.error
    return told


def _chat_stream(values: list[dict[str, Any]]) -> Told:
    told = Told()
    for value in values:
        told.model = told.model or value.get("model")
        told.usage = obj(value.get("usage")) or told.usage
        told.error = told.error or "error" in value
        for item in (seq(value.get("choices")) or [])[:1]:
            choice = obj(item) or {}
            _chat_piece(told, obj(choice.get("delta")) or {})
            told.finish = choice.get("finish_reason") or told.finish
    told.complete = told.finish is not None and not told.error
    return told


def _chat_piece(told: Told, piece: dict[str, Any]) -> None:
    for name in THOUGHT_FIELDS:
        if isinstance(piece.get(name), str):
            told.fields[name] = told.fields.get(name, "") + piece[name]
    if isinstance(piece.get("content"), str):
        told.text += piece["content"]
    details = seq(piece.get("reasoning_details"))
    if details is not None:
        told.opaque["reasoning_details"] = _details(
            told.opaque.get("reasoning_details", []), details
        )
    if isinstance(piece.get("encrypted_content"), str):
        sealed = told.opaque.get("encrypted_content", "")
        told.opaque["encrypted_content"] = sealed + piece["encrypted_content"]
    for item in seq(piece.get("tool_calls")) or []:
        _chat_call(told, obj(item) or {})


_GROWING = {"reasoning.text": "text", "reasoning.summary": "summary"}


def _details(old: list[Any], new: list[Any]) -> list[Any]:
    """Details as they come in a stream: neighbouring texts or summaries grow together."""
    out = [dict(detail) for detail in old]
    for item in new:
        detail = obj(item) or {}
        field = _GROWING.get(str(detail.get("type")))
        last = out[-1] if out else {}
        if field and last.get("type") == detail.get("type"):
            grown = (last.get(field) or "") + (detail.get(field) or "")
            out[-1] = {**last, **{k: v for k, v in detail.items() if v is not None}, field: grown}
        else:
            out.append(dict(detail))
    return out


def _chat_call(told: Told, call: dict[str, Any]) -> None:
    function = obj(call.get("function")) or {}
    args = function.get("arguments")
    args = args if isinstance(args, str) else ("" if args is None else _dump(args))
    slot, id_ = call.get("index"), call.get("id") or ""
    last = told.calls[-1] if told.calls else None
    same = last is not None and (not id_ or id_ == last["id"]) and last["slot"] == str(slot)
    if last is not None and same:
        last["args"] += args
        return
    name = function.get("name") or ""
    told.calls.append({"id": id_, "name": name, "args": args, "slot": str(slot)})


def _dump(value: Any) -> str:
    return msgspec.json.encode(value).decode()


# ---------------------------------------------------------------------------- anthropic-messages


def _messages_whole(body: dict[str, Any]) -> Told:
    told = Told(usage=obj(body.get("usage")), model=body.get("model"))
    told.error = body.get("type") == "error"
    told.finish = body.get("stop_reason")
    told.blocks = [dict(obj(block) or {}) for block in seq(body.get("content")) or []]
    return _settled(told)


def _messages_stream(values: list[dict[str, Any]]) -> Told:
    told = Told()
    blocks: dict[int, dict[str, Any]] = {}
    for value in values:
        match value.get("type"):
            case "message_start":
                message = obj(value.get("message")) or {}
                told.model, told.usage = message.get("model"), obj(message.get("usage"))
            case "content_block_start":
                blocks[value["index"]] = dict(obj(value.get("content_block")) or {})
            case "content_block_delta":
                _messages_delta(blocks[value["index"]], obj(value.get("delta")) or {})
            case "message_delta":
                told.finish = (obj(value.get("delta")) or {}).get("stop_reason") or told.finish
                told.usage = {**(told.usage or {}), **(obj(value.get("usage")) or {})}
            case "error":
                told.error = True
            case _:
                pass
    told.blocks = [_closed(blocks[index]) for index in sorted(blocks)]
    return _settled(told)


def _messages_delta(block: dict[str, Any], delta: dict[str, Any]) -> None:
    match delta.get("type"):
        case "text_delta":
            block["text"] = block.get("text", "") + delta["text"]
        case "thinking_delta":
            block["thinking"] = block.get("thinking", "") + delta.get("thinking", "")
        case "signature_delta":
            block["signature"] = block.get("signature", "") + delta["signature"]
        case "input_json_delta":
            block["_args"] = block.get("_args", "") + delta["partial_json"]
        case _:
            pass


def _closed(block: dict[str, Any]) -> dict[str, Any]:
    args = block.pop("_args", "")
    if args:
        parsed = _json(args)
        block["input"] = args if parsed is None else parsed
    return block


def _settled(told: Told) -> Told:
    told.text = "".join(b.get("text", "") for b in told.blocks if b.get("type") == "text")
    told.calls = [
        {"id": b["id"], "name": b["name"], "args": _dump(b.get("input")), "slot": b["id"]}
        for b in told.blocks
        if b.get("type") == "tool_use"
    ]
    told.complete = told.finish is not None and not told.error
    return told
