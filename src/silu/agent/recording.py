"""The inspector's record of a model call: the bytes that were sent, the timing, the outcome."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from silu.agent.ports import CallRecord
from silu.types.assembly import wall_ms
from silu.types.calls import CallEnd, CallStart, Dropped
from silu.types.events import Finish
from silu.types.usage import Usage

Purpose = Literal["turn", "summary"]


@dataclass(slots=True, kw_only=True)
class Outcome:
    """How a call ended: `first` are milliseconds to the first of a kind of content."""

    usage: Usage
    finish: Finish | None
    error: str | None
    cost: float | None
    end: CallEnd | None = None
    first: Mapping[str, int] = field(default_factory=dict[str, int])
    dropped: Iterable[Dropped] = ()


def call_record(
    start: CallStart, outcome: Outcome, *, attempt: int, sent_at: int, purpose: Purpose = "turn"
) -> CallRecord:
    """The record of a call that was sent at `sent_at` (milliseconds) and has just ended."""
    end, finish, first = outcome.end, outcome.finish, outcome.first
    return CallRecord(
        attempt=attempt,
        purpose=purpose,
        model=start.model,
        resolution=start.resolution,
        url=start.request.url,
        headers=start.request.headers,
        body=start.request.body.decode("utf-8", errors="replace"),
        dropped=[msgspec.to_builtins(item) for item in outcome.dropped],
        usage=outcome.usage,
        finish_reason=finish.reason if finish else None,
        raw_finish=finish.raw if finish else None,
        error=outcome.error,
        started_at=sent_at,
        first_byte_ms=end.first_byte_ms if end else min(first.values(), default=None),
        first_thinking_ms=first.get("thinking"),
        first_text_ms=first.get("content"),
        duration_ms=wall_ms() - sent_at,
        cost=outcome.cost,
    )
