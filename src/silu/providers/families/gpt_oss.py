"""OpenAI's open weights: always thinking, three efforts, medium by default.

Source: vendors.md §12 and §16 (Groq, Ollama and vLLM documentation, 2026-11).
"""

from silu.providers.facts import Facts, up_to
from silu.types.levels import Level
from silu.types.rules import STANDARD_TAGS, TagRules

# Harmony as the model writes it, where a server does not parse it: the thought in a channel of
# its own, and behind it the turn into the answer's channel (vendors.md §18).
_ANALYSIS = "<|channel|>analysis<|message|>"
_FINAL = "<|end|><|start|>assistant<|channel|>final<|message|>"
_TAGS = TagRules(
    pairs=(*STANDARD_TAGS, (_ANALYSIS, _FINAL), (f"<|start|>assistant{_ANALYSIS}", _FINAL))
)

GPT_OSS = Facts(
    family="gpt-oss",
    levels=up_to(Level.HIGH, off=False),
    default=Level.MEDIUM,
    tags=_TAGS,
)


def facts(model: str) -> Facts | None:
    return GPT_OSS if model.startswith("gpt-oss") else None
