"""Token counts on one footing for all dialects (vendors.md §18): the only place that knows how
each vendor counts. Input holds cached reads and writes, output holds reasoning."""

from collections.abc import Mapping
from typing import Any, cast

from silu.types.usage import Usage

Raw = Mapping[str, Any]


def openai_chat(raw: Raw) -> Usage:
    """OpenAI chat and its many relatives.

    xAI's chat leaves reasoning out of `completion_tokens`; its total gives it away (12 of 12
    recordings). Kimi tells cached tokens at the top level, DeepSeek as `prompt_cache_hit_tokens`,
    Qwen writes as `cache_creation_input_tokens`, llama.cpp only in `timings` (see `timings`).
    """
    prompt = _sub(raw, "prompt_tokens_details")
    completion = _sub(raw, "completion_tokens_details")
    output = _int(raw, "completion_tokens")
    reasoning = _first(_int(completion, "reasoning_tokens"), _int(raw, "reasoning_tokens"))
    given, total = _int(raw, "prompt_tokens"), _int(raw, "total_tokens")
    if reasoning and output is not None and given is not None and total is not None:
        output += reasoning if total == given + output + reasoning else 0
    return Usage(
        input_tokens=given,
        output_tokens=output,
        reasoning_tokens=reasoning,
        cache_read_tokens=_first(
            _int(prompt, "cached_tokens"),
            _int(raw, "prompt_cache_hit_tokens"),
            _int(raw, "cached_tokens"),
            _int(raw, "cache_read_input_tokens"),
        ),
        cache_write_tokens=_first(
            _int(prompt, "cache_write_tokens"),
            _int(prompt, "cache_creation_input_tokens"),
            _int(raw, "cache_creation_input_tokens"),
        ),
    )


def timings(raw: Raw) -> Usage:
    """llama.cpp's `timings`, for its answers without a usage object."""
    fresh, cached = _int(raw, "prompt_n"), _int(raw, "cache_n")
    return Usage(
        input_tokens=_sum(fresh, cached),
        output_tokens=_int(raw, "predicted_n"),
        cache_read_tokens=cached,
    )


def anthropic(raw: Raw) -> Usage:
    """Anthropic counts cached reads and writes apart from `input_tokens`."""
    read = _int(raw, "cache_read_input_tokens")
    written = _int(raw, "cache_creation_input_tokens")
    plain = _int(raw, "input_tokens")
    return Usage(
        input_tokens=None if plain is None else plain + (read or 0) + (written or 0),
        output_tokens=_int(raw, "output_tokens"),
        reasoning_tokens=_int(_sub(raw, "output_tokens_details"), "thinking_tokens"),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def responses(raw: Raw) -> Usage:
    """OpenAI Responses: cached reads and writes are in the input, reasoning in the output."""
    given = _sub(raw, "input_tokens_details")
    return Usage(
        input_tokens=_int(raw, "input_tokens"),
        output_tokens=_int(raw, "output_tokens"),
        reasoning_tokens=_int(_sub(raw, "output_tokens_details"), "reasoning_tokens"),
        cache_read_tokens=_int(given, "cached_tokens"),
        cache_write_tokens=_int(given, "cache_write_tokens"),
    )


def gemini(raw: Raw) -> Usage:
    """Gemini counts thoughts apart from candidates, and the prompts of its own tools apart from
    the prompt; cached tokens are in the prompt."""
    answer, thoughts = _int(raw, "candidatesTokenCount"), _int(raw, "thoughtsTokenCount")
    return Usage(
        input_tokens=_sum(_int(raw, "promptTokenCount"), _int(raw, "toolUsePromptTokenCount")),
        output_tokens=_sum(answer, thoughts),
        reasoning_tokens=thoughts,
        cache_read_tokens=_int(raw, "cachedContentTokenCount"),
    )


def ollama(raw: Raw) -> Usage:
    """Ollama's own API tells no more than two numbers."""
    return Usage(input_tokens=_int(raw, "prompt_eval_count"), output_tokens=_int(raw, "eval_count"))


def bedrock(raw: Raw) -> Usage:
    """Bedrock Converse counts like Anthropic: cached reads and writes apart from the input."""
    read = _int(raw, "cacheReadInputTokens")
    written = _int(raw, "cacheWriteInputTokens")
    plain = _int(raw, "inputTokens")
    return Usage(
        input_tokens=None if plain is None else plain + (read or 0) + (written or 0),
        output_tokens=_int(raw, "outputTokens"),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _int(raw: Raw, key: str) -> int | None:
    value = raw.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if 0 <= value < 2**63 else None


def _sub(raw: Raw, key: str) -> Raw:
    value = raw.get(key)
    return cast("Raw", value) if isinstance(value, Mapping) else {}


def _first(*values: int | None) -> int | None:
    return next((value for value in values if value is not None), None)


def _sum(*values: int | None) -> int | None:
    told = [value for value in values if value is not None]
    return sum(told) if told else None
