"""Chinese clouds: Volcengine Ark, Tencent TokenHub, StepFun.

Sources: vendors.md §15 (Ark documentation, cloud.tencent.com document 1823/131208 of 2026-04-30,
StepFun manual), read 2026-11.
"""

from typing import Any

from msgspec.structs import replace

from silu.providers.facts import SWITCH_ON, Facts, up_to
from silu.providers.forms import reasoning_effort, word
from silu.providers.vendor import Ask, Door, Turn, Vendor, own_url
from silu.types.levels import Level


def _ark(facts: Facts, ask: Ask) -> dict[str, Any]:
    """An effort only beside `enabled`: with another type it answers 400."""
    if not ask.on:
        return {"thinking": {"type": "disabled"}}
    if ask.level is Level.ADAPTIVE:
        return {"thinking": {"type": "auto"}}
    body: dict[str, Any] = {"thinking": {"type": "enabled"}}
    if not facts.switch_only:
        body["reasoning_effort"] = word(facts, ask.level)
    return body


def _ark_here(facts: Facts, model: str) -> Facts:
    if facts.family in {"doubao", "unknown"} or facts.thinking != "supported":
        return facts
    return _three(facts)


def _three(facts: Facts) -> Facts:
    """low, medium, high beside the switch; what is switched at home is switched here."""
    default = facts.default if facts.default in {None, Level.OFF} else Level.MEDIUM
    if facts.switch_only:
        return replace(facts, adaptive=False)
    return replace(
        facts,
        levels=up_to(Level.HIGH, off=not facts.forced),
        default=default,
        budgets={},
        efforts={},
        same={},
        adaptive=False,
    )


def _tencent(facts: Facts, ask: Ask) -> dict[str, Any]:
    if facts.forced and facts.switch_only:
        return {}
    if not ask.on:
        return {"thinking": {"type": "disabled"}}
    body: dict[str, Any] = {"thinking": {"type": "adaptive" if facts.adaptive else "enabled"}}
    if not facts.switch_only:
        body["reasoning_effort"] = word(facts, ask.level)
    return body


def _tencent_here(facts: Facts, model: str) -> Facts:
    if facts.thinking != "supported":
        return facts
    if facts.family == "minimax" and facts.switch_only:
        # M3: `enabled` answers 400 here, adaptive and disabled pass.
        return facts
    if facts.family == "deepseek" and facts.generation == "v3.1":
        return replace(facts, default=Level.OFF)
    here = _three(facts)
    return replace(here, default=SWITCH_ON) if here.switch_only and here.forced else here


def _deepseek_style(facts: Facts, turn: Turn) -> dict[str, Any]:
    # Without it the field is called `reasoning`.
    return {"reasoning_format": "deepseek-style"} if facts.thinking == "supported" else {}


def _content(facts: Facts, thinking: bool) -> dict[str, Any]:
    return {"echo_field": "reasoning_content"}


ARK = Vendor(
    id="ark",
    label="Volcengine Ark",
    key_vars=("ARK_API_KEY",),
    start_models=("doubao-seed-2.1-pro", "doubao-seed-2.0-pro"),
    models=("doubao-seed-2.1-pro", "doubao-seed-2.0-pro", "doubao-seed-2.0-lite"),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://ark.cn-beijing.volces.com/api/v3",
            place=own_url("SILU_ARK_URL"),
            form=_ark,
            adapt=_ark_here,
            encode=_content,
        ),
    ),
)
TENCENT = Vendor(
    id="tencent",
    label="Tencent TokenHub",
    key_vars=("TENCENT_API_KEY", "TOKENHUB_API_KEY"),
    start_models=("deepseek-v4-flash", "glm-5.1"),
    models=("deepseek-v4-flash", "deepseek-v4-pro", "glm-5.1", "kimi-k2.6", "hy3-preview"),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://tokenhub.tencentmaas.com/v1",
            place=own_url("SILU_TENCENT_URL"),
            form=_tencent,
            adapt=_tencent_here,
            encode=_content,
        ),
    ),
)
STEPFUN = Vendor(
    id="stepfun",
    label="StepFun",
    key_vars=("STEPFUN_API_KEY", "STEP_API_KEY"),
    start_models=("step-3.7-flash", "step-3.5-flash-2603"),
    models=("step-3.7-flash", "step-3.5-flash-2603"),
    doors=(
        Door(
            dialect="openai-chat",
            base_url="https://api.stepfun.com/v1",
            place=own_url("SILU_STEPFUN_URL"),
            form=reasoning_effort,
            body_rules=_deepseek_style,
            encode=_content,
        ),
    ),
)

VENDORS = (ARK, TENCENT, STEPFUN)
