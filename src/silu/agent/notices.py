"""Words from silu to the model: rendered once, stored so, carried on other messages.

A notice stands in a tag that is named per session. The system text names the tag; everywhere
else its spelling is escaped, so that neither a person's paste nor a file can speak as silu.
"""

import re
import secrets
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from silu.agent.todo import NAME as TODO
from silu.agent.todo import TodoStore
from silu.types.facts import Mode
from silu.types.parts import Message, NoticePart, Part, TextPart, ToolResultPart

NoticeKind = Literal[
    "mode", "todo", "plan", "steering", "open_todos", "no_answer", "repeated_call", "answer_now"
]


def new_tag() -> str:
    """A tag nobody can guess from outside the session."""
    return f"silu-{secrets.token_hex(4)}"


def escape(text: str, tag: str) -> str:
    """`text` with every spelling of the session's tag made harmless."""
    if tag.lower() not in text.lower():
        return text
    return re.sub(rf"<(?=\s*/?\s*{re.escape(tag)})", "&lt;", text, flags=re.IGNORECASE)


def notice(kind: NoticeKind, text: str, tag: str, part_id: str) -> NoticePart:
    """A notice, rendered; `text` may hold words of others and is escaped."""
    return NoticePart(kind=kind, text=f"<{tag}>\n{escape(text, tag)}\n</{tag}>", id=part_id)


def escaped(message: Message, tag: str) -> Message:
    """A message as it is sent: texts that are not ours cannot open the tag.

    What the model itself wrote stays as it was: vendors bind its thoughts to those bytes.
    """
    if message.role == "assistant":
        return message
    parts = [_escaped_part(part, tag) for part in message.parts]
    if all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    return msgspec.structs.replace(message, parts=parts)


def _escaped_part(part: Part, tag: str) -> Part:
    match part:
        case TextPart(text=text) if (safe := escape(text, tag)) != text:
            return msgspec.structs.replace(part, text=safe)
        case ToolResultPart(shown=shown) if (safe := escape(shown, tag)) != shown:
            return msgspec.structs.replace(part, shown=safe)
        case _:
            return part


# ------------------------------------------------------------------- what was told before


def last_notice(messages: Sequence[Message], kind: NoticeKind) -> NoticePart | None:
    """The newest notice of a kind in these messages."""
    for message in reversed(messages):
        for part in reversed(message.parts):
            if isinstance(part, NoticePart) and part.kind == kind:
                return part
    return None


_MODE_LINE = "The mode is {mode}."


def mode_text(mode: Mode, statement: str) -> str:
    return f"{_MODE_LINE.format(mode=mode)} {statement}"


def told_mode(messages: Sequence[Message]) -> Mode | None:
    """The mode that the newest mode notice names."""
    part = last_notice(messages, "mode")
    if part is None:
        return None
    return "plan" if _MODE_LINE.format(mode="plan") in part.text else "build"


def todo_text(store: TodoStore) -> str:
    """The list as it is now, for a model that last saw another one."""
    if not store.has_items():
        return "The task list was changed from outside. It is empty now."
    return f"The task list was changed from outside. It is now:\n{_body(store)}"


def _body(store: TodoStore) -> str:
    """As a `todo` result begins."""
    return msgspec.json.encode({"todos": store.read(), "summary": store.get_summary()}).decode()


def tells_todos(messages: Sequence[Message]) -> bool:
    """Whether any of these messages shows the model a task list."""
    parts = (part for message in messages for part in message.parts)
    return any(
        (isinstance(part, NoticePart) and part.kind == "todo")
        or (isinstance(part, ToolResultPart) and part.name == TODO and part.status == "ok")
        for part in parts
    )


def knows_todos(messages: Sequence[Message], store: TodoStore, tag: str) -> bool:
    """Whether the newest list the model has seen, in a result or a notice, is the list as it is."""
    for message in reversed(messages):
        for part in reversed(message.parts):
            if isinstance(part, NoticePart) and part.kind == "todo":
                return escape(todo_text(store), tag) in part.text
            if isinstance(part, ToolResultPart) and part.name == TODO and part.status == "ok":
                return part.shown.startswith(_body(store)[:-1])
    return not store.has_items()


def open_todos_text(items: Iterable[tuple[str, str, str]]) -> str:
    lines = [f"- {item_id}. {content} ({status})" for item_id, content, status in items]
    return "\n".join(
        [
            "You ended your turn with these items of the task list still open:",
            *lines,
            "If they are done, mark them completed; if they are given up, mark them cancelled; "
            "if work is left that you can do, do it now. If an item waits for the person, leave "
            "it open and say so. You are told this once.",
        ]
    )


NO_ANSWER = (
    "Your last reply held no answer and no tool call. Answer the person now, or call the tool you "
    "need."
)
ANSWER_NOW = (
    "The person wants the answer now. Begin no new work: answer with what you have, and say what "
    "is missing."
)
REPEATED = (
    "You have made this same call several times with the same result. Do something else: change "
    "the arguments, use another tool, or answer with what you know."
)


def steering_text(texts: Sequence[str]) -> str:
    said = "\n\n".join(texts)
    return f"While you were working the person said:\n{said}\nTake it into account from here on."
