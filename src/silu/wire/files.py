"""Files in messages: text ones are shown to every model as text."""

import base64
import binascii

from silu.types.parts import FilePart

_TEXT_TYPES = (
    "application/json",
    "application/xml",
    "application/javascript",
    "application/x-yaml",
    "application/toml",
    "application/x-sh",
    "application/sql",
)


def file_text(part: FilePart) -> str | None:
    """The file's text under its name; `None` for other kinds and for bytes that are no text."""
    media = part.media_type.split(";")[0].strip()
    if part.data is None or not (media.startswith("text/") or media in _TEXT_TYPES):
        return None
    try:
        text = base64.b64decode(part.data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    return f"File {part.name}:\n\n{text}"
