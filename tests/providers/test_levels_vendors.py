"""The level table of the other vendors (vendors.md §17), one word a cell.

Each row says how its vendor writes a word, and the word sent for off, minimal, low, medium, high,
xhigh, max, adaptive. `-` is "nothing about thinking"; `on` and `off` are the vendor's switch.
The product rule stands above the arrows of the source: a level that is missing goes to the
nearest lower thinking level, and asking for thinking never gives off.
"""

import pytest

from silu.providers.families import find
from silu.providers.profile import profile_for, split_ref
from silu.providers.resolve import Limits, resolve
from silu.providers.vendors import vendors
from silu.types.levels import Level, parse_level

LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh", "max", "adaptive")


def responses(word):
    summary = {} if word == "none" else {"summary": "auto"}
    return {"reasoning": {"effort": word, **summary}}


def reasoning(word):
    return {"reasoning": {"enabled": True} if word == "on" else {"effort": word}}


def effort(word):
    return {"reasoning_effort": word}


def google(word):
    if word == "0":
        return {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}
    value = {"thinkingLevel": word} if word.isalpha() else {"thinkingBudget": int(word)}
    return {"generationConfig": {"thinkingConfig": {"includeThoughts": True, **value}}}


def switch(word):
    """`thinking.type`, with an effort beside it where the word is one."""
    if word in {"enabled", "disabled", "adaptive", "auto"}:
        return {"thinking": {"type": word}}
    return {"thinking": {"type": "enabled"}, "reasoning_effort": word}


def dashscope(word):
    if word in {"true", "false"}:
        return {"enable_thinking": word == "true"}
    if word.isdigit():
        return {"enable_thinking": True, "thinking_budget": int(word)}
    return {"enable_thinking": True, "reasoning_effort": word}


def budget_only(word):
    return {"thinking_budget": int(word)}


def anthropic(word):
    if word in {"adaptive", "disabled", "enabled"}:
        return {"thinking": {"type": word}}
    return {"thinking": {"type": "adaptive"}, "output_config": {"effort": word}}


def together(word):
    if word in {"true", "false"}:
        return {"reasoning": {"enabled": word == "true"}}
    return {"reasoning": {"enabled": True}, "reasoning_effort": word}


def prompt_mode(word):
    return {"prompt_mode": word}


def template(word):
    return {"chat_template_kwargs": {"enable_thinking": word == "true"}}


def bedrock(field):
    def write(word):
        if field == "effort":
            value = {"reasoning": {"effort": word}}
        elif field == "nova":
            value = {"reasoningConfig": {"type": "disabled"} if word == "disabled" else {
                "type": "enabled", "maxReasoningEffort": word}}  # fmt: skip
        else:
            value = {field: word}
        return {"additionalModelRequestFields": value}

    return write


