"""Text that every database takes and gives back as it was."""


def escape(text: str) -> str:
    """PostgreSQL takes no NUL in text and models write them: \\x10 escapes it, and itself."""
    if "\x00" not in text and "\x10" not in text:
        return text
    return text.replace("\x10", "\x10p").replace("\x00", "\x100")


def unescape(text: str) -> str:
    if "\x10" not in text:
        return text
    return text.replace("\x100", "\x00").replace("\x10p", "\x10")
