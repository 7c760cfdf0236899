"""What was used up, and what a context is filled with: bodies of the HTTP interface."""

from typing import Literal

import msgspec

Grouping = Literal["day", "model", "session", "run"]


class Spent(msgspec.Struct, kw_only=True):
    """A sum over model calls. `key` is the day (`2026-12-01`), the model, the session or the run.

    Input includes what was read from and written to the vendor's cache, output includes thinking.
    A number is `null` where no call told it; `untold` counts calls without any count of tokens
    (most were stopped), `unpriced` those whose cost (US dollars) is not known.
    """

    key: str
    calls: int
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    untold: int
    cost: float | None
    unpriced: int


class UsageReport(msgspec.Struct, kw_only=True):
    """Days newest first, all else the largest cost or number of tokens first."""

    by: Grouping
    rows: list[Spent]
    total: Spent


class ContextReport(msgspec.Struct, kw_only=True):
    """What the last request of a session held, in tokens. `used_tokens` is the vendor's count
    where it told one (`source`); the parts are that number shared out by what was sent, `null`
    before the first call. `thinking` is what went back of earlier thoughts, `todo` the task list
    in results and notices, `history` all the rest of the conversation."""

    used_tokens: int | None
    max_tokens: int | None
    percent: float | None
    source: Literal["vendor", "estimate", "unknown"]
    system: int | None = None
    tools: int | None = None
    history: int | None = None
    todo: int | None = None
    thinking: int | None = None
