"""Zhipu GLM: z.ai, and bigmodel.cn for keys of the Chinese platform.

Sources: docs.z.ai and docs.bigmodel.cn (read 2026-11). The base path has no /v1.
"""

from typing import Any

from silu.providers.facts import Facts
from silu.providers.forms import anthropic_thinking, thinking_type
from silu.providers.vendor import Door, Turn, Vendor, own_url


def _body(facts: Facts, turn: Turn) -> dict[str, Any]:
    """Old thinking stays in the context only when all of it goes back; without `tool_stream`
    some models send tool arguments in one piece at the end."""
    body: dict[str, Any] = {}
    if facts.thinking == "supported":
        body["thinking"] = {"clear_thinking": not (turn.thinking and turn.complete)}
    if turn.tools and turn.stream:
        body["tool_stream"] = True
    return body


def _rules(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"echo_field": "reasoning_content", "max_tokens_field": "max_tokens"}


def _unsigned(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"unsigned_ok": True}


_CN = "https://open.bigmodel.cn/api"

VENDOR = Vendor(
    id="glm",
    label="Zhipu GLM",
    rank=6,
    key_vars=("ZHIPU_API_KEY", "ZAI_API_KEY", "GLM_API_KEY"),
    start_models=("glm-5.3", "glm-5.2"),
    models=("glm-5.3", "glm-5.3-flash", "glm-5.2", "glm-5.1", "glm-5", "glm-4.7", "glm-4.6"),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://api.z.ai/api/paas/v4",
            by_key={"ZHIPU_API_KEY": f"{_CN}/paas/v4"},
            place=own_url("SILU_GLM_URL"),
            form=thinking_type,
            body_rules=_body,
            encode=_rules,
        ),
        Door(
            dialect="anthropic-messages",
            base_url="https://api.z.ai/api/anthropic",
            by_key={"ZHIPU_API_KEY": f"{_CN}/anthropic"},
            auth="x-api-key",
            headers={"anthropic-version": "2023-06-01"},
            form=anthropic_thinking,
            encode=_unsigned,
        ),
    ),
    notes={"auth": "ZHIPU_API_KEY is for bigmodel.cn, ZAI_API_KEY for z.ai."},
    sources=("docs.z.ai Thinking Mode (2026-11)", "docs.bigmodel.cn 深度思考 (2026-11)"),
)
