"""What each Claude generation takes (vendors.md §1.1)."""

from typing import Literal

import msgspec

ALL_EFFORTS = ("low", "medium", "high", "xhigh", "max")
UP_TO_HIGH = ("low", "medium", "high")


class Claude(msgspec.Struct, frozen=True, kw_only=True):
    """One model. `types` are the accepted `thinking.type` words, `quiet` the one of them that is
    nearest to off; `quiet_efforts` what effort may go with it.

    `sampling`: `unless_thinking` takes temperature 1 and top_p from 0.95 while thinking, `never`
    takes none at all. `forced`: a tool choice of `any` or `tool`: `unless_thinking`,
    `unless_budget` or `never`. `bound`: thinking belongs to its prefix; `bound_always`: also for
    accounts older than 2026-08-31.
    """

    id: str
    context: int = 1_000_000
    max_output: int = 128_000
    types: tuple[str, ...] = ("adaptive",)
    quiet: str | None = None
    default_on: bool = True
    efforts: tuple[str, ...] = ALL_EFFORTS
    quiet_efforts: tuple[str, ...] = ALL_EFFORTS
    sampling: Literal["unless_thinking", "never"] = "never"
    forced: Literal["unless_thinking", "unless_budget", "never", "ok"] = "ok"
    display: Literal["summarized", "omitted"] = "omitted"
    updates: bool = False
    bound: bool = False
    bound_always: bool = False
    system_turns: bool = False


def _budget(name: str, *, max_output: int = 64_000, efforts: tuple[str, ...] = ()) -> Claude:
    return Claude(
        id=name,
        context=200_000,
        max_output=max_output,
        types=("enabled", "disabled"),
        quiet="disabled",
        default_on=False,
        efforts=efforts,
        sampling="unless_thinking",
        forced="unless_thinking",
        display="summarized",
    )


def _four_six(name: str) -> Claude:
    return Claude(
        id=name,
        types=("adaptive", "enabled", "disabled"),
        quiet="disabled",
        default_on=False,
        efforts=("low", "medium", "high", "max"),
        sampling="unless_thinking",
        forced="unless_budget",
        display="summarized",
    )


def _always(name: str, *, bound: bool = True, always: bool = False, updates: bool = True) -> Claude:
    return Claude(
        id=name,
        forced="never" if bound else "ok",
        bound=bound,
        bound_always=always,
        updates=updates,
        system_turns=True,
    )


_SWITCHED = ("adaptive", "disabled")

MODELS: dict[str, Claude] = {
    model.id: model
    for model in (
        _budget("claude-3-7-sonnet-20250219"),
        _budget("claude-opus-4-0", max_output=32_000),
        _budget("claude-opus-4-20250514", max_output=32_000),
        _budget("claude-sonnet-4-0"),
        _budget("claude-sonnet-4-20250514"),
        _budget("claude-opus-4-1", max_output=32_000),
        _budget("claude-sonnet-4-5"),
        _budget("claude-sonnet-4-5-20250929"),
        _budget("claude-haiku-4-5"),
        _budget("claude-haiku-4-5-20251001"),
        _budget("claude-opus-4-5", efforts=UP_TO_HIGH),
        _four_six("claude-opus-4-6"),
        _four_six("claude-sonnet-4-6"),
        Claude(id="claude-opus-4-7", types=_SWITCHED, quiet="disabled", default_on=False),
        Claude(id="claude-opus-4-8", types=_SWITCHED, quiet="disabled", default_on=False),
        Claude(
            id="claude-opus-5",
            types=_SWITCHED,
            quiet="disabled",
            quiet_efforts=UP_TO_HIGH,
            system_turns=True,
        ),
        Claude(id="claude-sonnet-5", types=_SWITCHED, quiet="disabled", system_turns=True),
        Claude(
            id="claude-haiku-5-5",
            types=_SWITCHED,
            quiet="disabled",
            quiet_efforts=UP_TO_HIGH,
            bound=True,
            system_turns=True,
        ),
        Claude(
            id="claude-sonnet-5-5",
            types=("adaptive", "between_tools"),
            quiet="between_tools",
            quiet_efforts=UP_TO_HIGH,
            forced="never",
            updates=True,
            bound=True,
            system_turns=True,
        ),
        _always("claude-opus-5-5"),
        _always("claude-fable-5", bound=False, updates=False),
        _always("claude-fable-5-1"),
        _always("claude-fable-5-2", always=True),
        _always("claude-mythos-preview", bound=False, updates=False),
        _always("claude-mythos-5", bound=False, updates=False),
        # mythos-5-1 refuses forced choices as 5-2 does; only 5-2 is listed as prefix-bound.
        msgspec.structs.replace(_always("claude-mythos-5-1", updates=False), bound=False),
        _always("claude-mythos-5-2", always=True, updates=False),
    )
}


def listing(model: Claude) -> dict[str, object]:
    """The model as `GET /v1/models` describes it."""
    types = ("adaptive", "enabled", "disabled", "between_tools")
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.id.replace("-", " ").title(),
        "created_at": "2026-10-01T00:00:00Z",
        "max_input_tokens": model.context,
        "max_tokens": model.max_output,
        "capabilities": {
            "thinking": {
                "supported": True,
                "types": {word: {"supported": word in model.types} for word in types},
            },
            "effort": {
                "supported": bool(model.efforts),
                **{word: {"supported": word in model.efforts} for word in ALL_EFFORTS},
            },
        },
    }
