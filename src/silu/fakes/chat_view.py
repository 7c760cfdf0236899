"""A checked openai-chat body as a script sees it."""

from typing import Any

from silu.fakes.raw import obj, seq
from silu.fakes.script import Asked


def text_of(content: object) -> str:
    """The text of a message's content, string or parts."""
    if isinstance(content, str):
        return content
    parts = [obj(part) or {} for part in seq(content) or []]
    return "".join(part.get("text", "") for part in parts if part.get("type") == "text")


def asked_of_chat(
    body: dict[str, Any], messages: list[dict[str, Any]], *, thinking: bool, effort: str | None
) -> Asked:
    """Sum a request up: the last user text and the results since the last answer."""
    results: list[str] = []
    for message in reversed(messages):
        if message["role"] != "tool":
            break
        results.append(text_of(message.get("content")))
    users = [text_of(m.get("content")) for m in messages if m["role"] == "user"]
    options = obj(body.get("stream_options")) or {}
    return Asked(
        model=body["model"],
        dialect="openai-chat",
        body=body,
        stream=bool(body.get("stream")),
        thinking=thinking,
        effort=effort,
        user=users[-1] if users else "",
        results=tuple(reversed(results)),
        turn=sum(1 for m in messages if m["role"] == "assistant"),
        include_usage=bool(options.get("include_usage")),
    )
