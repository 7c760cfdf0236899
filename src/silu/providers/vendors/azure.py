"""Azure: OpenAI models over Responses or chat, Claude over its own dialect (Foundry).

Sources: vendors.md §1 and §2 (same bodies under the resource's own base, 2026-11). The resource
is named by AZURE_OPENAI_ENDPOINT, for Claude by AZURE_FOUNDRY_ENDPOINT.
"""

from typing import TYPE_CHECKING, Any

from silu.providers.facts import Facts
from silu.providers.forms import (
    anthropic_thinking,
    claude_headers,
    reasoning_effort,
    responses_reasoning,
)
from silu.providers.vendor import Door, Vendor

if TYPE_CHECKING:
    from silu.config import Settings

_UNSET = "https://YOUR-RESOURCE.openai.azure.com/openai/v1"
_UNSET_FOUNDRY = "https://YOUR-RESOURCE.services.ai.azure.com/anthropic"


def _openai(settings: "Settings") -> str | None:
    url = settings.env.get("AZURE_OPENAI_ENDPOINT")
    if url is None:
        return None
    url = url.rstrip("/")
    return url if url.endswith("/v1") else f"{url.removesuffix('/openai')}/openai/v1"


def _foundry(settings: "Settings") -> str | None:
    url = settings.env.get("AZURE_FOUNDRY_ENDPOINT")
    return url.rstrip("/") if url else None


def _ready(settings: "Settings") -> bool:
    named = _openai(settings) or _foundry(settings)
    return named is not None and settings.key("azure", KEY_VARS) is not None


def _dialect(model: str) -> str:
    return "anthropic-messages" if "claude" in model.lower() else "openai-responses"


def _chat(facts: Facts, thinking: bool) -> dict[str, Any]:
    field = "max_completion_tokens" if facts.family == "gpt" else "max_tokens"
    return {"max_tokens_field": field, "echo": "never" if facts.family == "gpt" else facts.echo}


KEY_VARS = ("AZURE_OPENAI_API_KEY", "AZURE_API_KEY")

VENDOR = Vendor(
    id="azure",
    label="Azure",
    key_vars=KEY_VARS,
    listing="none",
    ready=_ready,
    door_of=_dialect,
    start_models=("gpt-5.6-terra",),
    models=("gpt-5.6-terra", "gpt-5.5"),
    doors=(
        Door(
            dialect="openai-responses",
            base_url=_UNSET,
            place=_openai,
            auth="api-key",
            form=responses_reasoning,
            off_is_effort=True,
        ),
        Door(
            dialect="openai-chat",
            base_url=_UNSET,
            place=_openai,
            auth="api-key",
            form=reasoning_effort,
            off_is_effort=True,
            encode=_chat,
        ),
        Door(
            dialect="anthropic-messages",
            base_url=_UNSET_FOUNDRY,
            place=_foundry,
            auth="x-api-key",
            headers={"anthropic-version": "2023-06-01"},
            form=anthropic_thinking,
            header_rules=claude_headers,
        ),
    ),
    notes={"unreachable": "Set AZURE_OPENAI_ENDPOINT to your resource's address."},
    sources=("vendors.md §2 (2026-11)",),
)
