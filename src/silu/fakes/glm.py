"""Zhipu GLM (vendors.md §7): numbered errors, and thinking that is cleared unless it is kept."""

from typing import Any

from silu.fakes.chat_vendor import ChatVendor, Ruling, switch_of
from silu.fakes.raw import obj
from silu.fakes.vendor import RefusalError

_SWITCHED = ("glm-4.5", "glm-4.5-air", "glm-4.6", "glm-4.6v", "glm-4.7", "glm-5", "glm-5.1")
_ALWAYS = ("glm-5.3", "glm-5.3-flash", "glm-5.3-flashx", "glm-5.3-highspeed")
_MILD = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
FORCED = (
    "This model always engages in thinking and cannot be disabled; please use low, high, or max"
)


class FakeGlm(ChatVendor):
    """`coding`: the coding plan's endpoint, which keeps earlier thinking unless told not to."""

    name = "glm"
    base = "/api/paas/v4"
    models = (*_SWITCHED, "glm-5-turbo", "glm-5.2", *_ALWAYS)
    coding = False

    def refuse(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> RefusalError:
        del param
        return RefusalError(
            status, {"error": {"code": code or "1210", "message": message}}, why=message
        )

    def wrong_key(self) -> RefusalError:
        return self.refuse("Authentication Failed", status=401, code="1000")

    def unknown_model(self, model: str) -> RefusalError:
        return self.refuse("Unknown Model, please check the model code.", code="1211")

    def rule(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> Ruling:
        ruling = self._switch(body)
        switch = obj(body.get("thinking")) or {}
        clear = switch.get("clear_thinking")
        if clear is not None and not isinstance(clear, bool):
            raise self.refuse("thinking.clear_thinking must be a boolean")
        if body.get("max_completion_tokens") is not None:
            self.complaints.append("max_completion_tokens is not known here; max_tokens is")
        kept = clear is False or (clear is None and self.coding)
        if ruling.thinking:
            self._listen(body, messages, kept=kept)
        return ruling

    def _switch(self, body: dict[str, Any]) -> Ruling:
        model, word, effort = body["model"], switch_of(body), body.get("reasoning_effort")
        if word not in (None, "enabled", "disabled"):
            raise self.refuse(f"thinking.type: {word} is not supported")
        if model in _ALWAYS:
            if word == "disabled" or effort not in (None, "low", "high", "max"):
                raise self.refuse(FORCED)
            return Ruling(thinking=True, effort=effort or "max")
        if model == "glm-5.2":
            if effort not in (None, *_MILD):
                raise self.refuse(f"reasoning_effort: {effort} is not supported")
            off = word == "disabled" or effort in ("none", "minimal")
            return Ruling(thinking=not off, effort=effort)
        if effort is not None:
            self.complaints.append("reasoning_effort has no effect on this model")
        return Ruling(thinking=word != "disabled")

    def _listen(self, body: dict[str, Any], messages: list[dict[str, Any]], *, kept: bool) -> None:
        """Nothing is refused: a thought that is missing or changed only makes answers worse."""
        last = max((i for i, m in enumerate(messages) if m["role"] == "user"), default=-1)
        for i, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            wrong = self.echo(message, body["model"], needed=kept or i > last)
            if wrong:
                self.complaints.append(f"messages[{i}]: {wrong}")
