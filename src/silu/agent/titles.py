"""A session's title from the person's first words: at once, and without a model call."""

import re

from silu.types.parts import FilePart, ImagePart, Message, TextPart

_WIDTH = 60
"""In columns: a Chinese, Japanese or Korean character takes two."""

_MARKUP = re.compile(r"^[\s>#*\-+`~|=]+|[`*_~]+")
_ENDS = ".!?。！？;；,，:：、"


def title_of(message: Message) -> str:
    """The first line that says something, cut at a word; a file's name where there is no text."""
    text = "\n".join(part.text for part in message.parts if isinstance(part, TextPart))
    for line in text.splitlines():
        plain = " ".join(_MARKUP.sub("", line).split())
        if any(char.isalnum() for char in plain):
            return _cut(plain)
    names = [part.name for part in message.parts if isinstance(part, FilePart)]
    if names:
        return _cut(names[0])
    return "Image" if any(isinstance(part, ImagePart) for part in message.parts) else ""


def _cut(text: str) -> str:
    width = 0
    for at, char in enumerate(text):
        width += 2 if char >= "\u1100" else 1
        if width > _WIDTH:
            head = text[:at]
            space = head.rfind(" ")
            # A cut inside a word is right where words have no spaces between them.
            whole = head[:space] if space > at // 2 and char.isascii() else head
            return whole.rstrip(_ENDS + " ") + "…"
    return text.rstrip(_ENDS + " ") or text
