"""Servers on the person's own machine, found on their usual ports.

Sources: ollama/ollama `docs/` and `openai/openai.go`, ggml-org/llama.cpp `tools/server`,
docs.vllm.ai "Reasoning outputs", docs.sglang.io "Separate reasoning", lmstudio.ai developer
docs (all read 2026-11); vendors.md §16.
"""

from typing import Any

from msgspec.structs import replace

from silu.providers.facts import Facts, switchable, up_to
from silu.providers.forms import ollama_think, reasoning_effort, template_kwargs
from silu.providers.vendor import Door, Turn, Vendor
from silu.types.levels import ORDER, Level


def _local(facts: Facts, **changes: Any) -> Facts:
    """Local servers take sampling and any tool choice, and their default is the template's.

    The template also decides which old thoughts it shows the model; sending them all keeps what
    was sent before as it was.
    """
    free: dict[str, Any] = {
        "sampling": "free",
        "tool_choice_thinking": None,
        "budgets": {},
        "same": {},
        "efforts": {},
        "switch_only": False,
        "adaptive": False,
        "default": None,
        "echo": "all" if facts.echo == "loop" else facts.echo,
    }
    return replace(facts, **{**free, **changes})


def _ollama(facts: Facts, model: str) -> Facts:
    """One list of words for all models; nothing sent: thinks if it can, as with medium.

    gpt-oss takes its three levels only. On the OpenAI dialect minimal runs as low, xhigh as max.
    """
    if facts.family == "gpt-oss" or facts.thinking == "unsupported":
        return facts
    levels = (Level.OFF, Level.LOW, Level.MEDIUM, Level.HIGH, Level.MAX)
    return _local(
        facts,
        levels=levels if not facts.forced else levels[1:],
        same={Level.XHIGH: Level.MAX},
        extra={**facts.extra, "adaptive_as": Level.MEDIUM},
    )


def _ollama_native(facts: Facts, model: str) -> Facts:
    """Its own dialect has `true` beside the words, which leaves the depth to the model."""
    here = _ollama(facts, model)
    levels_only = here.family == "gpt-oss" or here.thinking == "unsupported"
    return here if levels_only else replace(here, adaptive=True)


def _llamacpp(facts: Facts, model: str) -> Facts:
    """Every word passes; "none" switches off, the rest is the template's business."""
    if facts.thinking == "unsupported":
        return facts
    extra = {**facts.extra, "adaptive_as": None}
    return _local(facts, levels=ORDER[1:] if facts.forced else ORDER, extra=extra)


def _template(facts: Facts, model: str) -> Facts:
    """vLLM and SGLang: the template's switch, and a literal effort for families that have one."""
    if facts.thinking == "unsupported" or facts.family == "gpt-oss":
        return facts
    if facts.thinking == "unknown":
        return _local(facts, levels=up_to(Level.HIGH))
    if facts.budgets or facts.switch_only:
        one = switchable(family=facts.family)
        levels = one.levels[1:] if facts.forced else one.levels
        return _local(facts, levels=levels, switch_only=True, default=facts.default and levels[-1])
    return _local(
        facts,
        levels=facts.levels,
        efforts=facts.efforts,
        same=facts.same,
        default=facts.default,
    )


def _lmstudio(facts: Facts, model: str) -> Facts:
    """Its chat dialect documents no field; gpt-oss takes an effort, off is not known."""
    if facts.thinking == "unsupported" or facts.family == "gpt-oss":
        return facts
    return _local(facts, thinking="unknown", levels=(Level.LOW, Level.MEDIUM, Level.HIGH))


def _field(name: str) -> Any:
    def rules(facts: Facts, thinking: bool) -> dict[str, Any]:
        return {"echo_field": name}

    return rules


def _as_received(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {}


def _controllable(facts: Facts, turn: Turn) -> dict[str, Any]:
    return {"reasoning_control": True} if turn.thinking and turn.stream else {}


def _reasoning_end(response_id: str) -> tuple[str, dict[str, Any]]:
    return "/chat/completions/control", {"id": response_id, "action": "reasoning_end"}


OLLAMA = Vendor(
    id="ollama",
    label="Ollama",
    needs_key=False,
    port=11434,
    listing="ollama",
    doors=(
        Door(
            dialect="ollama-chat",
            base_url="http://127.0.0.1:11434",
            form=ollama_think,
            adapt=_ollama_native,
        ),
        Door(
            dialect="openai-chat",
            base_url="http://127.0.0.1:11434/v1",
            form=reasoning_effort,
            off_is_effort=True,
            adapt=_ollama,
            # It names the field `reasoning`, in answers and in what comes back.
            encode=_field("reasoning"),
        ),
    ),
)
LMSTUDIO = Vendor(
    id="lmstudio",
    label="LM Studio",
    needs_key=False,
    port=1234,
    doors=(
        Door(
            dialect="openai-chat",
            base_url="http://127.0.0.1:1234/v1",
            form=reasoning_effort,
            off_is_effort=True,
            adapt=_lmstudio,
        ),
    ),
)
LLAMACPP = Vendor(
    id="llamacpp",
    label="llama.cpp",
    needs_key=False,
    port=8080,
    doors=(
        Door(
            dialect="openai-chat",
            base_url="http://127.0.0.1:8080/v1",
            form=reasoning_effort,
            off_is_effort=True,
            adapt=_llamacpp,
            body_rules=_controllable,
            end_thinking=_reasoning_end,
            encode=_field("reasoning_content"),
        ),
    ),
)
VLLM = Vendor(
    id="vllm",
    label="vLLM",
    needs_key=False,
    port=8000,
    doors=(
        Door(
            dialect="openai-chat",
            base_url="http://127.0.0.1:8000/v1",
            form=template_kwargs,
            adapt=_template,
            # `reasoning_content` before 0.11, `reasoning` since: replayed under the name received.
            encode=_as_received,
        ),
    ),
)
SGLANG = Vendor(
    id="sglang",
    label="SGLang",
    needs_key=False,
    port=30000,
    doors=(
        Door(
            dialect="openai-chat",
            base_url="http://127.0.0.1:30000/v1",
            form=template_kwargs,
            adapt=_template,
            encode=_field("reasoning_content"),
        ),
    ),
)

VENDORS = (OLLAMA, LMSTUDIO, LLAMACPP, VLLM, SGLANG)
