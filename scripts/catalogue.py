"""Build the model catalogue from public data, at development time; nothing is fetched here.

    pip download litellm --no-deps -d /tmp/litellm
    python scripts/catalogue.py /tmp/litellm/litellm-*.whl

Limits and prices come from the cost map inside LiteLLM's wheel (MIT); what was reviewed by hand
(`catalog/reviewed.json`) stands above them. The result is `catalog/models.json`, one model a line.
"""

import argparse
import json
import re
import zipfile
from pathlib import Path
from typing import Any

CATALOG = Path(__file__).resolve().parent.parent / "src" / "silu" / "providers" / "catalog"
COST_MAP = "litellm/model_prices_and_context_window_backup.json"

# The data set's name of a vendor → ours. First-party vendors give the facts of a model wherever
# it runs; hosts give what holds at that host.
FIRST_PARTY = {
    "anthropic": "anthropic",
    "openai": "openai",
    "gemini": "gemini",
    "deepseek": "deepseek",
    "moonshot": "kimi",
    "dashscope": "qwen",
    "zai": "glm",
    "xiaomi_mimo": "mimo",
    "minimax": "minimax",
    "xai": "xai",
    "mistral": "mistral",
}
HOSTS = {
    "openrouter": "openrouter",
    "groq": "groq",
    "cerebras": "cerebras",
    "together_ai": "together",
    "fireworks_ai": "fireworks",
    "siliconflow": "siliconflow",
    "volcengine": "ark",
    "tencent": "tencent",
    "nvidia_nim": "nvidia",
    "bedrock_converse": "bedrock",
    "azure": "azure",
}
PRICES = {
    "input": "input_cost_per_token",
    "output": "output_cost_per_token",
    "cache_read": "cache_read_input_token_cost",
    "cache_write": "cache_creation_input_token_cost",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path, help="a wheel of litellm")
    wheel: Path = parser.parse_args().wheel
    with zipfile.ZipFile(wheel) as archive:
        data: dict[str, dict[str, Any]] = json.loads(archive.read(COST_MAP))
    version = wheel.name.split("-")[1]
    reviewed = json.loads((CATALOG / "reviewed.json").read_text(encoding="utf-8"))
    catalogue = build(data, reviewed["models"], version=version, note=reviewed["note"])
    (CATALOG / "models.json").write_text(written(catalogue), encoding="utf-8")


def build(
    data: dict[str, dict[str, Any]],
    reviewed: dict[str, dict[str, Any]],
    *,
    version: str,
    note: str,
) -> dict[str, Any]:
    models: dict[str, dict[str, Any]] = {}
    vendors: dict[str, dict[str, dict[str, Any]]] = {}
    for key, found in data.items():
        provider = found.get("litellm_provider")
        if found.get("mode") not in {"chat", "responses", "completion"}:
            continue
        name = key.removeprefix(f"{provider}/").lower()
        if provider in FIRST_PARTY and "/" not in name and not name.startswith("ft:"):
            models.setdefault(name, {**entry(found), "by": FIRST_PARTY[provider]})
        elif provider in HOSTS:
            vendors.setdefault(HOSTS[provider], {})[name] = entry(found)
    for name, own in reviewed.items():
        models[name] = {**models.get(name, {}), **own, "source": "reviewed"}
    return {
        "sources": {
            "litellm": {"name": "LiteLLM cost map", "version": version, "licence": "MIT"},
            "reviewed": {"name": note, "version": "2026-11"},
        },
        "models": {
            name: value
            for name, value in sorted(models.items())
            if len(value) > 2 or "by" not in value
        },
        "vendors": {
            vendor: {name: value for name, value in sorted(found.items()) if len(value) > 1}
            for vendor, found in sorted(vendors.items())
        },
    }


def entry(found: dict[str, Any]) -> dict[str, Any]:
    """One model: what the data set tells, nothing else. Prices are dollars a million tokens."""
    ranges = [item for item in found.get("tiered_pricing") or [] if "range" in item]
    prices: dict[str, Any] = in_millions(ranges[0] if ranges else found)
    tiers = ranged(ranges) if ranges else above(found)
    if tiers:
        prices["tiers"] = tiers
    value: dict[str, Any] = {
        "context": number(found.get("max_input_tokens")),
        "output": number(found.get("max_output_tokens")),
        "images": found.get("supports_vision"),
        "tools": found.get("supports_function_calling"),
        "documents": found.get("supports_pdf_input"),
        "prices": prices if {"input", "output"} <= prices.keys() else None,
        "retires": day(found.get("deprecation_date")),
    }
    kept = {name: item for name, item in value.items() if item is not None}
    return {**kept, "source": "litellm"}


def in_millions(found: dict[str, Any], suffix: str = "") -> dict[str, Any]:
    return {
        ours: round(found[theirs + suffix] * 1_000_000, 6)
        for ours, theirs in PRICES.items()
        if isinstance(found.get(theirs + suffix), int | float) and found[theirs + suffix] > 0
    }


def above(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The tiers that are written as `…_above_200k_tokens`, the lowest first."""
    names = {re.fullmatch(r"input_cost_per_token_above_(\d+)k_tokens", key) for key in found}
    limits = sorted(int(name[1]) for name in names if name)
    return [
        {"above": limit * 1000, **in_millions(found, f"_above_{limit}k_tokens")} for limit in limits
    ]


def ranged(ranges: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tiers that are written as ranges of input tokens, after the first."""
    return [{"above": int(item["range"][0]), **in_millions(item)} for item in ranges[1:]]


def day(value: Any) -> str | None:
    return value if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value) else None


def number(value: Any) -> int | None:
    """A count of tokens; the data set writes some as text."""
    if isinstance(value, str) and re.fullmatch(r"\d+", value):
        value = int(value)
    return int(value) if isinstance(value, int | float) and value > 0 else None


def written(catalogue: dict[str, Any]) -> str:
    """The catalogue as JSON, one model a line, so that a change reads as one."""

    def lines(entries: dict[str, Any], indent: str) -> str:
        return ",\n".join(
            f"{indent}{json.dumps(name)}: {json.dumps(value, separators=(',', ':'))}"
            for name, value in entries.items()
        )

    hosts = ",\n".join(
        f"  {json.dumps(vendor)}: {{\n{lines(found, '   ')}\n  }}"
        for vendor, found in catalogue["vendors"].items()
    )
    return (
        f'{{\n "sources": {json.dumps(catalogue["sources"])},\n'
        f' "models": {{\n{lines(catalogue["models"], "  ")}\n }},\n'
        f' "vendors": {{\n{hosts}\n }}\n}}\n'
    )


if __name__ == "__main__":
    main()
