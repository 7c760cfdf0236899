"""What a person allows and where a run stops by itself: values that settings and agent share."""

from typing import Literal

import msgspec

Action = Literal["allow", "ask", "deny"]
Scope = Literal["once", "session", "always"]
SearchEngine = Literal["searxng", "brave", "tavily", "vendor", "none"]
"""`vendor`: the model's own vendor searches where it can, without asking before each search."""


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """`tool` is a name or a pattern of names; `pattern` is matched against the call's subject:
    the command, the path, the URL, else its arguments. `*` matches anything, also `/`."""

    tool: str
    action: Action
    pattern: str = "*"


class RunLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run stops by itself; `null` is no limit.

    `steps` counts model calls of the main loop, `seconds` the time since this attempt at the run
    began, `tokens` and `cost` (US dollars) this run's sums. `thinking_seconds` and
    `thinking_tokens` (estimated from what is shown) end one call's thinking: the model then
    answers with what there is.
    """

    steps: int | None = 200
    seconds: float | None = None
    tokens: int | None = None
    cost: float | None = None
    thinking_seconds: float | None = None
    thinking_tokens: int | None = None
