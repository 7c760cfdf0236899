"""Google Gemini by key (AI Studio).

Sources: Google GenAI SDK 3.6.1 types, ai.google.dev (read 2026-11).
"""

from typing import Any

from silu.providers.facts import Facts
from silu.providers.forms import gemini_config
from silu.providers.vendor import Door, Vendor


def calls_signed(facts: Facts, thinking: bool) -> dict[str, Any]:
    # Gemini 3 and later refuse a call without a signature; this documented word stands in for
    # calls that another model made.
    if facts.extra.get("signed_calls"):
        return {"placeholder_signature": "skip_thought_signature_validator"}
    return {}


def _encode(facts: Facts, thinking: bool) -> dict[str, Any]:
    # Beside functions the older models refuse it ("Tool use with function calling is
    # unsupported"); the later ones are those that sign their calls.
    search: dict[str, Any] = {"googleSearch": {}}
    own = {"web_search": search} if facts.extra.get("signed_calls") else {}
    return {**calls_signed(facts, thinking), "own_tools": own}


VENDOR = Vendor(
    id="gemini",
    label="Google Gemini",
    rank=2,
    key_vars=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    listing="gemini",
    start_models=("gemini-4-hydrogen", "gemini-3.8-flash"),
    models=(
        "gemini-4-hydrogen",
        "gemini-4-neon",
        "gemini-4-argon",
        "gemini-4-carbon",
        "gemini-3.8-flash",
        "gemini-3.6-flash",
        "gemini-3.1-pro-preview",
        "gemini-2.5-pro",
        "gemini-2.5-flash",
    ),
    doors=(
        Door(
            dialect="gemini-generate",
            base_url="https://generativelanguage.googleapis.com",
            auth="x-goog-api-key",
            form=gemini_config,
            encode=_encode,
        ),
    ),
    notes={"auth": "Keys are made at aistudio.google.com."},
    sources=("Google GenAI SDK 3.6.1 types (2026-11)", "ai.google.dev (2026-11)"),
)