# fmt: off
TABLE = {
    "openai/o4-mini":        (responses, "low low low medium high high high medium"),
    "openai/gpt-5":          (responses, "minimal minimal low medium high high high medium"),
    "openai/gpt-5-codex":    (responses, "low low low medium high high high medium"),
    "openai/gpt-5-pro":      (responses, "high high high high high high high high"),
    "openai/gpt-5.1":        (responses, "none low low medium high high high medium"),
    "openai/gpt-5.3-codex":  (responses, "none low low medium high xhigh xhigh medium"),
    "openai/gpt-5.4-mini":   (responses, "none low low medium high xhigh xhigh medium"),
    "openai/gpt-5.5":        (responses, "none low low medium high xhigh xhigh medium"),
    "openai/gpt-5.5-pro":    (responses, "medium medium medium medium high xhigh xhigh medium"),
    "openai/gpt-5.6-sol":    (responses, "none low low medium high xhigh max medium"),
    "openai/gpt-6.1-terra":  (responses, "none low low medium high xhigh max medium"),
    "openai/gpt-6-astra":    (responses, "low low low medium high xhigh max medium"),
    "openai/gpt-6.2-sol":    (responses, "low low low medium high xhigh max medium"),
    "openai/gpt-7-nova":     (responses, "low low low medium high xhigh max medium"),
    "openai/gpt-5.2-chat-latest": (responses, "medium " * 8),
    "openai/gpt-5-chat-latest":   (responses, "- " * 8),
    "openai/gpt-4.1":        (responses, "- " * 8),
    "azure/gpt-5.1":         (responses, "none low low medium high high high medium"),

    "gemini/gemini-2.5-flash":      (google, "0 1024 2048 8192 24576 24576 24576 -1"),
    "gemini/gemini-2.5-flash-lite": (google, "0 1024 2048 8192 24576 24576 24576 -1"),
    "gemini/gemini-2.5-pro":        (google, "128 512 2048 8192 24576 32768 32768 -1"),
    "gemini/gemini-3-pro-preview":  (google, "low low low low high high high high"),
    "gemini/gemini-3.1-pro-preview": (google, "low low low medium high high high high"),
    "gemini/gemini-3-flash-preview": (google, "minimal minimal low medium high high high high"),
    "gemini/gemini-3.1-flash-lite": (google, "minimal minimal low medium high high high minimal"),
    "gemini/gemini-3.6-flash":      (google, "minimal minimal low medium high high high medium"),
    "gemini/gemini-3.8-flash":      (google, "low low low medium high high high medium"),
    "gemini/gemini-4-argon":        (google, "low low low medium high high high medium"),
    "gemini/gemini-4-hydrogen":     (google, "low low low medium high xhigh xhigh high"),
    "gemini/gemini-flash-latest":   (google, "low low low medium high high high medium"),
    "gemini/gemini-2.0-flash":      (google, "- " * 8),
    "gemini/gemma-4-27b":           (google, "minimal minimal minimal minimal high high high "
                                             "minimal"),
    "vertex/gemini-3.8-flash":      (google, "low low low medium high high high medium"),

    "kimi/kimi-k2.6":        (switch, "disabled " + "enabled " * 7),
    "kimi/kimi-k2.7-code":   (switch, "enabled " * 8),
    "kimi/kimi-k3":          (effort, "low low low low high high max max"),
    "kimi/kimi-k2-turbo":    (effort, "- " * 8),

    "qwen/qwen3.7-plus":     (dashscope, "false 1024 4096 8192 32768 true true true"),
    "qwen/qwen3-max":        (dashscope, "false 1024 4096 8192 32768 true true 8192"),
    "qwen/qwen3.8-max":      (dashscope, "false low low medium xhigh xhigh xhigh xhigh"),
    "qwen/qwen4-max":        (dashscope, "false low low medium xhigh xhigh xhigh xhigh"),
    "qwen/qwen3.8-max-preview": (dashscope, "low low low medium xhigh xhigh xhigh xhigh"),
    "qwen/qwen3-30b-a3b-thinking-2507": (budget_only, "1024 1024 4096 8192 32768 - - -"),
    "qwen/qwen3-coder-plus": (dashscope, "- " * 8),
    "qwen/deepseek-v4-pro":  (dashscope, "false high high high high high max high"),
    "qwen/kimi-k2.6":        (dashscope, "false " + "true " * 7),

    "glm/glm-4.6":           (switch, "disabled " + "enabled " * 7),
    "glm/glm-5.2":           (switch, "disabled high high high high high max max"),
    "glm/glm-5.3-flash":     (switch, "low low low low high high max max"),
    "mimo/mimo-v2.6-pro":    (switch, "disabled " + "enabled " * 7),
    "minimax/MiniMax-M2.7":  (anthropic, "- " * 8),
    "minimax/MiniMax-M3":    (anthropic, "disabled " + "adaptive " * 7),
    "minimax/MiniMax-M3.1-Flash": (anthropic, "low low low medium high xhigh max adaptive"),
    "qiniu/qwen3-max":       (switch, "disabled " + "enabled " * 7),
    "qiniu/glm-4.6":         (switch, "disabled " + "enabled " * 7),
    "modelscope/Qwen/Qwen3-8B": (dashscope, "false " + "true " * 7),

    "xai/grok-4.3":          (reasoning, "none low low medium high high high low"),
    "xai/grok-4.5":          (reasoning, "low low low medium high high high high"),
    "xai/grok-4.7":          (reasoning, "low low low medium high xhigh xhigh high"),
    "xai/grok-code-fast-1":  (reasoning, "- " * 8),
    "mistral/mistral-small-latest": (effort, "none high high high high high high high"),
    "mistral/mistral-large-4":      (effort, "low low low medium high high high medium"),
    "mistral/magistral-medium-latest": (prompt_mode, "reasoning " * 8),
    "groq/openai/gpt-oss-120b": (effort, "low low low medium high high high medium"),
    "groq/qwen/qwen3.6-27b": (effort, "none " + "default " * 7),
    "groq/qwen/qwen3.8-32b": (effort, "none low low medium high high high medium"),
    "cerebras/gpt-oss-120b": (effort, "low low low medium high high high medium"),
    "cerebras/zai-glm-4.7":  (effort, "none low low medium high high high medium"),
    "together/deepseek-ai/DeepSeek-V4-Flash": (together, "false low low low high high max high"),
    "together/Qwen/Qwen3-235B-A22B":          (together, "false " + "true " * 7),
    "fireworks/accounts/fireworks/models/deepseek-v4-pro": (
                                  effort, "none low low medium high high high medium"),
    "nvidia/qwen/qwen3-8b":  (template, "false " + "true " * 7),
    "siliconflow/Qwen/Qwen3-8B": (dashscope, "false 1024 4096 8192 32768 true true true"),
    "siliconflow/deepseek-ai/DeepSeek-V4-Flash": (
                                  dashscope, "false high high high high high max high"),
    "ark/doubao-seed-2.1-pro": (switch, "disabled minimal low medium high high high auto"),
    "tencent/deepseek-v4-flash": (switch, "disabled low low medium high high high medium"),
    "tencent/minimax-m3":    (switch, "disabled " + "adaptive " * 7),
    "tencent/hunyuan-2.0-thinking": (switch, "- " * 8),
    "stepfun/step-3.7-flash": (effort, "low low low medium high high high medium"),
    "stepfun/step-3.5-flash-2603": (effort, "low low low low high high high low"),
    "openrouter/anthropic/claude-opus-4.8": (
                                  reasoning, "none minimal low medium high xhigh max on"),
    "openrouter/z-ai/glm-5.3": (reasoning, "minimal minimal low medium high xhigh max on"),
    "openrouter/qwen/qwen3.8-max": (reasoning, "minimal minimal low medium high xhigh max on"),
    "openrouter/someone/new": (reasoning, "none minimal low medium high xhigh max on"),

    # What is no vendor's own line.
    "ark/deepseek-v4-flash": (switch, "disabled low low medium high high high medium"),
    "tencent/deepseek-v3.1": (switch, "disabled " + "enabled " * 7),
    "tencent/minimax-m2.7": (switch, "- " * 8),
    "tencent/qwen2.5-7b":   (switch, "- " * 8),
    "together/openai/gpt-oss-120b": (together, "low low low medium high high high medium"),
    "nvidia/openai/gpt-oss-120b": (effort, "low low low medium high high high medium"),
    "siliconflow/zai-org/GLM-4.6": (dashscope, "false " + "true " * 7),
    "siliconflow/qwen2.5":  (dashscope, "- " * 8),
    "fireworks/llama-3-70b": (effort, "none low low medium high high high -"),
    "cerebras/qwen2.5-7b":  (effort, "- " * 8),
    "modelscope/Qwen/Qwen2.5-7B": (dashscope, "- " * 8),
    "openrouter/openai/gpt-4.1": (reasoning, "- " * 8),
    "openrouter/qwen/qwen3-max": (reasoning, "none minimal low medium high xhigh max on"),
    "qiniu/gpt-4.1":        (effort, "- " * 8),
    "llamacpp/qwen2.5-7b":  (effort, "- " * 8),
    "sglang/openai/gpt-oss-20b": (effort, "low low low medium high high high medium"),
    "vllm/someone/new":     (effort, "none low low medium high high high -"),
    "groq/deepseek-r1-distill-llama-70b": (effort, "- " * 8),

    "bedrock/openai.gpt-oss-120b-1:0": (
                     bedrock("reasoning_effort"), "low low low medium high high high medium"),
    "bedrock/xai.grok-4.7": (bedrock("effort"), "low low low medium high xhigh xhigh high"),
    "bedrock/qwen.qwen3-32b-v1:0": (bedrock("reasoning_config"), "none " + "high " * 7),
    "bedrock/deepseek.v3.2-v1:0": (bedrock("reasoning_effort"), "none " + "high " * 7),
    "bedrock/zai.glm-5.3":  (bedrock("reasoning_effort"), "low low low low high high max max"),
    "bedrock/us.amazon.nova-2-lite-v1:0": (
                     bedrock("nova"), "disabled low low medium high high high medium"),

    "sglang/Qwen/Qwen3-8B": (template, "false " + "true " * 7),
    "llamacpp/qwen3-1.7b":  (effort, "none minimal low medium high xhigh max -"),
    "lmstudio/openai/gpt-oss-20b": (effort, "low low low medium high high high medium"),
    "lmstudio/qwen3-8b":    (effort, "- low low medium high high high -"),
}
# fmt: on


