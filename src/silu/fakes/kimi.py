"""Moonshot's Kimi (vendors.md §5): three generations of switches, and an echo per tool call."""

from typing import Any

import msgspec

from silu.fakes.chat_rules import is_forced
from silu.fakes.chat_vendor import ChatVendor, Ruling, switch_of
from silu.fakes.raw import obj
from silu.fakes.script import Asked, Script, chatty
from silu.fakes.vendor import RefusalError
from silu.types.usage import Usage
from silu.wire.serve import ServeOptions

_SWITCHED = ("kimi-k2.5", "kimi-k2.6")
_ALWAYS = ("kimi-k2.7-code", "kimi-k2.7-code-highspeed")
_EFFORTS = ("kimi-k3", "kimi-k3.1-pro", "kimi-k3.1-pro-highspeed")
_FIXED = ("top_p", "n", "presence_penalty", "frequency_penalty")


class FakeKimi(ChatVendor):
    """`usage_in_choice`: as older answers had it."""

    name = "kimi"
    models = (*_SWITCHED, *_ALWAYS, *_EFFORTS)
    fillers = (" ",)

    def __init__(
        self,
        script: Script = chatty,
        *,
        key: str = "test-key",
        rate: float | None = None,
        usage_in_choice: bool = False,
    ) -> None:
        super().__init__(script, key=key, rate=rate)
        self.usage_in_choice = usage_in_choice

    def refuse(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> RefusalError:
        del param
        error = {"message": message, "type": code or "invalid_request_error"}
        return RefusalError(status, {"error": error}, why=message)

    def wrong_key(self) -> RefusalError:
        message = "Invalid Authentication"
        return self.refuse(message, status=401, code="invalid_authentication_error")

    def unknown_model(self, model: str) -> RefusalError:
        message = f"Not found the model {model} or Permission denied"
        return self.refuse(message, status=404, code="resource_not_found_error")

    def options(self, asked: Asked) -> ServeOptions:
        return msgspec.structs.replace(
            super().options(asked),
            shape_usage=_usage,
            usage_in_choice=self.usage_in_choice,
            include_usage=True,
        )

    def rule(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> Ruling:
        ruling = self._switch(body)
        if body.get("temperature") not in (None, 1):
            raise self.refuse("invalid temperature: only 1 is allowed for this model")
        for name in _FIXED:
            if body.get(name) is not None:
                raise self.refuse(f"invalid {name}: it is fixed for this model")
        if ruling.thinking and is_forced(body) and body["model"] not in _EFFORTS:
            raise self.refuse("tool_choice 'required' is incompatible with thinking enabled")
        self._check_echo(body, messages, thinking=ruling.thinking)
        return ruling

    def _switch(self, body: dict[str, Any]) -> Ruling:
        model, word = body["model"], switch_of(body)
        if model in _EFFORTS:
            if word is not None:
                raise self.refuse("invalid thinking: this model takes reasoning_effort")
            return self._effort(body.get("reasoning_effort"))
        if word not in (None, "enabled", "disabled"):
            raise self.refuse(f"invalid thinking.type: {word}")
        if word == "disabled" and model in _ALWAYS:
            raise self.refuse(f"invalid thinking: thinking cannot be disabled for {model}")
        keep = (obj(body.get("thinking")) or {}).get("keep")
        if keep is not None and (model != "kimi-k2.6" or keep != "all"):
            raise self.refuse("invalid thinking.keep")
        return Ruling(thinking=word != "disabled")

    def _effort(self, effort: object) -> Ruling:
        """Unknown words are ignored and `max` runs: a client that sends them gets no error."""
        if effort is not None and not isinstance(effort, str):
            raise self.refuse("reasoning_effort must be a string")
        if effort == "none":
            raise self.refuse("invalid reasoning_effort: none; use low, high or max")
        if effort not in (None, "low", "high", "max"):
            self.complaints.append(f"reasoning_effort {effort!r} is ignored, max runs")
        return Ruling(thinking=True, effort=effort if effort in ("low", "high") else "max")

    def _check_echo(
        self, body: dict[str, Any], messages: list[dict[str, Any]], *, thinking: bool
    ) -> None:
        for i, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            called = bool(message.get("tool_calls"))
            wrong = self.echo(message, body["model"], needed=thinking and called)
            if wrong is None:
                continue
            said = (
                "thinking is enabled but reasoning_content is missing in assistant tool call "
                f"message at index {i}"
            )
            refusal = self.refuse(said)
            raise RefusalError(400, refusal.body, why=f"messages[{i}]: {wrong}")


def _usage(usage: Usage) -> dict[str, Any]:
    read, out = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "prompt_tokens": read,
        "completion_tokens": out,
        "total_tokens": read + out,
        "cached_tokens": usage.cache_read_tokens or 0,
    }
