"""A checked anthropic-messages body as a script sees it."""

from typing import Any

from silu.fakes.chat_view import text_of
from silu.fakes.script import Asked


def asked_of_messages(
    body: dict[str, Any],
    messages: list[dict[str, Any]],
    *,
    thinking: bool,
    effort: str | None,
    show_thinking: bool = True,
    notes: tuple[dict[str, Any], ...] = (),
    endpoint: str = "",
) -> Asked:
    """Sum a request up: the last user text and the results since the last answer."""
    last: list[dict[str, Any]] = messages[-1]["content"] if messages[-1]["role"] == "user" else []
    results = [text_of(b.get("content")) for b in last if b.get("type") == "tool_result"]
    users = [text_of(m["content"]) for m in messages if m["role"] == "user"]
    said = [text for text in users if text]
    return Asked(
        model=body["model"],
        dialect="anthropic-messages",
        body=body,
        stream=bool(body.get("stream")),
        thinking=thinking,
        effort=effort,
        user=said[-1] if said else "",
        results=tuple(results),
        turn=sum(1 for m in messages if m["role"] == "assistant"),
        endpoint=endpoint,
        show_thinking=show_thinking,
        notes=notes,
    )
