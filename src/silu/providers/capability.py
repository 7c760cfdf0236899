"""What is known of a model, each fact with its source.

Precedence, the right-hand one wins: family, catalogue, live listing, learned from answers, the
person's own word.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from silu.config import ModelOverride
from silu.providers.catalog import Entry
from silu.providers.facts import Facts
from silu.providers.learned import only_efforts
from silu.types.capabilities import Capability, FactSource, Learned, Prices


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """What a live listing said of one model; `None` where it said nothing."""

    id: str
    label: str | None = None
    context: int | None = None
    output: int | None = None
    thinking: bool | None = None
    images: bool | None = None
    tools: bool | None = None
    documents: bool | None = None
    prices: Prices | None = None
    efforts: tuple[str, ...] | None = None
    can_be_off: bool | None = None


def with_listing(facts: Facts, listed: Listed | None) -> Facts:
    """A listing can say that a model thinks or does not, which efforts it takes, and that
    sending "disabled" is refused; what it leaves out stays the family's."""
    if listed is None:
        return facts
    if listed.thinking is False:
        return replace(facts, thinking="unsupported")
    if listed.thinking and facts.thinking == "unknown":
        facts = replace(facts, thinking="supported")
    if listed.can_be_off is False and "off" not in facts.extra:
        facts = replace(facts, levels=facts.thinking_levels)
    if listed.efforts and not facts.budgets:
        facts = only_efforts(facts, listed.efforts)
    return facts


def with_override(facts: Facts, override: ModelOverride | None) -> Facts:
    if override is None:
        return facts
    if override.thinking is not None:
        facts = replace(facts, thinking=override.thinking)
    if override.thinking_levels is not None:
        facts = replace(facts, levels=override.thinking_levels, switch_only=False)
    if override.thinking_default_level is not None:
        facts = replace(facts, default=override.thinking_default_level)
    return facts


def capability_of(
    facts: Facts,
    entry: Entry,
    *,
    listed: Listed | None,
    known: Sequence[Learned],
    override: ModelOverride | None,
) -> Capability:
    sources: dict[str, FactSource] = {}
    values: dict[str, Any] = {}

    def put(source: FactSource, name: str, value: Any) -> None:
        if value is not None:
            values[name] = value
            sources[name] = source

    for name, value in _thinking_fields(facts).items():
        put("default" if facts.family == "unknown" else "family", name, value)
    for name, value in _entry_fields(entry).items():
        put("catalogue", name, value)
    if listed is not None:
        put("listing", "context_window", listed.context)
        put("listing", "max_output", listed.output)
        put("listing", "images", _support(listed.images))
        put("listing", "tools", _support(listed.tools))
        put("listing", "documents", _support(listed.documents))
        put("listing", "prices", listed.prices)
        put("listing", "thinking_levels", facts.levels if listed.efforts else None)
        put("listing", "thinking", None if listed.thinking is None else facts.thinking)
    for item in known:
        for name in _LEARNED_FIELDS.get(item.fact, ()):
            put("learned", name, values.get(name))
        if item.fact == "max_output":
            put("learned", "max_output", int(item.value))
    if override is not None:
        for name, value in _override_fields(override).items():
            put("config", name, value)
    return Capability(**values, sources=sources)


_LEARNED_FIELDS: dict[str, tuple[str, ...]] = {
    "levels": ("thinking", "thinking_levels"),
    "no_thinking": ("thinking", "thinking_levels"),
    "adaptive_only": ("adaptive", "thinking_levels"),
    "forced": ("thinking_force_enabled", "thinking_levels"),
}


def _thinking_fields(facts: Facts) -> dict[str, Any]:
    silent = facts.thinking == "unsupported"
    return {
        "thinking": facts.thinking,
        "thinking_levels": () if silent else facts.levels,
        "thinking_default_level": None if silent else facts.default,
        "thinking_force_enabled": facts.forced,
        "adaptive": facts.adaptive and not facts.switch_only and not silent,
        "switch_only": facts.switch_only and not silent,
        "summaries_only": facts.summaries_only,
    }


def _entry_fields(entry: Entry) -> dict[str, Any]:
    return {
        "context_window": entry.context,
        "max_output": entry.output,
        "images": _support(entry.images),
        "tools": _support(entry.tools),
        "documents": _support(entry.documents),
        "prices": entry.prices,
        "retires": entry.retires,
    }


def _override_fields(override: ModelOverride) -> dict[str, Any]:
    return {
        "context_window": override.context_window,
        "max_output": override.max_output,
        "thinking": override.thinking,
        "thinking_levels": override.thinking_levels,
        "thinking_default_level": override.thinking_default_level,
        "images": _support(override.images),
        "tools": _support(override.tools),
        "prices": override.prices,
    }


def _support(value: bool | None) -> str | None:
    if value is None:
        return None
    return "supported" if value else "unsupported"
