"""A request's earlier answers, dialect by dialect, for comparing them with recordings."""

from typing import Any

import msgspec

from silu.fakes.answers import Told
from silu.fakes.answers_more import (
    Piece,
    bedrock_pieces,
    gemini_pieces,
    mistral_pieces,
    ollama_pieces,
    response_pieces,
)
from silu.fakes.chat_view import text_of
from silu.fakes.echo import chat_ids
from silu.fakes.gemini import PLACEHOLDER
from silu.fakes.messages_rules import blocks_of, join
from silu.fakes.raw import obj, seq
from silu.fakes.replay_echo import EchoError

OTHERS = ("openai-responses", "gemini-generate", "ollama-chat", "mistral-chat", "bedrock-converse")


_BASE64 = str.maketrans("-_", "+/")


class Spoken(msgspec.Struct, frozen=True, kw_only=True):
    """An earlier answer in a request: where it stands, its calls, its text, and its pieces in the
    dialects that are compared piece by piece. `last`: no person has spoken since."""

    at: int
    ids: tuple[str, ...]
    text: str
    last: bool = False
    pieces: tuple[Piece, ...] = ()


def spoken(dialect: str, body: dict[str, Any]) -> list[Spoken]:
    """The earlier answers of a request, in order."""
    match dialect:
        case "openai-responses":
            return _responses(body)
        case "gemini-generate":
            contents = [obj(c) or {} for c in seq(body.get("contents")) or []]
            return _by_message(dialect, contents, "model")
        case _:
            return _by_message(dialect, messages_of(dialect, body), "assistant")


