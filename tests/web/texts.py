"""Answers of a given length that are hard on a page while they grow, and files a replay serves."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PROSE = (
    "The **river** carries what the hills let go, and the *plain* keeps it; see [the map]"
    "(https://example.org/map) for where `bank` and `bed` lie.\n\n"
)
_CHINESE = (
    "河流带走山丘放下的一切，平原把它们留住；思考的痕迹也这样一层一层沉下来，日后可以再读。\n\n"
)


def mixed(size: int) -> str:
    """Headings, prose, a table, a quote, code and a list, over and over."""
    round_ = (
        "## Part {n}\n\n"
        + _PROSE
        + "| what | how many |\n|---|---|\n| rye | {n} |\n| oats | 7 |\n\n"
        + "> Quoted, *with* marks.\n\n"
        + "```python\ndef part_{n}(water: int) -> int:\n    return water * {n}\n```\n\n"
        + "1. first\n2. second\n   - inner\n\n"
    )
    return _grown(lambda n: round_.replace("{n}", str(n)), size)


def fence(size: int) -> str:
    """One code fence without end."""
    return "```python\n" + _grown(lambda n: f"value_{n} = combine(value_{n - 1}, {n})\n", size)


def listed(size: int, *, items: int = 400) -> str:
    """One list of so many items."""
    words = "water finds its way " * 4
    each = max(12, size // items - 6)
    return "".join(f"- {number} {words[: each - 4]}\n" for number in range(items))


def chinese(size: int) -> str:
    """Prose; the size is in bytes, as everywhere here."""
    return _CHINESE * max(1, size // len(_CHINESE.encode()))


TEXTS = {"mixed text": mixed, "one code fence": fence, "a long list": listed, "Chinese": chinese}


def _grown(piece: Callable[[int], str], size: int) -> str:
    text, number = "", 1
    while len(text) < size:
        text += piece(number)
        number += 1
    return text


def write_answer(path: Path, text: str, *, deltas: int) -> None:
    """An answer of a chat endpoint in so many deltas, as a file to be served."""
    step = -(-len(text) // deltas)
    pieces = [text[at : at + step] for at in range(0, len(text), step)]
    _write(path, [_line({"content": piece}) for piece in pieces], finish="stop")


def write_call(path: Path, name: str, arguments: object) -> None:
    """An answer that calls one tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"call_{path.stem}", "type": "function", "function": function}
    _write(path, [_line({"tool_calls": [call]})], finish="tool_calls")


def _write(path: Path, lines: list[str], *, finish: str) -> None:
    path.write_text("".join([*lines, _line({}, finish=finish), "data: [DONE]\n\n"]))


def _line(delta: dict[str, Any], *, finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n"


def long_session(turns: int) -> bytes:
    """An export of so many turns, each with a thought, to be imported."""
    messages: list[dict[str, object]] = []
    for number in range(turns):
        said = {"id": f"p{number}u", "type": "text", "text": f"Question {number}: why?"}
        thought = {
            "id": f"p{number}t",
            "type": "thinking",
            "text": f"Thought {number}. " + _PROSE * 6,
            "kind": "full",
            "started_at": 1,
            "duration_ms": 4_000,
        }
        answer = {"id": f"p{number}a", "type": "text", "text": f"Answer {number}.\n\n" + _PROSE * 3}
        messages += [
            {"id": f"m{number}u", "role": "user", "parts": [said]},
            {"id": f"m{number}a", "role": "assistant", "parts": [thought, answer]},
        ]
    document = {
        "silu_export": 1,
        "session": {"title": "A long one", "mode": "build"},
        "messages": messages,
    }
    return json.dumps(document).encode()
