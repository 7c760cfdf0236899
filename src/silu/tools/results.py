"""Cuts a result to what a model should be shown, with a note of how to read the rest."""

from dataclasses import dataclass

MAX_CHARS = 24_000
"""About 6,000 tokens of English: one result must not push everything else out of the window."""

MAX_LINE = 2_000

RESULT_PREFIX = "result:"
"""`read_file` reads a kept result under this address followed by its call id."""

EMPTY = "(no output)"
"""Some vendors refuse an empty tool result (F101)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """`text` goes to the model; `truncated` says that the whole must be kept beside it."""

    text: str
    truncated: bool


def cut_line(line: str, limit: int = MAX_LINE) -> str:
    """One line, shortened when it is longer than `limit` characters."""
    if len(line) <= limit:
        return line
    return f"{line[:limit]}… (line of {len(line)} characters, cut)"


def show(text: str, *, call_id: str, limit: int = MAX_CHARS) -> Shown:
    """The head of a result, whole lines, and where to read on; a short text stays as it is."""
    if not text.strip():
        return Shown(text=EMPTY, truncated=False)
    if len(text) <= limit:
        return Shown(text=text, truncated=False)
    lines = text.split("\n")
    kept: list[str] = []
    size = 0
    for line in lines:
        short = cut_line(line)
        if kept and size + len(short) + 1 > limit:
            break
        kept.append(short)
        size += len(short) + 1
    note = (
        f"[cut: {len(kept)} of {len(lines)} lines shown, {len(text)} characters in all; read on "
        f'with read_file {{"path": "{RESULT_PREFIX}{call_id}", "start_line": {len(kept) + 1}}}]'
    )
    return Shown(text="\n".join([*kept, note]), truncated=True)
