"""Messages: an ordered list of parts, with the vendors' continuity data beside it."""

from typing import Any, Literal

import msgspec

Role = Literal["system", "user", "assistant", "tool"]
ThinkingKind = Literal["full", "summary", "tagged", "redacted"]
ResultStatus = Literal["ok", "error", "denied", "interrupted", "unknown"]


class BlobRef(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes kept outside the message, named by their sha256 (hex); `size` in bytes."""

    sha256: str
    size: int
    media_type: str = "application/octet-stream"
    name: str | None = None


class Citation(msgspec.Struct, frozen=True, kw_only=True):
    """A source the vendor named for a stretch of answer text; `raw` is its own JSON object."""

    url: str | None = None
    title: str | None = None
    cited: str | None = None
    raw: str | None = None


class TextPart(msgspec.Struct, tag_field="type", tag="text", kw_only=True):
    text: str
    id: str = ""
    citations: list[Citation] = []


class ThinkingPart(msgspec.Struct, tag_field="type", tag="thinking", kw_only=True):
    """A thought. `text` may be empty: some vendors withhold it and only sign it.

    `started_at` is milliseconds since 1970 UTC; `tokens` only where the vendor tells.
    """

    text: str
    id: str = ""
    kind: ThinkingKind = "full"
    started_at: int | None = None
    duration_ms: int | None = None
    tokens: int | None = None


class ToolCallPart(msgspec.Struct, tag_field="type", tag="tool_call", kw_only=True):
    """A call the model asks us to make. `arguments` is JSON text exactly as received."""

    call_id: str
    name: str
    arguments: str
    id: str = ""


class ToolResultPart(msgspec.Struct, tag_field="type", tag="tool_result", kw_only=True):
    """What a tool gave back: `shown` is what the model sees, `full` the whole of it, `pictures`
    are for the person."""

    call_id: str
    status: ResultStatus
    shown: str
    name: str | None = None
    id: str = ""
    full: BlobRef | None = None
    pictures: list[BlobRef] = []
    duration_ms: int | None = None


class ServerToolPart(msgspec.Struct, tag_field="type", tag="server_tool", kw_only=True):
    """A tool the vendor ran itself; `data` is the vendor's block as raw JSON text."""

    name: str
    data: str
    id: str = ""
    call_id: str | None = None


class ImagePart(msgspec.Struct, tag_field="type", tag="image", kw_only=True):
    """A picture: a blob of ours, or `data` (base64) in a message that has not been stored."""

    media_type: str
    id: str = ""
    blob: BlobRef | None = None
    data: str | None = None
    url: str | None = None


class FilePart(msgspec.Struct, tag_field="type", tag="file", kw_only=True):
    media_type: str
    name: str
    id: str = ""
    blob: BlobRef | None = None
    data: str | None = None


class NoticePart(msgspec.Struct, tag_field="type", tag="notice", kw_only=True):
    """A word from silu to the model (mode, todo, level, steering), stored as rendered."""

    kind: str
    text: str
    id: str = ""


class VendorPart(msgspec.Struct, tag_field="type", tag="vendor", kw_only=True):
    """A block we only keep: `kind` is the vendor's word, `data` its raw JSON text."""

    kind: str
    data: str
    id: str = ""


class UnknownPart(msgspec.Struct, tag_field="type", tag="unknown", kw_only=True):
    """A part written by a newer silu: kept as it was and written back unchanged."""

    raw: dict[str, Any]
    id: str = ""


Part = (
    TextPart
    | ThinkingPart
    | ToolCallPart
    | ToolResultPart
    | ServerToolPart
    | ImagePart
    | FilePart
    | NoticePart
    | VendorPart
    | UnknownPart
)

KNOWN_KINDS = frozenset(
    {
        "text",
        "thinking",
        "tool_call",
        "tool_result",
        "server_tool",
        "image",
        "file",
        "notice",
        "vendor",
        "unknown",
    }
)


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Where continuity data came from. Only the same origin may get it back.

    `model` is the model asked for, `served_model` what the vendor said it ran. `account` is a
    short hash of the key (never the key). `field` is the wire field the data stood in.
    """

    vendor: str
    endpoint: str = ""
    account: str = ""
    dialect: str = ""
    model: str = ""
    served_model: str | None = None
    level: str | None = None
    field: str = ""


class Continuity(msgspec.Struct, kw_only=True):
    """Opaque data a vendor wants back, beside the message and never inside what is shown.

    `part` is the id of the part it belongs to, or `None` for the message. `data` is raw JSON
    text: the opaque value exactly as received, or `null` where the part's own text is what
    goes back (plain reasoning fields). `refused_by` lists endpoints that refused it.
    """

    kind: str
    data: str
    origin: Origin
    part: str | None = None
    refused_by: list[str] = []


class Message(msgspec.Struct, kw_only=True):
    """One message. `interrupted` marks an answer that was cut or failed: kept for people,
    its thinking and its unfinished calls are never sent again."""

    role: Role
    parts: list[Part]
    continuity: list[Continuity] = []
    id: str = ""
    interrupted: bool = False


def text_of(message: Message) -> str:
    """All answer text of a message, text parts run together."""
    return "".join(part.text for part in message.parts if isinstance(part, TextPart))


def thinking_of(message: Message) -> str:
    """All thinking of a message, blocks joined with a blank line."""
    thoughts = [part.text for part in message.parts if isinstance(part, ThinkingPart)]
    return "\n\n".join(text for text in thoughts if text)


_encoder = msgspec.json.Encoder()
_raw_list = msgspec.json.Decoder(list[dict[str, Any]])


def decode_parts(data: bytes | str) -> list[Part]:
    """Read a stored list of parts; a kind we do not know becomes an `UnknownPart`."""
    return [part_from_object(item) for item in _raw_list.decode(data)]


def part_from_object(item: dict[str, Any]) -> Part:
    """One part from a JSON object; raises `msgspec.ValidationError` on a malformed known kind."""
    if item.get("type") not in KNOWN_KINDS or item.get("type") == "unknown":
        return UnknownPart(raw=item, id=str(item.get("id", "")))
    return msgspec.convert(item, Part)


def encode_parts(parts: list[Part]) -> bytes:
    """Write a list of parts; an `UnknownPart` is written back as it came."""
    return _encoder.encode([p.raw if isinstance(p, UnknownPart) else p for p in parts])