def settled(ref, choice):
    profile = profile_for(*split_ref(ref))
    limits = Limits(model_max=profile.capability.max_output)
    return resolve(
        profile.facts, profile.door.form, parse_level(choice), source="turn", limits=limits
    ).resolution


@pytest.mark.parametrize("ref", list(TABLE))
def test_each_level_is_written_in_the_vendors_own_form(ref):
    write, words = TABLE[ref]
    expected = {
        level: {} if word == "-" else write(word)
        for level, word in zip(LEVELS, words.split(), strict=True)
    }
    assert {level: settled(ref, level).wire for level in LEVELS} == expected


@pytest.mark.parametrize("ref", list(TABLE))
def test_a_level_that_is_not_in_force_is_always_told(ref):
    for level in LEVELS:
        found = settled(ref, level)
        if found.effective != level:
            assert found.notes, f"{level} became {found.effective} without a word"


@pytest.mark.parametrize("ref", list(TABLE))
def test_asking_for_thinking_never_gives_off_where_the_model_thinks(ref):
    if profile_for(*split_ref(ref)).facts.thinking == "unsupported":
        return
    for level in LEVELS[1:]:
        assert settled(ref, level).effective != "off"


@pytest.mark.parametrize("ref", list(TABLE))
def test_what_is_offered_has_each_its_own_effect(ref):
    capability = profile_for(*split_ref(ref)).capability
    wires = [str(settled(ref, level).wire) for level in capability.thinking_levels]
    assert len(set(wires)) == len(wires)
    assert capability.thinking_force_enabled == (
        capability.thinking == "supported" and Level.OFF not in capability.thinking_levels
    )


