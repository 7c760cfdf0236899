"""Endpoints that are only known by their dialect: any OpenAI- or Anthropic-compatible server.

Nothing is sent about thinking until a person asks for a level; everything is read. Behind an
unknown endpoint a known family keeps what is true of the model wherever it runs (its echo duty,
its tags, whether it thinks at all), while how to ask it is not known.
Source: vendors.md §16 "generic" and §17 "unknown OpenAI-compatible" (2026-11).
"""

from typing import Any

from msgspec.structs import replace

from silu.providers.facts import UNKNOWN, Facts
from silu.providers.forms import anthropic_thinking, reasoning_effort
from silu.providers.vendor import Door, Vendor
from silu.types.levels import Level


def _unknown_effort(facts: Facts, model: str) -> Facts:
    """Three efforts on demand, no known off, no known default."""
    if facts.thinking == "unsupported":
        return facts
    return replace(
        facts,
        thinking="unknown",
        levels=UNKNOWN.levels,
        default=None,
        adaptive=False,
        switch_only=False,
        same={},
        efforts={},
        budgets={},
        sampling="free",
        tool_choice_thinking=None,
    )


_BUDGETS = {Level.LOW: 4000, Level.MEDIUM: 8000, Level.HIGH: 16000}


def _unknown_budget(facts: Facts, model: str) -> Facts:
    """The oldest form of the dialect, which most servers know: a budget, and `disabled`."""
    if facts.family == "claude":
        return facts
    plain = _unknown_effort(facts, model)
    if plain.thinking == "unsupported":
        return plain
    return replace(plain, levels=(Level.OFF, *plain.levels), budgets=_BUDGETS, budget_min=1024)


def _unsigned(facts: Facts, thinking: bool) -> dict[str, Any]:
    # Compatible servers sign nothing; what they sent goes back as it came. Claude stays strict.
    return {"unsigned_ok": facts.family != "claude"}


OPENAI = Vendor(
    id="openai-compatible",
    label="OpenAI-compatible server",
    needs_key=False,
    doors=(
        Door(
            dialect="openai-chat",
            base_url="http://127.0.0.1:8000/v1",
            form=reasoning_effort,
            off_is_effort=True,
            adapt=_unknown_effort,
        ),
    ),
)
ANTHROPIC = Vendor(
    id="anthropic-compatible",
    label="Anthropic-compatible server",
    needs_key=False,
    doors=(
        Door(
            dialect="anthropic-messages",
            base_url="http://127.0.0.1:8000",
            auth="x-api-key",
            headers={"anthropic-version": "2023-06-01"},
            form=anthropic_thinking,
            adapt=_unknown_budget,
            encode=_unsigned,
        ),
    ),
)

VENDORS = (OPENAI, ANTHROPIC)
