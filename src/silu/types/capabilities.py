"""What a model can do, each fact with its source, and how a level was resolved."""

from typing import Any, Literal

import msgspec

from silu.types.levels import Level

Support = Literal["supported", "unsupported", "unknown"]
FactSource = Literal["default", "family", "catalogue", "listing", "learned", "config"]
"""Where a fact comes from; further right wins."""


class PriceTier(msgspec.Struct, frozen=True, kw_only=True):
    """Prices of a request with more than `above` tokens of input, for all of its tokens."""

    above: int
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None


class Prices(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """US dollars per million tokens; `None` where unknown. `tiers` are those of longer requests,
    the lowest first; what a tier does not tell is as below it."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    tiers: tuple[PriceTier, ...] = ()

    def of(self, input_tokens: int) -> "Prices":
        """The prices of a request with so many tokens of input."""
        found = self
        for tier in self.tiers:
            if input_tokens > tier.above:
                own = msgspec.structs.asdict(tier)
                told = {name: value for name, value in own.items() if value is not None}
                del told["above"]
                found = msgspec.structs.replace(found, **told)
        return found


class Capability(msgspec.Struct, kw_only=True, frozen=True):
    """One model's abilities. `sources` maps a field's name to where its value comes from.

    `thinking_levels` are the levels with a distinct effect on the wire, quietest first; a model
    that can only be switched offers `off` and one level, and `switch_only` is then true.
    `documents` are PDF files as input; `own_tools` are tools its vendor can run itself
    (`web_search`); `retires` is the day (ISO) the vendor takes it away.
    """

    thinking: Support = "unknown"
    thinking_levels: tuple[Level, ...] = ()
    thinking_default_level: Level | None = None
    thinking_force_enabled: bool = False
    adaptive: bool = False
    switch_only: bool = False
    summaries_only: bool = False
    tools: Support = "unknown"
    images: Support = "unknown"
    documents: Support = "unknown"
    own_tools: tuple[str, ...] = ()
    context_window: int | None = None
    max_output: int | None = None
    prices: Prices | None = None
    retires: str | None = None
    sources: dict[str, FactSource] = {}


class ModelInfo(msgspec.Struct, kw_only=True, frozen=True):
    """A model that can be chosen: `ref` is `vendor/model-id`, `label` is for people."""

    ref: str
    vendor: str
    model: str
    label: str
    vendor_label: str
    capability: Capability
    demo: bool = False
    local: bool = False


LevelSource = Literal["turn", "session", "agent", "model", "switch"]


class Resolution(msgspec.Struct, kw_only=True, frozen=True):
    """What was asked of the thinking, and what is sent for it.

    `wire` holds the request fields that carry the level, as they stand in the body; `notes` are
    sentences for people: what was moved, clamped or left out, and why. `effective` is a level or
    `unset` when nothing is sent and the vendor's default applies.
    """

    requested: str
    source: LevelSource
    effective: str
    wire: dict[str, Any] = {}
    notes: tuple[str, ...] = ()


class Learned(msgspec.Struct, kw_only=True, frozen=True):
    """A fact an answer taught us about (endpoint, model): kept, shown, forgotten on request.

    `fact` is a recovery class of vendors.md §19, `value` its JSON value, `evidence` the vendor's
    own words, shortened and without secrets; `ts` is milliseconds since 1970 UTC.
    """

    endpoint: str
    model: str
    fact: str
    value: Any
    evidence: str
    ts: int
