"""Mistral's chat completions: reading answers.

The form is OpenAI's; thinking comes in an array `content`, as chunks of type `thinking` with
their own text parts, and where it is signed or closed that goes back too (vendors.md §11).
"""

from typing import Any, cast

from silu.types.events import FinishReason
from silu.types.rules import DecodeRules
from silu.wire.blocks import json_text
from silu.wire.openai_chat import OpenAIChatDecoder
from silu.wire.openai_chat_forms import text_of

CHUNK = "thinking_chunk"
"""Continuity kind: what a thinking chunk says beside its text, as a JSON object."""


def make_decoder(rules: DecodeRules, streaming: bool, status: int) -> "MistralDecoder":
    return MistralDecoder(rules, streaming=streaming, status=status, unsigned=None)


class MistralDecoder(OpenAIChatDecoder):
    _dialect = "mistral-chat"

    def __init__(
        self, rules: DecodeRules, *, streaming: bool, status: int, unsigned: str | None
    ) -> None:
        super().__init__(rules, streaming=streaming, status=status, unsigned=unsigned)
        self._chunks: dict[int, dict[str, Any]] = {}

    def _part(self, part: dict[str, Any]) -> None:
        if part.get("type") != "thinking":
            super()._part(part)
            return
        text = text_of(part.get("thinking"))
        more = {k: v for k, v in part.items() if k not in ("type", "thinking") and v is not None}
        if text:
            index = self._writer.thinking(text, "content")
        elif self._chunks:
            index = max(self._chunks)
        else:
            return
        known = self._chunks.setdefault(index, {})
        signature = more.pop("signature", None)
        if isinstance(signature, str) and signature:
            known["signature"] = cast("str", known.get("signature", "")) + signature
        known.update(more)

    def _tail(self, reason: FinishReason | None) -> None:
        super()._tail(reason)
        for index, more in self._chunks.items():
            self._writer.keep(index, CHUNK, json_text(more), "content")
