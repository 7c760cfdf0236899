"""Claude's rules on thinking, effort, sampling and tool choice (vendors.md §1.1, §1.3)."""

from typing import Any

import msgspec

from silu.fakes.claude_models import ALL_EFFORTS, Claude
from silu.fakes.messages_rules import THOUGHTS, BadMessageError, budget_of, is_forced
from silu.fakes.raw import is_number, obj

INTERLEAVED = "interleaved-thinking-2025-05-14"
BINDING = "thinking-binding-controls-2026-08-01"
UPDATES = "thinking-display-updates-2026-08-18"
SYSTEM_TURNS = "mid-conversation-output-config-2026-07-01"

_TYPES = ("adaptive", "enabled", "disabled", "between_tools")
_QUIET = ("disabled", "between_tools")


class Mode(msgspec.Struct, frozen=True, kw_only=True):
    """What the request's thinking comes to. `budget`: the old form with `budget_tokens`;
    `drop_block`: foreign prefixes are dropped instead of refused."""

    type: str
    effort: str | None
    budget: bool
    display: str
    mismatch: str | None

    @property
    def on(self) -> bool:
        return self.type not in _QUIET


def read_mode(body: dict[str, Any], model: Claude, betas: frozenset[str]) -> Mode:
    """Check `thinking` and `output_config` against the model; raises `BadMessageError`."""
    thinking = body.get("thinking")
    switch = obj(thinking)
    if thinking is not None and switch is None:
        raise BadMessageError("thinking: Input should be a valid dictionary")
    effort = _effort(body, model)
    if switch is None:
        kind = "adaptive" if model.default_on else "disabled"
        return Mode(type=kind, effort=effort, budget=False, display=model.display, mismatch=None)
    kind = _check_type(switch.get("type"), model)
    _check_switch_fields(switch, kind, model, betas)
    if kind == "enabled":
        _check_budget(budget_of(switch), body, betas)
    if kind in _QUIET and effort is not None and effort not in model.quiet_efforts:
        raise BadMessageError(
            f"output_config.effort '{effort}' is not supported while thinking.type is '{kind}'"
        )
    binding = obj(switch.get("block_binding")) or {}
    return Mode(
        type=kind,
        effort=effort,
        budget=kind == "enabled",
        display=switch.get("display") or model.display,
        mismatch=binding.get("prefix_mismatch_behavior"),
    )


def _check_type(kind: object, model: Claude) -> str:
    if not isinstance(kind, str) or kind not in _TYPES:
        words = ", ".join(f"'{word}'" for word in _TYPES)
        raise BadMessageError(
            f"thinking: Input tag '{kind}' found using 'type' does not match any of the expected "
            f"tags: {words}"
        )
    if kind in model.types:
        return kind
    if "adaptive" not in model.types:
        raise BadMessageError(f"adaptive thinking is not supported on this model ({model.id})")
    raise BadMessageError(
        f'"thinking.type.{kind}" is not supported for this model. Use "thinking.type.adaptive" '
        'and "output_config.effort" to control thinking behavior.'
    )


_SWITCH_FIELDS = {
    "enabled": ("type", "budget_tokens", "display"),
    "adaptive": ("type", "display", "block_binding"),
    "disabled": ("type",),
    "between_tools": ("type",),
}


def _check_switch_fields(
    switch: dict[str, Any], kind: str, model: Claude, betas: frozenset[str]
) -> None:
    for name in switch:
        gated = name == "block_binding" and BINDING not in betas
        if name not in _SWITCH_FIELDS[kind] or gated:
            raise BadMessageError(f"thinking.{kind}.{name}: Extra inputs are not permitted")
    display = switch.get("display")
    allowed = ["summarized", "omitted"]
    if model.updates and UPDATES in betas:
        allowed.append("updates")
    if display is not None and display not in allowed:
        words = " or ".join(f"'{word}'" for word in allowed)
        raise BadMessageError(f"thinking.{kind}.display: Input should be {words}")
    if "block_binding" in switch:
        word = (obj(switch["block_binding"]) or {}).get("prefix_mismatch_behavior")
        if word not in ("drop_block", "error"):
            raise BadMessageError(
                f"thinking.{kind}.block_binding.prefix_mismatch_behavior: Input should be "
                "'drop_block' or 'error'"
            )


def _check_budget(budget: int, body: dict[str, Any], betas: frozenset[str]) -> None:
    if budget < 1024:
        raise BadMessageError(
            "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
        )
    # With interleaving the budget may span several blocks of one turn.
    if budget >= body["max_tokens"] and not (INTERLEAVED in betas and body.get("tools")):
        raise BadMessageError(
            "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our "
            "documentation: max_tokens must be greater than thinking.budget_tokens"
        )


