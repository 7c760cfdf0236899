"""Mistral's chat completions: writing requests (vendors.md §11)."""

from typing import Any, cast

import msgspec

from silu.types.parts import ThinkingPart
from silu.types.rules import Encoded, EncodeInput, EncodeRules
from silu.wire.history import IdForm, Turn, prepare, thought_reason
from silu.wire.mistral_chat import CHUNK
from silu.wire.openai_chat_request import ChatWriter, chat_body

IDS = IdForm(legal=r"[a-zA-Z0-9]{9}", prefix="", length=9)

_BRIDGE = "(The tools have answered.)"
"""Mistral takes no user message directly behind a tool message."""


def encode(request: EncodeInput, rules: EncodeRules) -> Encoded:
    """The body for `/chat/completions`."""
    history = prepare(request, rules, IDS)
    messages = _MistralWriter(history, rules).messages()
    body = chat_body(request, rules, history, messages, required="any")
    # The API counts tokens in every stream and refuses a field it does not know.
    body.pop("stream_options", None)
    return Encoded(path="/chat/completions", body=body, dropped=tuple(history.dropped))


class _MistralWriter(ChatWriter):
    def messages(self) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        for message in super().messages():
            if message["role"] == "user" and out and out[-1]["role"] == "tool":
                out.append({"role": "assistant", "content": _BRIDGE})
            out.append(message)
        return out

    def results(self, turn: Turn) -> list[dict[str, Any]]:
        messages = super().results(turn)
        for message, result in zip(messages, turn.results, strict=True):
            message["name"] = result.name
        return messages

    def echo(self, turn: Turn) -> dict[str, Any]:
        """One merged thinking chunk at the head of the content: split ones are refused."""
        thoughts = [
            part for part in turn.parts if isinstance(part, ThinkingPart) and part.kind != "tagged"
        ]
        if not thoughts:
            return {}
        kept = [turn.kept_of(part.id, CHUNK) for part in thoughts]
        if any(one is None for one in kept):
            self.history.drop_thoughts(turn, thoughts, thought_reason(turn, self.rules))
            return {}
        chunk: dict[str, Any] = {
            "type": "thinking",
            "thinking": [{"type": "text", "text": "".join(part.text for part in thoughts)}],
        }
        for one in kept:
            if one is not None:
                chunk |= cast("dict[str, Any]", msgspec.json.decode(one.data))
        return {"chunk": chunk}

    def content(self, text: str, turn: Turn, echo: dict[str, Any]) -> Any:
        chunk = echo.pop("chunk", None)
        if chunk is None:
            return text
        return [chunk, {"type": "text", "text": text}] if text.strip() else [chunk]
