"""Alibaba's Qwen on Model Studio (vendors.md §6): a top-level switch, budgets or efforts, sealed
summaries, and non-streaming refusals."""

from collections.abc import Iterator
from typing import Any

import msgspec

from silu.fakes import playing, seals
from silu.fakes.chat_rules import is_forced
from silu.fakes.chat_vendor import ChatVendor, Ruling, size_of
from silu.fakes.raw import is_int
from silu.fakes.script import Answer, Asked, Think
from silu.fakes.vendor import RefusalError
from silu.types.events import ContinuityData, StreamEvent


class Qwen(msgspec.Struct, frozen=True, kw_only=True):
    """One model. `always`: thinking-only. `restricted`: off is refused. `streams`: thinking only
    over a stream. `efforts`: takes `reasoning_effort`. `sealed`: knows summaries."""

    default_on: bool = True
    always: bool = False
    restricted: bool = False
    streams: bool = False
    efforts: tuple[str, ...] = ()
    budget: int = 38_912
    window: int = 1_000_000
    sealed: bool = False


_EFFORTS = ("low", "medium", "high", "xhigh")
MODELS: dict[str, Qwen] = {
    "qwen-plus": Qwen(default_on=False, streams=True),
    "qwen-flash": Qwen(default_on=False, streams=True),
    "qwen3-max": Qwen(default_on=False, window=262_144),
    "qwen3-8b": Qwen(streams=True),
    "qwen3-235b-a22b-thinking-2507": Qwen(always=True, streams=True),
    "qwen3.6-plus": Qwen(budget=81_920),
    "qwen3.7-max": Qwen(),
    "qwen3.8-max": Qwen(efforts=_EFFORTS, budget=262_144),
    "qwen3.8-flash": Qwen(efforts=_EFFORTS),
    "qwen3.8-max-preview": Qwen(efforts=_EFFORTS, restricted=True),
    "qwen4-max": Qwen(efforts=_EFFORTS, sealed=True),
}


class FakeQwen(ChatVendor):
    name = "qwen"
    base = "/compatible-mode/v1"
    models = tuple(MODELS)
    secret = "fake-qwen"

    def refuse(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> RefusalError:
        kind = "invalid_request_error"
        error = {
            "message": message,
            "type": kind,
            "param": param,
            "code": code or "invalid_parameter_error",
        }
        return RefusalError(status, {"error": error, "request_id": "fake"}, why=message)

    def rule(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> Ruling:
        model = MODELS[body["model"]]
        thinking = self._switch(body, model)
        self._check_amount(body, model)
        if thinking and model.streams and not body.get("stream"):
            raise self.refuse(
                "parameter.enable_thinking must be set to false for non-streaming calls"
            )
        if thinking and is_forced(body):
            raise self.refuse(
                "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not "
                "support being set to required or object in thinking mode"
            )
        if size_of(body) > model.window:
            raise self.refuse(f"Range of input length should be [1, {model.window}]")
        self._check_seals(body, messages)
        self._listen(body, messages, thinking=thinking)
        return Ruling(thinking=thinking, effort=body.get("reasoning_effort"))

    def _switch(self, body: dict[str, Any], model: Qwen) -> bool:
        switch = body.get("enable_thinking")
        if switch is not None and not isinstance(switch, bool):
            raise self.refuse("enable_thinking must be a boolean", param="enable_thinking")
        if switch is False and model.restricted:
            raise self.refuse("The value of the enable_thinking parameter is restricted to True.")
        if model.always:
            return True
        return model.default_on if switch is None else switch

    def _check_amount(self, body: dict[str, Any], model: Qwen) -> None:
        budget, effort = body.get("thinking_budget"), body.get("reasoning_effort")
        if budget is not None and effort is not None:
            raise self.refuse("thinking_budget and reasoning_effort cannot be used together")
        if budget is not None and not (is_int(budget) and 1 <= budget <= model.budget):
            raise self.refuse(
                "The thinking_budget parameter must be a positive integer and not greater than "
                f"{model.budget}"
            )
        if effort is not None and effort not in model.efforts:
            words = ", ".join(model.efforts) or "none"
            raise self.refuse(f"reasoning_effort {effort!r}: accepted values are {words}")
        display = body.get("thinking_display")
        if display is not None and (display != "summarized" or not model.sealed):
            raise self.refuse("thinking_display is not supported by this model")

    # -- sealed thoughts -------------------------------------------------------------------

    def seal(self, asked: Asked, answer: Answer) -> playing.Seal:
        """With `thinking_display: summarized` the full text comes sealed beside the summary."""
        del answer
        if asked.body.get("thinking_display") != "summarized":
            return playing.no_seal

        def seal(index: int, thought: Think) -> Iterator[StreamEvent]:
            value = self._make(asked.model, thought.text)
            data = msgspec.json.encode(value).decode()
            yield ContinuityData(index, "encrypted_content", data, "encrypted_content")

        return seal

    def _make(self, model: str, text: str) -> str:
        return seals.make(self.secret, scope=model, text=text, place=0, prefix=bytes(12))

    def _check_seals(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> None:
        for i, message in enumerate(messages):
            value = message.get("encrypted_content")
            if value is None:
                continue
            given = self._make(body["model"], str(message.get("reasoning_content", "")))
            if value != given:
                where = f"messages[{i}].encrypted_content"
                raise self.refuse(f"{where}: the content could not be verified")

    def _listen(
        self, body: dict[str, Any], messages: list[dict[str, Any]], *, thinking: bool
    ) -> None:
        """No echo is ever refused; one that is missing in a tool loop costs quality."""
        last = max((i for i, m in enumerate(messages) if m["role"] == "user"), default=-1)
        for i, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            kept = body.get("preserve_thinking") is True or i > last
            wrong = self.echo(message, body["model"], needed=thinking and kept)
            if wrong:
                self.complaints.append(f"messages[{i}]: {wrong}")