def _effort(body: dict[str, Any], model: Claude) -> str | None:
    config = body.get("output_config")
    if config is None:
        return None
    owner = obj(config)
    if owner is None:
        raise BadMessageError("output_config: Input should be a valid dictionary")
    for name in owner:
        if name not in ("effort", "format", "task_budget"):
            raise BadMessageError(f"output_config.{name}: Extra inputs are not permitted")
    effort = owner.get("effort")
    if effort is None:
        return None
    if effort not in ALL_EFFORTS:
        words = ", ".join(f"'{word}'" for word in ALL_EFFORTS)
        raise BadMessageError(f"output_config.effort: Input should be {words}")
    if not model.efforts:
        raise BadMessageError("This model does not support the effort parameter.")
    if effort not in model.efforts:
        words = ", ".join(model.efforts)
        raise BadMessageError(
            f"This model does not support effort level '{effort}'. Supported values are: {words}"
        )
    return effort


def check_limits(body: dict[str, Any], model: Claude, mode: Mode) -> None:
    """Output limit, sampling and tool choice."""
    if body["max_tokens"] > model.max_output:
        raise BadMessageError(
            f"max_tokens: {body['max_tokens']} > {model.max_output}, which is the maximum allowed "
            f"number of output tokens for {model.id}"
        )
    _check_sampling(body, model, mode)
    if not is_forced(body):
        return
    if model.forced == "never":
        raise BadMessageError(
            "tool_choice: forced tool use is not supported on this model; use 'auto' or 'none'"
        )
    if (model.forced == "unless_thinking" and mode.on) or (
        model.forced == "unless_budget" and mode.budget
    ):
        raise BadMessageError("Thinking may not be enabled when tool_choice forces tool use.")


def _check_sampling(body: dict[str, Any], model: Claude, mode: Mode) -> None:
    for name in ("temperature", "top_p", "top_k"):
        if body.get(name) is not None and not is_number(body[name]):
            raise BadMessageError(f"{name}: Input should be a valid number")
        if body.get(name) is not None and model.sampling == "never":
            raise BadMessageError(f"`{name}` is not supported on this model.")
    temperature, top_p = body.get("temperature"), body.get("top_p")
    if temperature is not None and not 0 <= temperature <= 1:
        raise BadMessageError("temperature: range: 0..1")
    if top_p is not None and not 0 <= top_p <= 1:
        raise BadMessageError("top_p: range: 0..1")
    if mode.on:
        if temperature not in (None, 1):
            raise BadMessageError(
                "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode."
            )
        if body.get("top_k") is not None:
            raise BadMessageError("`top_k` must be unset when thinking is enabled.")
        if top_p is not None and top_p < 0.95:
            raise BadMessageError(
                "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled."
            )
    newer = not model.id.startswith(("claude-3-7", "claude-opus-4-0", "claude-opus-4-2"))
    if temperature is not None and top_p is not None and newer and not mode.on:
        raise BadMessageError(
            "`temperature` and `top_p` cannot both be specified for this model. Please use only "
            "one."
        )


def check_final(messages: list[dict[str, Any]], model: Claude, mode: Mode) -> None:
    """What the last assistant message may and must hold."""
    turn = open_turn(messages)
    if messages[-1]["role"] == "assistant":
        _check_prefill(messages, model, mode)
    if not turn:
        return
    if not mode.on and mode.type == "disabled":
        _check_no_thoughts(messages, turn)
    first = messages[turn[0]]["content"]
    word = first[0].get("type") if first else None
    if mode.budget and word not in THOUGHTS:
        raise BadMessageError(
            f"messages.{turn[0]}.content.0.type: Expected `thinking` or `redacted_thinking`, but "
            f"found `{word}`. When `thinking` is enabled, a final `assistant` message must start "
            "with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` "
            "blocks). To avoid this requirement, disable `thinking`."
        )


def open_turn(messages: list[dict[str, Any]]) -> list[int]:
    """Positions of the assistant messages of the turn that is still open: those after the last
    user message that is more than tool results. Empty where the person has the last word."""
    found: list[int] = []
    for i in range(len(messages) - 1, -1, -1):
        message = messages[i]
        if message["role"] == "assistant":
            found.append(i)
        elif not any(block.get("type") == "tool_result" for block in message["content"]):
            break
    return list(reversed(found))


def _check_no_thoughts(messages: list[dict[str, Any]], turn: list[int]) -> None:
    for i in turn:
        for j, block in enumerate(messages[i]["content"]):
            if block.get("type") in THOUGHTS:
                raise BadMessageError(
                    f"messages.{i}.content.{j}.type: When thinking is disabled, an `assistant` "
                    f"message in the final position cannot contain `{block['type']}`. To use "
                    "thinking blocks, enable `thinking` in your request."
                )


def _check_prefill(messages: list[dict[str, Any]], model: Claude, mode: Mode) -> None:
    blocks = messages[-1]["content"]
    last: dict[str, Any] = blocks[-1] if blocks else {}
    if last.get("type") != "text":
        return
    if last["text"] != last["text"].rstrip():
        raise BadMessageError(
            "messages: final assistant content cannot end with trailing whitespace"
        )
    # Since 4.6 an answer can no longer be begun for the model.
    if "adaptive" in model.types and not any(b.get("type") in THOUGHTS for b in blocks):
        raise BadMessageError(
            "This model does not support assistant message prefill. The conversation must end "
            "with a user message."
        )
