"""The catalogue: limits and prices as data, each with its source, and how it is built."""

import importlib.util
import json
import zipfile
from pathlib import Path

import pytest

from silu.providers.call import cost_of
from silu.providers.catalog import Catalogue, Entry, Source, catalogue
from silu.providers.profile import profile_for
from silu.types.capabilities import Prices, PriceTier
from silu.types.usage import Usage

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "catalogue.py"


def test_every_entry_names_a_source_that_is_listed():
    found = catalogue()
    entries = [*found.models.values()]
    for models in found.vendors.values():
        entries += models.values()
    assert len(entries) > 500
    assert {entry.source for entry in entries} <= set(found.sources)
    assert found.sources["litellm"].licence == "MIT"


@pytest.mark.parametrize(
    ("vendor", "model", "context", "output"),
    [
        ("anthropic", "claude-opus-4-5-20251101", 200_000, 64_000),
        ("anthropic", "claude-opus-5-5", 1_000_000, 128_000),
        ("openrouter", "anthropic/claude-opus-4.8", 1_000_000, 128_000),
        ("openai", "gpt-6.2-sol", 272_000, 128_000),
        ("gemini", "gemini-2.5-pro-preview-06-05", 1_048_576, 65_536),
        ("deepseek", "deepseek-v4-pro", 1_000_000, 384_000),
        ("minimax", "MiniMax-M2.7", 204_800, 131_072),
        ("xai", "grok-4.7-latest", 500_000, 500_000),
        ("ollama", "never-heard-of:1b", None, None),
    ],
)
def test_limits_are_found_by_whatever_name_a_host_gives(vendor, model, context, output):
    capability = profile_for(vendor, model).capability
    assert (capability.context_window, capability.max_output) == (context, output)


def test_a_longer_name_is_not_taken_for_a_dated_one():
    models = {"m-1": Entry(context=1), "m-1-5": Entry(context=2)}
    found = Catalogue(sources={}, models=models)
    assert found.find("v", "m-1-5-20260101", "m-1-5-20260101").context == 2
    assert found.find("v", "m-1-mini", "m-1-mini").context is None
    assert found.find("v", "m-12", "m-12").context is None


def test_prices_are_the_vendors_own_or_none():
    prices = Prices(input=1.0, output=2.0)
    host = Prices(input=3.0, output=4.0)
    found = Catalogue(
        sources={"s": Source(name="s", version="1")},
        models={"m": Entry(context=9, prices=prices, by="maker")},
        vendors={"host": {"a/m": Entry(prices=host, output=5)}},
    )
    assert found.find("maker", "m", "m").prices == prices
    assert found.find("other", "x/m", "m").prices is None
    merged = found.find("host", "A/M", "m")
    assert (merged.prices, merged.context, merged.output) == (host, 9, 5)


def test_the_script_builds_it_from_a_wheel(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("catalogue_script", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    wheel = tmp_path / "litellm-9.9.9-py3-none-any.whl"
    data = {
        "claude-x": {"litellm_provider": "anthropic", "mode": "chat", "max_input_tokens": "77",
                     "max_output_tokens": 8, "input_cost_per_token": 1e-6,
                     "output_cost_per_token": 2e-6, "cache_read_input_token_cost": 0},
        "groq/openai/oss": {"litellm_provider": "groq", "mode": "chat", "max_input_tokens": 5},
        "dall-e": {"litellm_provider": "openai", "mode": "image_generation"},
        "empty": {"litellm_provider": "openai", "mode": "chat"},
        "nobody/m": {"litellm_provider": "nobody", "mode": "chat", "max_input_tokens": 5},
    }  # fmt: skip
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(script.COST_MAP, json.dumps(data))
    (tmp_path / "reviewed.json").write_text(
        json.dumps({"note": "n", "models": {"claude-x": {"output": 9}, "own": {"context": 1}}})
    )
    monkeypatch.setattr(script, "CATALOG", tmp_path)
    monkeypatch.setattr("sys.argv", ["catalogue.py", str(wheel)])
    script.main()
    built = json.loads((tmp_path / "models.json").read_text())
    assert built["models"] == {
        "claude-x": {"context": 77, "output": 9, "prices": {"input": 1.0, "output": 2.0},
                     "source": "reviewed", "by": "anthropic"},
        "own": {"context": 1, "source": "reviewed"},
    }  # fmt: skip
    assert built["vendors"] == {"groq": {"openai/oss": {"context": 5, "source": "litellm"}}}
    assert built["sources"]["litellm"]["version"] == "9.9.9"


def test_a_long_request_costs_what_its_tier_says_for_all_its_tokens():
    prices = profile_for("gemini", "gemini-3.1-pro-preview").capability.prices
    short = Usage(input_tokens=200_000, output_tokens=1_000_000, cache_read_tokens=0)
    long = Usage(input_tokens=200_001, output_tokens=1_000_000, cache_read_tokens=100_000)
    assert cost_of(short, prices) == pytest.approx(0.2 * 2.0 + 12.0)
    assert cost_of(long, prices) == pytest.approx((100_001 * 4.0 + 100_000 * 0.4) / 1e6 + 18.0)


def test_prices_that_tell_no_output_give_no_cost():
    used = Usage(input_tokens=1, output_tokens=1)
    assert cost_of(used, Prices(input=1.0)) is None
    assert cost_of(used, None) is None


def test_what_a_tier_does_not_tell_is_as_below_it():
    prices = Prices(
        input=1.0,
        output=2.0,
        cache_read=0.5,
        tiers=(PriceTier(above=10, input=3.0), PriceTier(above=20, output=9.0)),
    )
    assert (prices.of(10).input, prices.of(11).input, prices.of(11).output) == (1.0, 3.0, 2.0)
    assert (prices.of(21).input, prices.of(21).output, prices.of(21).cache_read) == (3.0, 9.0, 0.5)


def test_tiers_dates_and_documents_come_out_of_the_data_set():
    known = catalogue()
    assert known.models["qwen-flash"].prices.tiers[0].above == 256_000
    assert known.find("anthropic", "claude-sonnet-4-5", "claude-sonnet-4-5").retires == "2026-11-30"
    assert known.find("vertex", "claude-sonnet-4-5", "claude-sonnet-4-5").retires is None
    assert profile_for("openai", "gpt-5.5").capability.documents == "supported"
