"""Tokens and cost of a run: one place feeds the meter, the limits and the event."""

from typing import TypeVar

import msgspec

from silu.types.facts import ContextUse, TokenCount, TokenUpdate
from silu.types.usage import Usage


class Meter:
    """Sums this run's calls, interrupted ones too, and keeps how full the context is.

    `spent` is what earlier attempts at the run used up. `ratio` corrects estimates by what the
    vendor counted; `seen` is how many messages the context's number covers.
    """

    def __init__(self, spent: TokenCount | None = None) -> None:
        self.spent = msgspec.structs.replace(spent or TokenCount.nothing())
        self.context = ContextUse(used_tokens=None, max_tokens=None, percent=None, source="unknown")
        self.ratio = 1.0
        self.seen = 0

    def add(self, usage: Usage, cost: float | None) -> None:
        """Count one finished or interrupted model call; what it did not tell adds nothing."""
        old = self.spent
        self.spent = TokenCount(
            input_tokens=_sum(old.input_tokens, usage.input_tokens),
            output_tokens=_sum(old.output_tokens, usage.output_tokens),
            total_tokens=_sum(old.total_tokens, _sum(usage.input_tokens, usage.output_tokens)),
            reasoning_tokens=_sum(old.reasoning_tokens, usage.reasoning_tokens),
            cached_tokens=_sum(old.cached_tokens, usage.cache_read_tokens),
            api_calls=old.api_calls + 1,
            cost=_sum(old.cost, cost),
        )

    def fill(self, usage: Usage, *, window: int | None, sent_bytes: bytes) -> None:
        """Note how full the context is after a call of the main loop.

        The vendor's count where it told one, else an estimate of the bytes that were sent.
        """
        told = usage.input_tokens
        used = told if told is not None else estimate_tokens(sent_bytes)
        self.context = ContextUse(
            used_tokens=used,
            max_tokens=window,
            percent=round(100 * used / window, 1) if window else None,
            source="vendor" if told is not None else "estimate",
        )

    def correct(self, usage: Usage, sent_bytes: bytes) -> None:
        """Learn from a vendor's count how far estimates are off."""
        if usage.input_tokens:
            self._correct(usage.input_tokens, estimate_tokens(sent_bytes))

    def take_over(self, context: ContextUse, *, seen: int, estimate: int) -> None:
        """Go on from what an earlier run's last call measured: it covered `seen` messages, which
        are estimated at `estimate` tokens with all that stands ahead of them."""
        if context.source == "vendor" and context.used_tokens:
            self.context = context
            self.seen = seen
            self._correct(context.used_tokens, estimate)

    def _correct(self, told: int, estimate: int) -> None:
        self.ratio = min(3.0, max(0.33, told / max(1, estimate)))

    def guess(self, used: int, *, window: int | None) -> None:
        """The context after a compaction, until a call measures it."""
        self.context = ContextUse(
            used_tokens=used,
            max_tokens=window,
            percent=round(100 * used / window, 1) if window else None,
            source="estimate",
        )

    def update(self) -> TokenUpdate:
        return TokenUpdate(current=self.spent, context=self.context)


def estimate_tokens(body: bytes) -> int:
    """About how many tokens a request takes: four bytes of ASCII each, or two thirds of a token
    for a character of three bytes (Chinese, Japanese, Korean). Only where nobody tells."""
    wide = sum(body.count(lead) for lead in _LEADS)
    return max(1, (len(body) - 3 * wide) // 4 + 2 * wide // 3)


_LEADS = tuple(bytes([lead]) for lead in range(0xE3, 0xEE))
"""First bytes of three-byte characters from U+3000 to U+DFFF."""


_Number = TypeVar("_Number", int, float)


def _sum(a: _Number | None, b: _Number | None) -> _Number | None:
    if a is None or b is None:
        return b if a is None else a
    return a + b
