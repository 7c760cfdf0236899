"""Ollama's own chat API: writing requests."""

from typing import Any

from silu.types.parts import ImagePart
from silu.types.rules import Encoded, EncodeInput, EncodeRules
from silu.wire.history import (
    NOT_SENT_IMAGE,
    IdForm,
    Turn,
    choice,
    prepare,
    sampling,
)
from silu.wire.openai_chat_request import ChatWriter
from silu.wire.pieces import arguments, joined, merge_deep

IDS = IdForm(legal=r"[^\s]{1,64}")


def encode(request: EncodeInput, rules: EncodeRules) -> Encoded:
    """The body for `/api/chat`."""
    history = prepare(request, rules, IDS)
    body: dict[str, Any] = {
        "model": request.model,
        "messages": _OllamaWriter(history, rules).messages(),
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in request.tools
        ]
        # The API has no tool choice: what cannot be said is told.
        choice(request, _without_choice(rules), history)
    options: dict[str, Any] = {**sampling(request, rules, history)}
    if request.max_tokens is not None:
        options["num_predict"] = request.max_tokens
    if options:
        body["options"] = options
    body["stream"] = request.stream
    return Encoded(
        path="/api/chat",
        body=merge_deep(body, request.wire),
        dropped=tuple(history.dropped),
    )


def _without_choice(rules: EncodeRules) -> EncodeRules:
    return EncodeRules(origin=rules.origin, tool_choice_ok=("auto",))


class _OllamaWriter(ChatWriter):
    echo_default = "thinking"

    def user(self, turn: Turn) -> dict[str, Any] | None:
        images = [part for part in turn.parts if isinstance(part, ImagePart) and part.data]
        texts: list[str] = list(turn.notices)
        for part in turn.parts:
            if isinstance(part, ImagePart):
                if not part.data:
                    self.history.drop(turn, part, "image", "its bytes are not at hand")
                    texts.append(NOT_SENT_IMAGE)
                continue
            block = self.user_part(turn, part)
            if block is not None:
                texts.append(block["text"])
        if not images and not joined(texts):
            return None
        message: dict[str, Any] = {"role": "user", "content": joined(texts)}
        if images:
            message["images"] = [part.data for part in images]
        return message

    def results(self, turn: Turn) -> list[dict[str, Any]]:
        messages = super().results(turn)
        for message, result in zip(messages, turn.results, strict=True):
            message["tool_name"] = result.name
        return messages

    def content(self, text: str, turn: Turn, echo: dict[str, Any]) -> Any:
        return text

    def calls(self, turn: Turn) -> list[dict[str, Any]]:
        return [
            {"id": part.call_id, "function": {"name": part.name, "arguments": arguments(part)}}
            for part in turn.calls
        ]
