"""Forms: the ways vendors write a level into a request body. A vendor file names one.

Each takes the facts of the family and what was decided, and gives body fields. A form never
decides a level; a form shared by several vendors knows none of them.
"""

from typing import Any

from silu.providers.facts import Facts
from silu.providers.vendor import Ask, Form, Turn
from silu.types.levels import Level


def word(facts: Facts, level: Level) -> str:
    """The vendor's own word for a level."""
    return facts.efforts.get(level, level.value)


def nothing(facts: Facts, ask: Ask) -> dict[str, Any]:
    """A vendor that takes no field for it."""
    return {}


def anthropic_thinking(facts: Facts, ask: Ask) -> dict[str, Any]:
    """Messages API: `thinking` and `output_config.effort`.

    Budget families get `enabled` with a budget, adaptive ones `adaptive` with an effort (and
    `adaptive` alone for that level), others `enabled` with an effort where they have levels.
    """
    if not ask.on:
        return facts.extra.get("off") or {"thinking": {"type": "disabled"}}
    if ask.budget is not None:
        return {"thinking": {"type": "enabled", "budget_tokens": ask.budget}}
    thinking: dict[str, Any] = {"type": "adaptive" if facts.adaptive else "enabled"}
    if facts.extra.get("display"):
        # From Opus 4.7 on the text is withheld unless it is asked for (2026-11).
        thinking["display"] = "summarized"
    if facts.adaptive and facts.extra.get("drop_block"):
        thinking["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
    if ask.level is Level.ADAPTIVE or facts.switch_only:
        return {"thinking": thinking}
    return {"thinking": thinking, "output_config": {"effort": word(facts, ask.level)}}


def claude_betas(facts: Facts, turn: Turn) -> list[str]:
    """The features a request of Claude's has to name beside its body."""
    named: list[str] = []
    if turn.thinking and turn.tools and facts.extra.get("interleaved"):
        # Thinking between tool calls: in budget mode only, adaptive mode does it by itself.
        named.append("interleaved-thinking-2025-05-14")
    if turn.thinking and facts.adaptive and facts.extra.get("drop_block"):
        named.append("thinking-binding-controls-2026-08-01")
    return named


def claude_headers(facts: Facts, turn: Turn) -> dict[str, str]:
    named = claude_betas(facts, turn)
    return {"anthropic-beta": ",".join(named)} if named else {}


def reasoning_effort(facts: Facts, ask: Ask) -> dict[str, Any]:
    """OpenAI chat: one top-level word, `none` for off."""
    if not ask.on:
        return {"reasoning_effort": facts.efforts.get(Level.OFF, "none")}
    return {"reasoning_effort": word(facts, ask.level)}


def thinking_type(facts: Facts, ask: Ask) -> dict[str, Any]:
    """`thinking: {type}` as a switch; a top-level `reasoning_effort` where there are levels."""
    if not ask.on:
        return {"thinking": {"type": "disabled"}}
    body: dict[str, Any] = {"thinking": {"type": "adaptive" if facts.adaptive else "enabled"}}
    if not facts.switch_only and ask.level is not Level.ADAPTIVE:
        body["reasoning_effort"] = word(facts, ask.level)
    return body


def enable_thinking(facts: Facts, ask: Ask) -> dict[str, Any]:
    """Model Studio: `enable_thinking`, with a budget or an effort, never both."""
    body: dict[str, Any] = {"enable_thinking": ask.on}
    if facts.forced and facts.budgets:
        # Thinking-only models have no switch to set.
        body = {}
    if ask.on and ask.budget is not None:
        body["thinking_budget"] = ask.budget
    elif ask.on and not facts.switch_only and not facts.budgets and ask.level is not Level.ADAPTIVE:
        body["reasoning_effort"] = word(facts, ask.level)
    return body


def template_kwargs(facts: Facts, ask: Ask) -> dict[str, Any]:
    """Self-hosted servers: the chat template's own switch, and a literal effort.

    Templates differ in the switch's name; a family that needs one names it, and templates
    ignore what they do not know.
    """
    switches: tuple[str, ...] = facts.extra.get("template_switch", ())
    body: dict[str, Any] = {}
    if switches:
        body["chat_template_kwargs"] = dict.fromkeys(switches, ask.on)
    if not ask.on:
        return body or {"reasoning_effort": "none"}
    if not facts.switch_only and not facts.budgets and ask.level is not Level.ADAPTIVE:
        body["reasoning_effort"] = word(facts, ask.level)
    return body


def responses_reasoning(facts: Facts, ask: Ask) -> dict[str, Any]:
    """Responses API: an effort, and the summary that is shown as the thought."""
    if not ask.on:
        return {"reasoning": {"effort": facts.efforts.get(Level.OFF, "none")}}
    if facts.switch_only:
        return {"reasoning": {"summary": "auto"}} if not facts.extra.get("no_summary") else {}
    reasoning = {"effort": word(facts, ask.level)}
    if not facts.extra.get("no_summary"):
        reasoning["summary"] = "auto"
    return {"reasoning": reasoning}


def gemini_config(facts: Facts, ask: Ask) -> dict[str, Any]:
    """Gemini: `thinkingBudget` before 3, `thinkingLevel` from 3 on, never both; thoughts are
    shown only when they are asked for."""
    if not ask.on:
        return {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}
    config: dict[str, Any] = {"includeThoughts": True}
    if ask.budget is not None:
        config["thinkingBudget"] = ask.budget
    elif not facts.switch_only:
        config["thinkingLevel"] = word(facts, ask.level)
    return {"generationConfig": {"thinkingConfig": config}}


def ollama_think(facts: Facts, ask: Ask) -> dict[str, Any]:
    """Ollama's own dialect: true, false or a word."""
    if not ask.on or facts.switch_only or ask.level is Level.ADAPTIVE:
        return {"think": ask.on}
    return {"think": word(facts, ask.level)}


def reasoning_object(facts: Facts, ask: Ask) -> dict[str, Any]:
    """Responses and aggregators: `reasoning.effort`, `none` for off."""
    effort = word(facts, ask.level) if ask.on else facts.efforts.get(Level.OFF, "none")
    return {"reasoning": {"effort": effort}}


def plain_form(dialect: str) -> Form:
    """How a level is written in a dialect by a server nothing else is known of. The two that have
    compatible servers everywhere are in `vendors/compatible.py`."""
    match dialect:
        case "mistral-chat":
            return reasoning_effort
        case "openai-responses":
            return responses_reasoning
        case "gemini-generate":
            return gemini_config
        case "ollama-chat":
            return ollama_think
        case _:
            return nothing
