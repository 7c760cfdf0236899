"""Openai-chat answers in tests, in short form."""

import json
from typing import Any

from silu.types.rules import DecodeRules
from tests.wire.reading import Answer, chunk, read, sse


def stream(
    *deltas: dict[str, Any], finish: str = "stop", rules: DecodeRules | None = None
) -> Answer:
    return read("openai-chat", sse(*map(chunk, deltas), chunk(finish=finish)), rules=rules)


def whole(message: dict[str, Any], finish: str = "stop", **more: Any) -> Answer:
    body = {"id": "r1", "choices": [{"message": message, "finish_reason": finish}], **more}
    return read("openai-chat", json.dumps(body).encode(), streaming=False)
