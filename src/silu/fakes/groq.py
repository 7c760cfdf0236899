"""Groq and Cerebras (vendors.md §12): gpt-oss and Qwen efforts, and no foreign reasoning field."""

from typing import Any

import msgspec

from silu.fakes.chat_rules import PLAIN_FIELDS, PLAIN_MESSAGE_FIELDS, ChatSchema
from silu.fakes.chat_vendor import ChatVendor, Ruling
from silu.fakes.script import Answer, Asked, Say, Think
from silu.wire.serve import ServeOptions

_EFFORTS: dict[str, tuple[str, ...]] = {
    "openai/gpt-oss-120b": ("low", "medium", "high"),
    "openai/gpt-oss-20b": ("low", "medium", "high"),
    "qwen/qwen3.6-32b": ("none", "default"),
    "qwen/qwen3.8-flash": ("none", "low", "medium", "high"),
}
_FORMATS = ("parsed", "raw", "hidden")
_EXTRA = frozenset({"reasoning_effort", "reasoning_format", "include_reasoning"})


class FakeGroq(ChatVendor):
    """Takes `reasoning` back in an assistant message, and refuses any other name for it."""

    name = "groq"
    base = "/openai/v1"
    field = "reasoning"
    models = tuple(_EFFORTS)
    schema = ChatSchema(
        id_limit=None,
        fields=PLAIN_FIELDS | _EXTRA,
        message_fields=PLAIN_MESSAGE_FIELDS | {"reasoning"},
    )

    def options(self, asked: Asked) -> ServeOptions:
        return msgspec.structs.replace(super().options(asked), reasoning_fields=("reasoning",))

    def rule(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> Ruling:
        del messages
        model, effort = body["model"], body.get("reasoning_effort")
        if effort is not None and effort not in _EFFORTS[model]:
            words = ", ".join(f"`{word}`" for word in _EFFORTS[model])
            message = f"`reasoning_effort` must be one of {words}"
            raise self.refuse(message, param="reasoning_effort")
        form = body.get("reasoning_format")
        if form is not None and form not in _FORMATS:
            raise self.refuse("`reasoning_format` must be one of `parsed`, `raw`, `hidden`")
        if form is not None and body.get("include_reasoning") is not None:
            raise self.refuse("cannot specify both `reasoning_format` and `include_reasoning`")
        if form == "raw" and (body.get("tools") or body.get("response_format")):
            raise self.refuse("`raw` reasoning_format is not allowed with tools or JSON mode")
        return Ruling(thinking=effort != "none", effort=effort)

    def prepare(self, asked: Asked, answer: Answer) -> Answer:
        """`raw` puts the thought into the content between tags, `hidden` leaves it out."""
        ready = super().prepare(asked, answer)
        form = asked.body.get("reasoning_format")
        if form not in ("raw", "hidden"):
            return ready
        parts = tuple(
            Say(f"<think>\n{part.text}\n</think>\n") if isinstance(part, Think) else part
            for part in ready.parts
            if form == "raw" or not isinstance(part, Think)
        )
        return msgspec.structs.replace(ready, parts=parts)


class FakeCerebras(FakeGroq):
    """The same shape, other models."""

    name = "cerebras"
    base = "/v1"
    models = ("gpt-oss-120b",)
    schema = ChatSchema(
        id_limit=None,
        fields=PLAIN_FIELDS | _EXTRA,
        message_fields=PLAIN_MESSAGE_FIELDS | {"reasoning"},
    )

    def rule(self, body: dict[str, Any], messages: list[dict[str, Any]]) -> Ruling:
        del messages
        effort = body.get("reasoning_effort")
        if effort not in (None, "low", "medium", "high"):
            raise self.refuse("reasoning_effort: accepted values are low, medium, high")
        return Ruling(thinking=True, effort=effort)
