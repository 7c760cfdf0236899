"""Hooks: commands of the person's that run before and after tools."""

from typing import Literal

import msgspec

HOOK_SECONDS = 10.0


class Hook(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A command (a list of words, started without a shell) for the tools that match `tools`, a
    pattern of names. It gets a JSON object on its input.

    `before` may refuse a call or change its arguments, `after` sees its result. `seconds` is its
    time limit. When a `before` hook itself fails the call is refused, unless `on_failure` is
    `allow`. `pass_env` names variables of silu's own that it may see.
    """

    event: Literal["before", "after"]
    command: tuple[str, ...]
    tools: str = "*"
    seconds: float = HOOK_SECONDS
    on_failure: Literal["deny", "allow"] = "deny"
    pass_env: tuple[str, ...] = ()
