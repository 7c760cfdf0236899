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
    """`usage_in_choice`: as older answers had it. `code`: Kimi Code, where the effort stands
    inside the switch and unknown words are refused."""

    name = "kimi"
    models = (*_SWITCHED, *_ALWAYS, *_EFFORTS)
    fillers = (" ",)
    has_messages = True

    def __init__(
        self,
        script: Script = chatty,
        *,
        key: str = "test-key",
        rate: float | None = None,
        usage_in_choice: bool = False,
        code: bool = False,
    ) -> None:
        super().__init__(script, key=key, rate=rate)
        self.usage_in_choice = usage_in_choice
        self.code = code

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
        if self.code:
            return self._code(body, word)
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

    def _code(self, body: dict[str, Any], word: str | None) -> Ruling:
        effort = (obj(body.get("thinking")) or {}).get("effort")
        if body.get("reasoning_effort") is not None:
            raise self.refuse("invalid reasoning_effort: it stands in thinking.effort")
        if word not in (None, "enabled") or effort not in (None, "low", "medium", "high", "max"):
            raise self.refuse(f"invalid thinking: {word} {effort}")
        return Ruling(thinking=True, effort="high" if effort == "medium" else effort)

    def rule_messages(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> Ruling:
        """A switch without a budget, an effort beside it; blocks carry no signature."""
        switch = obj(body.get("thinking")) or {}
        effort = (obj(body.get("output_config")) or {}).get("effort")
        if "budget_tokens" in switch:
            raise self.refuse("invalid thinking.budget_tokens: it is not supported")
        forced = body["model"] not in _SWITCHED
        if switch.get("type") not in (None, "enabled", *(() if forced else ("disabled",))):
            raise self.refuse(f"invalid thinking.type: {switch.get('type')}")
        if effort not in (None, "low", "high", "max"):
            raise self.refuse(f"invalid output_config.effort: {effort}")
        thinking = switch.get("type") != "disabled"
        for i, message in enumerate(messages):
            if thinking and message["role"] == "assistant":
                wrong = self.echo_blocks(message, body["model"])
                if wrong is not None:
                    raise self._missing(i, wrong)
        return Ruling(thinking=thinking, effort=effort)

    def _missing(self, at: int, wrong: str) -> RefusalError:
        said = (
            "thinking is enabled but reasoning_content is missing in assistant tool call "
            f"message at index {at}"
        )
        return RefusalError(400, self.refuse(said).body, why=f"messages[{at}]: {wrong}")

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
            if wrong is not None:
                raise self._missing(i, wrong)


def _usage(usage: Usage) -> dict[str, Any]:
    read, out = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "prompt_tokens": read,
        "completion_tokens": out,
        "total_tokens": read + out,
        "cached_tokens": usage.cache_read_tokens or 0,
    }
