"""Cuts a result to what a model should be shown, with a note of how to read the rest."""

from dataclasses import dataclass

MAX_CHARS = 24_000
"""About 6,000 tokens of English: one result must not push everything else out of the window."""

MAX_LINE = 2_000

RESULT_PREFIX = "result:"
"""`read_file` reads a kept result under this address followed by the id of its part. (Some vendors
give the same call id in every turn.)"""

EMPTY = "(no output)"
"""Some vendors refuse an empty tool result (F101)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """`text` goes to the model; `truncated` says that the whole must be kept beside it."""

    text: str
    truncated: bool


def cut_line(line: str, limit: int = MAX_LINE, *, length: int | None = None) -> str:
    """One line, shortened when it is longer than `limit` characters; `length` is how long it was
    before the caller shortened it."""
    length = len(line) if length is None else length
    if length <= limit:
        return line
    return f"{line[:limit]}… (line of {length} characters; start_char {limit + 1} reads on)"


def show(text: str, *, part_id: str, limit: int = MAX_CHARS) -> Shown:
    """A short result as it is; of a long one the beginning and the end, where programs say how
    it went, in whole lines, and between them how to read the rest."""
    if not text.strip():
        return Shown(text=EMPTY, truncated=False)
    if len(text) <= limit:
        return Shown(text=text, truncated=False)
    lines = text.split("\n")
    # Few long lines get the room that many short ones would have.
    longest = max(MAX_LINE, limit // (2 * len(lines)))
    short = [cut_line(line, longest) for line in lines]
    head = _fitting(short, limit * 3 // 4)
    tail = _fitting(list(reversed(short[head:])), limit // 4, at_least=0)
    left_out = len(lines) - head - tail
    note = _note(part_id, first=head + 1, left_out=left_out, lines=len(lines), size=len(text))
    return Shown(text="\n".join([*short[:head], note, *short[head + left_out :]]), truncated=True)


def _fitting(lines: list[str], room: int, *, at_least: int = 1) -> int:
    """How many of these lines fit into `room` characters."""
    count = size = 0
    for line in lines:
        size += len(line) + 1
        if count >= at_least and size > room:
            break
        count += 1
    return count


def _note(part_id: str, *, first: int, left_out: int, lines: int, size: int) -> str:
    path = f'"path": "{RESULT_PREFIX}{part_id}"'
    if left_out == 0:
        return (
            f"[cut: long lines were shortened, {size} characters in all; read one on with "
            f'read_file {{{path}, "start_line": …, "start_char": …}}]'
        )
    return (
        f"[cut: lines {first}-{first + left_out - 1} of {lines} left out, {size} characters in "
        f'all; read them with read_file {{{path}, "start_line": {first}}}]'
    )
