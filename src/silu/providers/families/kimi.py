"""Moonshot Kimi.

Sources: the vendor's own clients (kimi-code, kimi-cli, 2026-08), client catalogues (2026-10),
Kimi Code manual (vendors.md §5). The first-party field is `reasoning_content`.
"""

import re
from typing import Any

from msgspec.structs import replace

from silu.providers.facts import Facts, always_on, switchable
from silu.types.levels import Level
from silu.types.rules import STANDARD_TAGS, TagRules

# Raw servers without a reasoning parser show the model's own marks (SGLang docs, 2026-11).
_TAGS = TagRules(pairs=(*STANDARD_TAGS, ("◁think▷", "◁/think▷")))
_COMMON: dict[str, Any] = {
    "family": "kimi",
    # "invalid temperature: only 1 is allowed for this model"; top_p is fixed too.
    "sampling": "never",
    # Every message with tool calls must carry reasoning; a single space passes.
    "filler": " ",
    "filler_on": "tool_calls",
    "tags": _TAGS,
    "extra": {"template_switch": ("thinking",)},
}

K2_SWITCH = switchable(
    generation="k2.5", default=Level.MEDIUM, tool_choice_thinking=("auto", "none"), **_COMMON
)
K2_6 = replace(K2_SWITCH, generation="k2.6", extra={**K2_SWITCH.extra, "keep": True})
K2_ALWAYS = always_on(generation="k2.7", tool_choice_thinking=("auto", "none"), **_COMMON)
# Unknown strings were seen to be ignored, so that max runs: only these three are sent.
K3 = Facts(
    generation="k3",
    levels=(Level.LOW, Level.HIGH, Level.MAX),
    default=Level.MAX,
    **_COMMON,
)
_SILENT = Facts(family="kimi", generation="k2", thinking="unsupported", tags=_TAGS)


def facts(model: str) -> Facts | None:
    if not re.match(r"kimi|moonshot", model):
        return None
    found = re.match(r"kimi-k(\d)(?:[.p-](\d))?(?!\d)", model)
    if found is None:
        return _SILENT if model.startswith("moonshot") else K3
    version = (int(found[1]), int(found[2] or 0))
    if version < (2, 5):
        return K2_ALWAYS if "thinking" in model else _SILENT
    if version >= (3, 0):
        return K3
    if version >= (2, 7):
        return K2_ALWAYS
    return K2_6 if version == (2, 6) else K2_SWITCH