def messages_of(dialect: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of a body; those of anthropic-messages with neighbours joined."""
    messages = [obj(message) or {} for message in seq(body.get("messages")) or []]
    if dialect != "anthropic-messages":
        return messages
    return join([{"role": m.get("role"), "content": blocks_of(m.get("content"))} for m in messages])


def _by_message(dialect: str, messages: list[dict[str, Any]], role: str) -> list[Spoken]:
    people = [i for i, m in enumerate(messages) if m.get("role") == "user" and _says(m)]
    last = people[-1] if people else -1
    return [
        _spoken(dialect, message, i, last=i > last)
        for i, message in enumerate(messages)
        if message.get("role") == role
    ]


def _says(message: dict[str, Any]) -> bool:
    """Whether a user message is a person's and not only tool results."""
    blocks = seq(message.get("content", message.get("parts")))
    if blocks is None:
        return True
    results = ("tool_result", "toolResult", "functionResponse", "function_response")
    found = [obj(block) or {} for block in blocks]
    return not any(b.get("type") in results or any(name in b for name in results) for b in found)


def _spoken(dialect: str, message: dict[str, Any], at: int, *, last: bool) -> Spoken:
    match dialect:
        case "openai-chat":
            text = text_of(message.get("content"))
            return Spoken(at=at, ids=tuple(chat_ids(message)), text=text, last=last)
        case "anthropic-messages":
            used = [b["id"] for b in message["content"] if b.get("type") == "tool_use"]
            return Spoken(at=at, ids=tuple(used), text=text_of(message["content"]), last=last)
        case "gemini-generate":
            pieces = list(gemini_pieces(message))
        case "ollama-chat":
            pieces = list(ollama_pieces(message))
        case "mistral-chat":
            pieces = list(mistral_pieces(message))
        case _:
            pieces = list(bedrock_pieces(message))
    return _of_pieces(pieces, at, last=last)


def _of_pieces(pieces: list[Piece], at: int, *, last: bool) -> Spoken:
    return Spoken(
        at=at,
        ids=tuple(p.id for p in pieces if p.kind == "call"),
        text="".join(p.text for p in pieces if p.kind == "text"),
        last=last,
        pieces=tuple(pieces),
    )


def _responses(body: dict[str, Any]) -> list[Spoken]:
    """Items of the model that follow each other are one answer."""
    items = [obj(item) or {} for item in seq(body.get("input")) or []]
    people = [i for i, item in enumerate(items) if item.get("role") == "user"]
    last = people[-1] if people else -1
    out: list[Spoken] = []
    group: list[Piece] = []
    for i, item in enumerate([*items, {"type": "end"}]):
        pieces = response_pieces(item)
        if pieces:
            group.extend(pieces)
        elif group:
            out.append(_of_pieces(group, i - 1, last=i - 1 > last))
            group = []
    return out


def check_pieces(said: Spoken, told: Told, *, dialect: str, own: bool, thinking: bool) -> None:
    """The opaque data and thoughts of an earlier answer against what was sent.

    They may be left out where the vendor lets them; what comes back must be what was sent, in
    its order. Raises `EchoError`.
    """
    given = [p for p in said.pieces if _counts(p, dialect) and not _was_text(p, told)]
    sent = [p for p in told.pieces if _counts(p, dialect)]
    if not own or not told.complete:
        if given:
            why = "an answer that was cut" if own else "another model's answer"
            raise EchoError(f"thinking of {why}; it must be left out")
        return
    rest = iter(sent)
    for piece in given:
        if not any(_same(piece, candidate) for candidate in rest):
            raise EchoError("a thought or its data is not what was sent, or out of its place")
    if thinking and said.last and len(given) < len(sent) and _must(dialect, told):
        raise EchoError(f"{len(sent) - len(given)} of {len(sent)} thoughts are missing")


def _counts(piece: Piece, dialect: str) -> bool:
    if piece.data == PLACEHOLDER:
        return False
    if piece.data is not None or dialect == "gemini-generate":
        return piece.data is not None
    return piece.kind == "thinking" and bool(piece.text or piece.id)


def _was_text(piece: Piece, told: Told) -> bool:
    """A thought that came between tags in the text and goes back as a thought."""
    plain = piece.kind == "thinking" and piece.data is None
    return plain and bool(piece.text.strip()) and piece.text.strip() in told.text


def _same(given: Piece, sent: Piece) -> bool:
    """Sealed data agrees by itself (either alphabet of base64 says the same); a thought that
    comes back without its seal agrees by its text."""
    if given.kind != sent.kind:
        return False
    if given.data is None:
        return given.text == sent.text if given.text else given.id == sent.id
    return given.data.translate(_BASE64).rstrip("=") == (
        (sent.data or "").translate(_BASE64).rstrip("=")
    )


def _must(dialect: str, told: Told) -> bool:
    """Whether a tool loop may not go on without them (vendors.md §20)."""
    match dialect:
        case "openai-responses" | "bedrock-converse":
            return any(piece.data for piece in told.pieces) and bool(told.ids)
        case "gemini-generate":
            return any(piece.kind == "call" and piece.data for piece in told.pieces)
        case _:
            return False


def plain_texts(dialect: str, body: dict[str, Any]) -> str:
    """All ordinary text of a request, thoughts left out, run together."""
    match dialect:
        case "openai-responses":
            items = [obj(item) or {} for item in seq(body.get("input")) or []]
            said = [str(body.get("instructions") or "")]
            said += [_item_text(item) for item in items]
        case "gemini-generate":
            contents = [*(seq(body.get("contents")) or []), body.get("systemInstruction")]
            parts = [p for c in contents for p in seq((obj(c) or {}).get("parts")) or []]
            found = [obj(part) or {} for part in parts]
            said = [str(p.get("text", "")) for p in found if p.get("thought") is not True]
        case "bedrock-converse":
            messages = [obj(m) or {} for m in seq(body.get("messages")) or []]
            blocks = [obj(b) or {} for m in messages for b in seq(m.get("content")) or []]
            said = [str(block.get("text", "")) for block in blocks]
        case _:
            said = [text_of(body.get("system"))]
            said += [
                text_of((obj(m) or {}).get("content")) for m in seq(body.get("messages")) or []
            ]
    return "\n".join(said)


def _item_text(item: dict[str, Any]) -> str:
    content = item.get("content")
    if item.get("type") == "reasoning" or content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(str((obj(part) or {}).get("text", "")) for part in seq(content) or [])
