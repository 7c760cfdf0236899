"""xAI Grok over chat (vendors.md §10): errors are strings, the output count has no reasoning."""

from typing import Any

import msgspec

from silu.fakes.chat_vendor import ChatVendor, Ruling
from silu.fakes.script import Asked
from silu.fakes.vendor import RefusalError
from silu.types.usage import Usage
from silu.wire.serve import ServeOptions

_EFFORTS: dict[str, tuple[str, ...]] = {
    "grok-3-mini": ("none", "low", "high"),
    "grok-4.3": ("none", "low", "medium", "high"),
    "grok-4.5": ("low", "medium", "high"),
    "grok-4.6": ("low", "medium", "high", "xhigh"),
    "grok-4.7": ("low", "medium", "high", "xhigh"),
    "grok-4.20-reasoning": (),
}
_REFUSED = ("presence_penalty", "frequency_penalty", "stop")


class FakeGrok(ChatVendor):
    name = "xai"
    models = tuple(_EFFORTS)

    def refuse(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> RefusalError:
        del param
        body = {"code": code or "Client specified an invalid argument", "error": message}
        return RefusalError(status, body, why=message)

    def wrong_key(self) -> RefusalError:
        return self.refuse("Incorrect API key provided: te***ey.")

    def unknown_model(self, model: str) -> RefusalError:
        code = "Some requested entity was not found"
        return self.refuse(f"The model {model} does not exist.", status=404, code=code)

    def options(self, asked: Asked) -> ServeOptions:
        return msgspec.structs.replace(super().options(asked), shape_usage=_usage)

    def rule(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> Ruling:
        model, effort = body["model"], body.get("reasoning_effort")
        if effort is not None and not _EFFORTS[model]:
            raise self.refuse(f"Model {model} does not support parameter reasoningEffort.")
        if effort is not None and effort not in _EFFORTS[model]:
            words = ", ".join(_EFFORTS[model])
            raise self.refuse(
                f"Invalid reasoning effort {effort!r} for model {model}. Supported values are: "
                f"{words}."
            )
        for name in _REFUSED:
            if body.get(name) is not None:
                raise self.refuse(f"Model {model} does not support parameter {name}.")
        for i, message in enumerate(messages):
            if message["role"] == "assistant":
                wrong = self.echo(message, model, needed=False)
                if wrong:
                    self.complaints.append(f"messages[{i}]: {wrong}")
        return Ruling(thinking=effort != "none", effort=effort)


def _usage(usage: Usage) -> dict[str, Any]:
    """Chat counts reasoning beside the completion; the total has both."""
    thought = usage.reasoning_tokens or 0
    read, out = usage.input_tokens or 0, (usage.output_tokens or 0) - thought
    return {
        "prompt_tokens": read,
        "completion_tokens": out,
        "total_tokens": read + out + thought,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens or 0},
        "completion_tokens_details": {"reasoning_tokens": thought},
    }
