"""OpenRouter (vendors.md §14): one `reasoning` object for all, typed details, forced thinkers."""

from collections.abc import Iterator
from typing import Any

import msgspec

from silu.fakes import playing, seals
from silu.fakes.chat_vendor import ChatVendor, Ruling
from silu.fakes.http import Incoming
from silu.fakes.raw import is_int, obj, seq
from silu.fakes.script import Answer, Asked, Think
from silu.fakes.vendor import Plain, RefusalError
from silu.types.events import ContinuityData, StreamEvent
from silu.wire.serve import ServeOptions


class Routed(msgspec.Struct, frozen=True, kw_only=True):
    """One model: what its details look like, and whether it must think."""

    format: str = "unknown"
    mandatory: bool = False
    encrypted: bool = False


MODELS: dict[str, Routed] = {
    "anthropic/claude-sonnet-4.6": Routed(format="anthropic-claude-v1"),
    "anthropic/claude-sonnet-5.5": Routed(format="anthropic-claude-v1", mandatory=True),
    "openai/gpt-5.6-sol": Routed(format="openai-responses-v1", encrypted=True),
    "google/gemini-3.8-flash": Routed(format="google-gemini-v1", mandatory=True, encrypted=True),
    "z-ai/glm-5.3": Routed(mandatory=True),
    "openai/gpt-oss-120b": Routed(mandatory=True),
    "qwen/qwen3.8-max": Routed(mandatory=True),
    "moonshotai/kimi-k2.6": Routed(),
}
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
MANDATORY = "Reasoning is mandatory for this endpoint and cannot be disabled"


class FakeOpenRouter(ChatVendor):
    """Vendor-specific fields (`thinking`, `enable_thinking`) are dropped without a word."""

    name = "gen"
    base = "/api/v1"
    field = "reasoning"
    models = tuple(MODELS)
    secret = "fake-openrouter"

    def refuse(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> RefusalError:
        del param, code
        return RefusalError(status, {"error": {"message": message, "code": status}}, why=message)

    def unknown_model(self, model: str) -> RefusalError:
        return self.refuse(f"{model} is not a valid model ID")

    def wrong_key(self) -> RefusalError:
        return self.refuse("No auth credentials found", status=401)

    def check(self, request: Incoming) -> Asked | Plain:
        if request.method == "GET" and request.path.endswith("/models"):
            return Plain({"data": [_listed(name, model) for name, model in MODELS.items()]})
        return super().check(request)

    def rule(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> Ruling:
        model = MODELS[body["model"]]
        thinking, effort = self._reasoning(body)
        if not thinking and model.mandatory:
            raise self.refuse(MANDATORY)
        for i, message in enumerate(messages):
            for detail in seq(message.get("reasoning_details")) or []:
                self._check_detail(obj(detail) or {}, body["model"], i)
        return Ruling(thinking=thinking, effort=effort)

    def _reasoning(self, body: dict[str, Any]) -> tuple[bool, str | None]:
        asked = obj(body.get("reasoning")) or {}
        effort = asked.get("effort", body.get("reasoning_effort"))
        budget = asked.get("max_tokens")
        if effort is not None and budget is not None:
            raise self.refuse("Only one of reasoning.effort and reasoning.max_tokens may be given")
        if effort is not None and effort not in EFFORTS:
            raise self.refuse(f"reasoning.effort: expected one of {'|'.join(EFFORTS)}")
        if budget is not None and not is_int(budget):
            raise self.refuse("reasoning.max_tokens: expected number")
        off = effort == "none" or asked.get("enabled") is False
        return not off, effort

    # -- details ---------------------------------------------------------------------------

    def _check_detail(self, detail: dict[str, Any], model: str, position: int) -> None:
        value = detail.get("data", detail.get("signature"))
        if value is None:
            return
        text = "" if detail.get("type") == "reasoning.encrypted" else str(detail.get("text", ""))
        if value != self._make(model, text):
            raise RefusalError(
                400,
                {
                    "error": {
                        "message": "Provider returned error",
                        "code": 400,
                        "metadata": {
                            "provider_name": "Fake",
                            "raw": '{"error":{"code":"invalid_encrypted_content","message":"The '
                            'encrypted content could not be verified."}}',
                        },
                    }
                },
                why=f"messages[{position}]: reasoning_details of another model, or changed",
            )

    def _make(self, model: str, text: str) -> str:
        return seals.make(self.secret, scope=model, text=text, place=0, prefix=bytes(12))

    def seal(self, asked: Asked, answer: Answer) -> playing.Seal:
        del answer
        model = MODELS[asked.model]

        def seal(index: int, thought: Think) -> Iterator[StreamEvent]:
            head = {"index": 0, "format": model.format}
            sealed = {"type": "reasoning.encrypted", "data": self._make(asked.model, ""), **head}
            plain: dict[str, Any] = {"type": "reasoning.text", **head}
            if not model.encrypted and model.format != "unknown":
                plain["signature"] = self._make(asked.model, thought.text)
            details: list[Any] = [] if asked.stream and "signature" not in plain else [plain]
            if not asked.stream:
                plain["text"] = thought.text
            if model.encrypted:
                details.append(sealed)
            if details:
                data = msgspec.json.encode(details).decode()
                yield ContinuityData(index, "reasoning_details", data, "reasoning_details")

        return seal

    def options(self, asked: Asked) -> ServeOptions:
        form = MODELS[asked.model].format

        def shape(text: str) -> dict[str, Any]:
            detail = {"type": "reasoning.text", "text": text, "format": form, "index": 0}
            return {"reasoning": text, "reasoning_details": [detail]}

        return msgspec.structs.replace(super().options(asked), shape_thinking=shape)


def _listed(name: str, model: Routed) -> dict[str, Any]:
    return {
        "id": name,
        "name": name,
        "context_length": 1_000_000,
        "supported_parameters": ["reasoning", "include_reasoning", "tools", "max_tokens"],
        "reasoning": {"mandatory": model.mandatory},
        "top_provider": {"max_completion_tokens": 128_000},
    }
