"""Mistral: its own chat dialect, thinking as chunks of the content.

Sources: docs.mistral.ai "Reasoning" (read 2026-11), mistralai 3.7.0 (vendors.md §11).
"""

from typing import Any

from silu.providers.facts import Facts
from silu.providers.forms import reasoning_effort
from silu.providers.vendor import Ask, Door, Vendor


def _form(facts: Facts, ask: Ask) -> dict[str, Any]:
    if mode := facts.extra.get("prompt_mode"):
        return {"prompt_mode": mode}
    return {} if facts.switch_only else reasoning_effort(facts, ask)


VENDOR = Vendor(
    id="mistral",
    label="Mistral",
    key_vars=("MISTRAL_API_KEY",),
    start_models=("mistral-large-4", "mistral-medium-latest"),
    models=("mistral-large-4", "mistral-medium-latest", "mistral-small-latest"),
    doors=(
        Door(
            dialect="mistral-chat",
            base_url="https://api.mistral.ai/v1",
            form=_form,
            off_is_effort=True,
        ),
    ),
    sources=("docs.mistral.ai Reasoning (2026-11)",),
)
