"""MiniMax (vendors.md §9): tags in the content unless they are split off, and snapshots."""

from collections.abc import Callable
from typing import Any

import msgspec

from silu.fakes.chat_vendor import ChatVendor, Ruling, switch_of
from silu.fakes.script import Answer, Asked, Say, Script, Think, chatty
from silu.fakes.vendor import RefusalError
from silu.wire.serve import ServeOptions

_M2 = ("MiniMax-M2", "MiniMax-M2.1", "MiniMax-M2.5", "MiniMax-M2.7")


class FakeMiniMax(ChatVendor):
    """`cumulative`: stream details repeat everything so far, as M3 was seen to send them."""

    name = "minimax"
    models = (*_M2, "MiniMax-M3", "MiniMax-M3.1-Flash")
    has_messages = True

    def __init__(
        self,
        script: Script = chatty,
        *,
        key: str = "test-key",
        rate: float | None = None,
        cumulative: bool = False,
    ) -> None:
        super().__init__(script, key=key, rate=rate)
        self.cumulative = cumulative

    def refuse(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> RefusalError:
        del param
        error = {"type": code or "bad_request_error", "message": f"invalid params, {message}"}
        return RefusalError(status, {"type": "error", "error": error}, why=message)

    def wrong_key(self) -> RefusalError:
        return self.refuse("login fail", status=401, code="authorized_error")

    def rule(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> Ruling:
        thinking = self._switch(body)
        temperature = body.get("temperature")
        if temperature is not None and not 0 < temperature <= 1:
            raise self.refuse("temperature must be in (0, 1]")
        if body.get("tool_choice") not in (None, "auto", "none"):
            raise self.refuse("tool_choice must be auto or none")
        for name in ("presence_penalty", "frequency_penalty", "parallel_tool_calls"):
            if body.get(name) is not None:
                raise self.refuse(f"{name} is not supported")
        if thinking:
            self._listen(messages)
        return Ruling(thinking=thinking)

    def _switch(self, body: dict[str, Any]) -> bool:
        word = switch_of(body)
        if body["model"] in _M2:
            # Anything is taken and the model thinks all the same.
            if word == "disabled":
                self.complaints.append("thinking cannot be switched off here")
            return True
        if word not in (None, "adaptive", "disabled"):
            raise self.refuse(f"thinking.type {word} is not supported, use adaptive")
        if word == "disabled" and body["model"] != "MiniMax-M3":
            raise self.refuse("thinking cannot be disabled for this model")
        return word != "disabled"

    def _listen(self, messages: list[dict[str, Any]]) -> None:
        for i, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            has = message.get("reasoning_details") or message.get("reasoning_content")
            if not has and "</think>" not in str(message.get("content")):
                self.complaints.append(f"messages[{i}]: the thinking of this message is missing")

    def prepare(self, asked: Asked, answer: Answer) -> Answer:
        ready = super().prepare(asked, answer)
        if asked.dialect != "openai-chat" or asked.body.get("reasoning_split") is True:
            return ready
        parts = tuple(
            Say(f"<think>\n{part.text}\n</think>\n\n") if isinstance(part, Think) else part
            for part in ready.parts
        )
        return msgspec.structs.replace(ready, parts=parts)

    def options(self, asked: Asked) -> ServeOptions:
        made = super().options(asked)
        if asked.dialect != "openai-chat":
            return made
        return msgspec.structs.replace(made, shape_thinking=_details(self.cumulative))

    def rule_messages(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> Ruling:
        thinking = self._switch(body)
        for message in messages:
            kinds = [block.get("type") for block in message["content"]]
            if thinking and message["role"] == "assistant" and "thinking" not in kinds:
                self.complaints.append("an assistant message came back without its thinking")
        return Ruling(thinking=thinking)


def _details(cumulative: bool) -> Callable[[str], dict[str, Any]]:
    sent: list[str] = []

    def shape(text: str) -> dict[str, Any]:
        sent.append(text)
        shown = "".join(sent) if cumulative else text
        return {
            "reasoning_content": text,
            "reasoning_details": [{"type": "reasoning.text", "text": shown}],
        }

    return shape
