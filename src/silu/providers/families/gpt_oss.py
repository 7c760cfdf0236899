"""OpenAI's open weights: always thinking, three efforts, medium by default.

Source: vendors.md §12 and §16 (Groq, Ollama and vLLM documentation, 2026-11).
"""

from silu.providers.facts import Facts, up_to
from silu.types.levels import Level

GPT_OSS = Facts(
    family="gpt-oss",
    levels=up_to(Level.HIGH, off=False),
    default=Level.MEDIUM,
)


def facts(model: str) -> Facts | None:
    return GPT_OSS if model.startswith("gpt-oss") else None
