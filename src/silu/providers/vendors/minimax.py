"""MiniMax: the Anthropic dialect first, which it recommends; chat with `reasoning_split`.

Sources: platform.minimax.io "OpenAI API" and "Tool use & interleaved thinking" (read 2026-11).
Keys of api.minimaxi.com need SILU_MINIMAX_URL.
"""

from typing import Any

from msgspec.structs import replace

from silu.providers.facts import SWITCH_ON, Facts
from silu.providers.forms import anthropic_thinking
from silu.providers.vendor import Ask, Door, Turn, Vendor, own_url


def _form(facts: Facts, ask: Ask) -> dict[str, Any]:
    # M2 thinks whatever it is told; nothing is sent.
    return {} if facts.generation == "m2" else anthropic_thinking(facts, ask)


def _switch(facts: Facts, ask: Ask) -> dict[str, Any]:
    if facts.generation == "m2":
        return {}
    return {"thinking": {"type": "adaptive" if ask.on else "disabled"}}


def _on_chat(facts: Facts, model: str) -> Facts:
    # Efforts are documented for the Anthropic dialect only.
    if facts.family != "minimax" or facts.switch_only or facts.thinking != "supported":
        return facts
    return replace(facts, levels=(SWITCH_ON,), switch_only=True, default=SWITCH_ON)


def _unsigned(facts: Facts, thinking: bool) -> dict[str, Any]:
    # Its signatures are not checked, and some hosts send empty ones.
    # "Server tools" (2026-11): by Anthropic's name, in this dialect only.
    search = {"type": "web_search_20250305", "name": "web_search"}
    return {"unsigned_ok": True, "own_tools": {"web_search": search}}


def _chat(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"max_tokens_field": "max_completion_tokens", "tool_choice_ok": ("auto", "none")}


def _split(facts: Facts, turn: Turn) -> dict[str, Any]:
    # Without it the thinking stands inside the content, in tags.
    return {"reasoning_split": True} if facts.thinking == "supported" else {}


def _details(facts: Facts, thinking: bool) -> dict[str, Any]:
    # Cumulative in the vendor's own sample, incremental when measured: compared by prefix.
    return {"cumulative_details": True}


VENDOR = Vendor(
    id="minimax",
    label="MiniMax",
    rank=8,
    key_vars=("MINIMAX_API_KEY",),
    start_models=("MiniMax-M3", "MiniMax-M2.7"),
    models=("MiniMax-M3.1-Flash", "MiniMax-M3", "MiniMax-M2.7", "MiniMax-M2.5"),
    doors=(
        Door(
            dialect="anthropic-messages",
            base_url="https://api.minimax.io/anthropic",
            place=own_url("SILU_MINIMAX_URL"),
            auth="x-api-key",
            headers={"anthropic-version": "2023-06-01"},
            form=_form,
            encode=_unsigned,
        ),
        Door(
            dialect="openai-chat",
            base_url="https://api.minimax.io/v1",
            form=_switch,
            adapt=_on_chat,
            body_rules=_split,
            encode=_chat,
            decode=_details,
        ),
    ),
    notes={"auth": "Chinese keys need SILU_MINIMAX_URL=https://api.minimaxi.com/anthropic."},
    sources=("platform.minimax.io (2026-11)", "MiniMax-AI/MiniMax-M2#95"),
)