@pytest.mark.parametrize("vendor", sorted(vendors()))
def test_each_vendor_names_its_start_model_among_its_own(vendor):
    found = vendors()[vendor]
    assert found.doors and found.label
    for door in found.doors:
        assert door.base_url.startswith(("http", "demo:")), door
    if found.models:
        assert found.start_models
        assert set(found.start_models) & set(found.models)
    if found.needs_key:
        assert found.key_vars and profile_for(vendor, found.start_models[0])


def test_the_ten_and_anthropic_have_their_usual_key_variables():
    wanted = {
        "anthropic": "ANTHROPIC_API_KEY",
        "openai": "OPENAI_API_KEY",
        "gemini": "GEMINI_API_KEY GOOGLE_API_KEY",
        "qiniu": "QINIU_API_KEY",
        "modelscope": "MODELSCOPE_API_KEY",
        "deepseek": "DEEPSEEK_API_KEY",
        "kimi": "MOONSHOT_API_KEY KIMI_API_KEY",
        "qwen": "DASHSCOPE_API_KEY QWEN_API_KEY",
        "glm": "ZHIPU_API_KEY ZAI_API_KEY GLM_API_KEY",
        "mimo": "XIAOMI_API_KEY MIMO_API_KEY",
        "minimax": "MINIMAX_API_KEY",
    }
    assert {v: " ".join(vendors()[v].key_vars) for v in wanted} == wanted


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("openai.gpt-5.6-luna", "gpt"), ("chatgpt-4o-latest", "gpt"), ("codex-mini-latest", "gpt"),
        ("gpt-image-1", "gpt"), ("gemma-3-27b-it", "gemma"), ("gemini-pro-latest", "gemini"),
        ("gemini-flash-lite-latest", "gemini"), ("gemini-ultra-latest", "gemini"),
        ("moonshot-v1-8k", "kimi"), ("kimi-latest", "kimi"), ("kimi-k2-thinking", "kimi"),
        ("glm-4.1v-thinking", "glm"), ("glm-4-plus", "glm"), ("chatglm3-6b", "glm"),
        ("glm-z1-air", "glm"), ("glm-next", "glm"), ("mimo-v2-flash", "mimo"),
        ("abab6.5s-chat", "minimax"), ("minimax-next", "minimax"), ("grok-2-vision", "grok"),
        ("grok-3-mini", "grok"), ("grok-4-fast-non-reasoning", "grok"), ("grok-latest", "grok"),
        ("mistral-large-2411", "mistral"), ("mistral-small-2501", "mistral"),
        ("codestral-latest", "mistral"), ("ministral-3-14b-reasoning", "mistral"),
        ("doubao-1-5-pro-32k", "doubao"), ("hunyuan-turbo", "hunyuan"), ("muse-1", "muse"),
        ("ring-2.5-1t", "ring"),
    ],
)  # fmt: skip
def test_names_belong_to_their_family(model, family):
    from silu.providers.families import bare

    assert find(model).family == family, bare(model)
